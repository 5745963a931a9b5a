#!/usr/bin/env python3
"""The BlockingConnectionPool of redis-py's asyncio client behind the protocol wheelproof.driver/1.

A buffer of the case is a connection, which never connects to anything. Waits end by the clock of a
loop that is told the time.
"""

import asyncio
import logging
from importlib import import_module
from importlib.metadata import version
from typing import Any

from serving import serve
from stepped_loop import Loop

CONNECTION = import_module("redis.asyncio.connection")
ERRORS = import_module("redis.exceptions")


class Idle:
    """A connection to nothing, as the pool uses one."""

    def __init__(self, **_: object) -> None:
        """Take the settings of a real one."""

    async def connect(self) -> None:
        """Connect."""

    async def disconnect(self) -> None:
        """Disconnect."""

    async def re_auth(self) -> None:
        """Authenticate again."""

    async def can_read(self) -> bool:
        """Return whether unread data are there."""
        return False

    def should_reconnect(self) -> bool:
        """Return whether a release has to reconnect."""
        return False


class Pool:
    """A BlockingConnectionPool; each allocation runs in a task of its own."""

    def __init__(self, config: dict[str, int]) -> None:
        self.loop = Loop()
        self.loop.now_s = config["start_ms"] / 1000
        size = config["total_memory"] // config["poolable_size"]
        # A pool of no connections is refused.
        make = CONNECTION.BlockingConnectionPool
        self.pool = make(max_connections=size, connection_class=Idle)
        self.ended: dict[str, str] = {}
        self.lent: dict[str, Any] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}

    def allocate(self, buffer: str, max_time_to_block_ms: int, **_: object) -> None:
        """Allocate in a new task; if the call blocks, the task stays in it."""

        async def run() -> None:
            # The pool has one time-out for all; it is read when a call begins.
            self.pool.timeout = max_time_to_block_ms / 1000
            try:
                self.lent[buffer] = await self.pool.get_connection()
                self.ended[buffer] = "buffer"
            except ERRORS.ConnectionError:
                self.ended[buffer] = "exhausted"
            except asyncio.CancelledError:
                self.ended[buffer] = "interrupted"

        self._tasks[buffer] = self.loop.create_task(run())

    def deallocate(self, buffer: str) -> None:
        """Return a connection to the pool; raise KeyError if it is not lent."""
        self.loop.run_until_complete(self.pool.release(self.lent[buffer]))

    def interrupt(self, name: str) -> None:
        """Cancel the task of an allocation."""
        self._tasks[name].cancel()

    def advance(self, to_ms: int) -> None:
        """Set the clock."""
        self.loop.now_s = to_ms / 1000


def perform(port: Pool, operation: str, arguments: dict[str, Any]) -> dict[str, object]:
    """Perform an operation and return the fields of its answer."""
    getattr(port, operation)(**arguments)
    port.loop.settle()
    ended, port.ended = port.ended, {}
    return {"ended": ended}


def main() -> None:
    """Answer requests until `bye`."""
    logging.disable()
    made: list[Pool] = []

    def make(config: dict[str, int]) -> Pool:
        while made:
            made.pop().loop.end()
        made.append(Pool(config))
        return made[0]

    who = {"impl": "redis-py asyncio BlockingConnectionPool", "version": version("redis")}
    able = {"components": ["buffer_pool"], "capabilities": ["virtual_time", "interruption"]}
    serve({**who, **able, "profiles": {"buffer_pool": "longest-waiting-first"}}, make, perform)
    while made:
        made.pop().loop.end()


if __name__ == "__main__":
    main()
