#!/usr/bin/env python3
"""aiokafka's MessageAccumulator behind the protocol wheelproof.driver/1.

The port calls it as aiokafka's Sender does, without a network. The event loop and the accumulator
are told the time; after each operation the loop runs until nothing can go on.
"""

import asyncio
import logging
from collections.abc import Coroutine, Mapping
from importlib import import_module
from importlib.metadata import version
from types import SimpleNamespace
from typing import Any, cast

from serving import serve
from stepped_loop import Loop

ERRORS = import_module("aiokafka.errors")
MODULE = import_module("aiokafka.producer.message_accumulator")
ACCUMULATOR = MODULE.MessageAccumulator
TOPIC_PARTITION = import_module("aiokafka.structs").TopicPartition
LATER = 2**30
REFUSED = {
    "KafkaTimeoutError": "exhausted",
    "ProducerClosed": "closed",
    "CancelledError": "interrupted",
}


def tell_the_time(loop: Loop) -> None:
    """Let the accumulator read the clock of the loop."""
    vars(MODULE)["time"] = SimpleNamespace(monotonic=loop.time)


def _ignore(*_: object) -> None:
    pass


class Cluster:
    """The cluster metadata that the accumulator asks for: one node leads all partitions."""

    def leader_for_partition(self, _: object) -> int:
        """Return the node that leads the partition."""
        return 0


class Accumulator:
    """A MessageAccumulator, and the batches in flight that its Sender would keep."""

    def __init__(self, config: dict[str, int]) -> None:
        self._topics = cast(dict[str, dict[str, str]], config).get("topics") or {}
        self.loop = Loop()
        # A callback that raises is a part of the cases.
        self.loop.set_exception_handler(_ignore)
        self.loop.now_s = config["start_ms"] / 1000
        tell_the_time(self.loop)
        self._backoff_s = config["retry_backoff_ms"] / 1000
        self._accumulator = ACCUMULATOR(
            Cluster(),
            config["batch_size"],
            0,
            LATER,
            loop=self.loop,
            linger_ms=config["linger_ms"],
        )
        self._muted: set[object] = set()
        self._in_flight: dict[str, Any] = {}
        self._names: dict[int, str] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._drained = 0
        self.happened: dict[str, Any] = {}
        self.forget()

    def forget(self) -> Mapping[str, object]:
        """Return what has happened since the last call."""
        told = self.happened
        self.happened = {"called_back": [], "appended": [], "refused": {}, "flushed": {}}
        return told

    def _at(self, partition: int) -> Any:
        return TOPIC_PARTITION(self._topics.get(str(partition), "topic"), partition)

    def _begin(self, name: str, what: Coroutine[Any, Any, None]) -> None:
        self._tasks[name] = self.loop.create_task(what)

    def append(
        self,
        record: str,
        partition: int,
        size: int,
        max_time_to_block_ms: int,
        callback: str | None = None,
    ) -> None:
        """Append a record in a task of its own; its callback records the outcome."""

        def call_back(stored: asyncio.Future[Any]) -> None:
            error = stored.exception()
            offset = None if error else stored.result().offset
            told = {"record": record, "offset": offset, "error": error and "Failed"}
            self.happened["called_back"].append(told)
            if callback == "sends_again":
                self.append(record + "'", partition, size, 0)
            if callback == "raises":
                raise ValueError(record)

        async def add() -> None:
            where, timeout_s = self._at(partition), max_time_to_block_ms / 1000
            adding = self._accumulator.add_message(where, None, b"x" * size, timeout_s, 0)
            try:
                future = await adding
            except (ERRORS.KafkaError, asyncio.CancelledError) as error:
                self.happened["refused"][record] = REFUSED[type(error).__name__]
                return
            self._names[id(future)] = record
            batch = self._accumulator._batches[where][-1]
            # A batch is new if its first record is this one, and full once an append found no room.
            told = {
                "record": record,
                "batch_is_full": batch._builder.closed(),
                "new_batch_created": batch._msg_futures[0][0] is future,
            }
            self.happened["appended"].append(told)
            future.add_done_callback(call_back)

        self._begin(record, add())

    def drain(self, partitions: list[int], **_: object) -> dict[str, object]:
        """Drain the partitions that a node leads, and mute them, as the Sender does."""
        asked = {self._at(one) for one in partitions}
        others = set(self._accumulator._batches) - asked
        drained, _ = self._accumulator.drain_by_nodes((), self._muted | others)
        taken: list[object] = []
        for where, batch in drained[0].items():
            self._drained += 1
            name = f"b{self._drained}"
            self._in_flight[name] = batch
            self._muted.add(where)
            batch.get_data_buffer()
            records = [self._names[id(future)] for future, _ in batch._msg_futures]
            taken.append({"batch": name, "partition": where.partition, "records": records})
        return {"batches": taken}

    def respond(self, batch: str, offset: int | None = None) -> None:
        """End a batch as SendProduceReqHandler does."""
        ended = self._in_flight.pop(batch)
        if offset is None:
            ended.failure(ERRORS.UnknownError())
        else:
            ended.done(offset, 0)
        self._muted.discard(ended.tp)

    def reenqueue(self, batch: str) -> None:
        """Put a batch back once the backoff is over, as SendProduceReqHandler.do does."""
        again = self._in_flight.pop(batch)

        async def back_off() -> None:
            await asyncio.sleep(self._backoff_s)
            self._accumulator.reenqueue(again)
            self._muted.discard(again.tp)

        self._begin(batch, back_off())

    def flush(self, flush: str) -> None:
        """Flush in a task of its own."""

        async def wait() -> None:
            interrupted = False
            try:
                await self._accumulator.flush()
            except asyncio.CancelledError:
                interrupted = True
            self.happened["flushed"][flush] = interrupted

        self._begin(flush, wait())

    def interrupt(self, name: str) -> None:
        """Cancel the task of an append or of a flush."""
        self._tasks[name].cancel()

    def advance(self, to_ms: int) -> None:
        """Set the clock."""
        self.loop.now_s = to_ms / 1000


def perform(port: Accumulator, operation: str, arguments: dict[str, int]) -> dict[str, object]:
    """Perform an operation and return the fields of its answer."""
    told: dict[str, object] = getattr(port, operation)(**arguments) or {}
    port.loop.settle()
    return {**told, **port.forget()}


def main() -> None:
    """Answer requests until `bye`."""
    logging.disable()
    made: list[Accumulator] = []

    def make(config: dict[str, int]) -> Accumulator:
        while made:
            made.pop().loop.end()
        made.append(Accumulator(config))
        return made[0]

    who = {"impl": "aiokafka MessageAccumulator", "version": version("aiokafka")}
    able = {
        "components": ["accumulator"],
        "capabilities": ["virtual_time", "interruption", "flush", "reenqueue"],
    }
    serve({**who, **able, "profiles": {"accumulator": "wheelproof"}}, make, perform)
    while made:
        made.pop().loop.end()


if __name__ == "__main__":
    main()
