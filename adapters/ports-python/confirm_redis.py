#!/usr/bin/env python3
"""Repeats the finding on redis-py in docs/findings/ports.md: a line of JSON."""

import json
import sys

from async_pool import Pool


def given_up_as_it_comes() -> dict[str, object]:
    """Two tasks wait for the only connection; the first gives up in the moment of its release."""
    pool = Pool({"start_ms": 0, "total_memory": 1, "poolable_size": 1})
    for name in ("owner", "first", "second"):
        pool.allocate(name, 60_000)
        pool.loop.settle()

    async def give_back() -> None:
        await pool.pool.release(pool.lent["owner"])
        pool.interrupt("first")

    pool.loop.run_until_complete(give_back())
    pool.loop.settle()
    told = {name: pool.ended.get(name, "waits") for name in ("first", "second")}
    free = len(pool.pool._available_connections)
    pool.loop.end()
    return {**told, "free": free}


if __name__ == "__main__":
    # From 3.13 on, asyncio's own Condition hands on the notification of a waiter that is cancelled.
    print(json.dumps({"before_3.13": sys.version_info < (3, 13), **given_up_as_it_comes()}))
