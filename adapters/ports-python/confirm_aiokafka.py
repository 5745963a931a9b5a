#!/usr/bin/env python3
"""Repeats the findings on aiokafka in docs/findings/ports.md: a line of JSON for each."""

import asyncio
import json
from collections.abc import Coroutine
from typing import Any

from async_accumulator import (
    ACCUMULATOR,
    ERRORS,
    LATER,
    TOPIC_PARTITION,
    Cluster,
    tell_the_time,
)
from stepped_loop import Loop

PARTITION = TOPIC_PARTITION("topic", 0)


class Bench:
    """An accumulator on a loop whose clock is set here."""

    def __init__(self) -> None:
        self.loop = Loop()
        tell_the_time(self.loop)
        self.accumulator = ACCUMULATOR(Cluster(), 16_384, 0, LATER, loop=self.loop)

    def run(self, what: Coroutine[Any, Any, object]) -> Any:
        """Run what needs no wait, and return its outcome."""
        return self.loop.run_until_complete(what)

    def drain(self) -> Any:
        """Take the batch of the only partition."""
        return self.accumulator.drain_by_nodes(())[0][0][PARTITION]

    def batch(self) -> Any:
        """Return a batch of one record, as `create_batch` of a producer makes it."""
        builder = self.accumulator.create_builder()
        builder.append(timestamp=0, key=None, value=b"x")
        return builder

    def add_batch(self, timeout_s: float) -> asyncio.Task[object]:
        """Begin to add a batch."""
        adding = self.accumulator.add_batch(self.batch(), PARTITION, timeout_s)
        task = self.loop.create_task(adding)
        self.loop.settle()
        return task


def timestamps() -> dict[str, object]:
    """Send three records of one batch, each with a timestamp of its own."""
    bench = Bench()
    sent = [1_000, 2_000, 3_000]
    adds = [bench.accumulator.add_message(PARTITION, None, b"x", 1, one) for one in sent]
    futures = [bench.run(add) for add in adds]
    # -1 is what a broker answers for a topic whose records keep the producer's timestamps.
    bench.drain().done(7, -1)
    told = [future.result().timestamp for future in futures]
    return {"sent": sent, "told": told}


def time_out_of_add_batch() -> dict[str, object]:
    """Wait behind a batch of somebody else, again and again, 4 s each time."""
    bench, given_s, step_s = Bench(), 15, 4
    bench.add_batch(given_s)
    late = bench.add_batch(given_s)
    while not late.done():
        bench.loop.now_s += step_s
        bench.drain()
        # Another thread of control of the same producer appends first.
        bench.run(bench.accumulator.add_message(PARTITION, None, b"x", 1, 0))
        bench.loop.settle()
    assert isinstance(late.exception(), ERRORS.KafkaTimeoutError)
    return {"given_s": given_s, "gave_up_after_s": round(bench.loop.now_s)}


if __name__ == "__main__":
    for confirmed in (timestamps, time_out_of_add_batch):
        print(json.dumps({"finding": confirmed.__name__, **confirmed()}), flush=True)
