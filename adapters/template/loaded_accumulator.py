#!/usr/bin/env python3
"""A program that `wheelproof load` gives its work: put your accumulator into MyAccumulator.

    wheelproof load --component accumulator --driver "python3 loaded_accumulator.py" --output a
    wheelproof check a

MyAccumulator has one lock, and memory for some batches of one size, until you replace it.
"""

import itertools
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Any, ClassVar

from loaded import Recorder, RefusedError, serve

OVERHEAD_BYTES = 100
"""The most that a record or a batch takes beside the value."""


class Batch:
    """Records of one partition that are sent together."""

    _names = itertools.count()

    def __init__(self, partition: str, room: int) -> None:
        self.name, self.partition, self.room = f"b{next(self._names)}", partition, room
        self.made = time.monotonic()
        self.records: list[tuple[str, Callable[[int | None, str | None], None]]] = []
        self.done = False


class MyAccumulator:
    """Your accumulator. The sender's calls come from one thread."""

    def __init__(self, config: dict[str, Any]) -> None:
        self._changed = threading.Condition()
        self._batch_size = config["batch_size"]
        self._timeout_s = config["delivery_timeout_ms"] / 1_000
        self._batches_left = config["total_memory"] // self._batch_size
        self._queues: dict[str, deque[Batch]] = {}
        self._muted: set[str] = set()
        self._incomplete: list[Batch] = []
        self._closed = False

    def append(
        self,
        partition: str,
        record: str,
        size: int,
        max_time_to_block_ms: int,
        called_back: Callable[[int | None, str | None], None],
    ) -> None:
        """Append a record; raise RefusedError if there is no memory in time."""
        deadline = time.monotonic() + max_time_to_block_ms / 1_000
        with self._changed:
            while True:
                if self._closed:
                    raise RefusedError("Closed")
                queue = self._queues.setdefault(partition, deque())
                if queue and queue[-1].room >= size + OVERHEAD_BYTES:
                    break
                if self._batches_left:
                    self._batches_left -= 1
                    queue.append(Batch(partition, self._batch_size))
                    self._incomplete.append(queue[-1])
                    break
                left_s = deadline - time.monotonic()
                if left_s <= 0:
                    raise RefusedError("Exhausted")
                self._changed.wait(left_s)
            queue[-1].room -= size + OVERHEAD_BYTES
            queue[-1].records.append((record, called_back))

    def flush(self) -> None:
        """Wait until all that has been appended before has had its callback."""
        with self._changed:
            asked = list(self._incomplete)
            self._changed.wait_for(lambda: all(batch.done for batch in asked))

    def close(self) -> None:
        """Refuse all that wait, and all that come."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def has_incomplete(self) -> bool:
        """Tell whether a batch waits for its end."""
        with self._changed:
            return bool(self._incomplete)

    def drain(self) -> list[Batch]:
        """Take the first batch of each partition that is not muted."""
        with self._changed:
            ready = [queue for name, queue in self._queues.items() if name not in self._muted]
            drained = [queue.popleft() for queue in ready if queue]
            for batch in drained:
                # It may go back to an empty queue, but what was sent takes no more records.
                batch.room = 0
            return drained

    def mute(self, partition: str) -> None:
        """Drain nothing from a partition."""
        with self._changed:
            self._muted.add(partition)

    def unmute(self, partition: str) -> None:
        """Drain from it again."""
        with self._changed:
            self._muted.discard(partition)

    def reenqueue(self, batch: Batch) -> None:
        """Put a batch back to the head of its queue."""
        with self._changed:
            self._queues[batch.partition].appendleft(batch)

    def complete(self, batch: Batch, offset: int | None, error: str | None) -> None:
        """Call the records of a batch back, if nobody has."""
        if batch.done:
            return
        for place, (_, called_back) in enumerate(batch.records):
            called_back(None if offset is None else offset + place, error)
        with self._changed:
            batch.done = True
            self._incomplete.remove(batch)
            self._batches_left += 1
            self._changed.notify_all()

    def expire(self, in_flight: list[Batch]) -> None:
        """Fail the batches that have waited for too long."""
        now = time.monotonic()
        with self._changed:
            late = [one for one in self._incomplete if now - one.made >= self._timeout_s]
            for batch in late:
                if batch not in in_flight:
                    self._queues[batch.partition].remove(batch)
        for batch in late:
            self.complete(batch, None, "Expired")

    def abort(self) -> None:
        """Give up all that is incomplete."""
        with self._changed:
            left = list(self._incomplete)
            for queue in self._queues.values():
                queue.clear()
        for batch in left:
            self.complete(batch, None, "Aborted")


class LoadedAccumulator:
    """MyAccumulator and its sender, as the load calls them."""

    HELLO: ClassVar[dict[str, Any]] = {
        "impl": "my-accumulator",
        "version": "1",
        "components": ["accumulator"],
        "capabilities": ["append", "flush", "close_all", "drain", "respond_to_one", "expire"],
        "profiles": {"accumulator": "kafka"},
    }
    CLAIMS: ClassVar[dict[str, Any]] = {}

    def __init__(
        self, config: dict[str, Any], recorder: Recorder, serving: list[dict[str, Any]]
    ) -> None:
        self._accumulator = MyAccumulator(config)
        self._recorder = recorder
        self._in_flight: list[Batch] = []
        self._offsets: dict[str, int] = {}
        self._finishing = self._aborting = False
        self._sender = threading.Thread(target=self._serve, args=(serving,), daemon=True)
        self._sender.start()

    def call(self, caller: str, step: dict[str, Any]) -> None:
        """Make one call between its two lines."""
        name, args = step["op"], step["args"]
        if name == "close_all":
            self._do(caller, "close", {}, self._accumulator.close)
            self._aborting = self._aborting or args["by_force"]
        elif name == "flush":
            self._do(caller, name, {}, self._accumulator.flush)
        else:
            record, where, size = args["record"], args["partition"], args["size"]

            def called_back(offset: int | None, error: str | None) -> None:
                told = {"record": record, "offset": offset, "error": error}
                self._recorder.op("sender", "invoke", "callback", told)

            block_ms = args["max_time_to_block_ms"]
            append = self._accumulator.append
            self._do(caller, name, args, append, where, record, size, block_ms, called_back)

    def _do(
        self, process: str, name: str, value: dict[str, Any], call: Callable[..., None], *args: Any
    ) -> None:
        def perform() -> dict[str, Any]:
            call(*args)
            return {}

        self._recorder.call(process, name, value, perform)

    def _serve(self, serving: list[dict[str, Any]]) -> None:
        """Do what the sender has to do, over and over."""
        while not self._is_over():
            for step in serving:
                if not self._is_over():
                    self._send(step["op"], step["args"])
        if self._aborting:
            self._do("sender", "abort", {}, self._accumulator.abort)
            for batch in self._in_flight:
                # The answers to batches that were given up come all the same.
                self._store(batch)

    def _is_over(self) -> bool:
        open_ = self._in_flight or self._accumulator.has_incomplete()
        return self._aborting or (self._finishing and not open_)

    def _send(self, name: str, args: dict[str, Any]) -> None:
        if name == "pause":
            time.sleep(args["us"] / 1e6)
        elif name == "drain":
            self._recorder.call("sender", "drain", {}, self._drain)
            for batch in self._drained:
                self._do("sender", "mute", self._of(batch), self._accumulator.mute, batch.partition)
            self._in_flight += self._drained
        elif name == "expire":
            self._do("sender", "expire", {}, self._accumulator.expire, self._in_flight)
        elif self._in_flight:
            batch = self._in_flight.pop(args["batch"] % len(self._in_flight))
            self._answer(batch, args["answer"])
            self._do("sender", "unmute", self._of(batch), self._accumulator.unmute, batch.partition)

    def _drain(self) -> dict[str, Any]:
        self._drained = self._accumulator.drain()
        batches = [
            {"batch": one.name, **self._of(one), "records": [name for name, _ in one.records]}
            for one in self._drained
        ]
        return {"batches": batches}

    def _of(self, batch: Batch) -> dict[str, Any]:
        return {"partition": batch.partition}

    def _answer(self, batch: Batch, answer: str) -> None:
        if answer == "again" and not batch.done:
            self._do(
                "sender", "reenqueue", {"batch": batch.name}, self._accumulator.reenqueue, batch
            )
        elif answer == "failed":
            self._respond(batch, None, "Failed")
        else:
            self._store(batch)

    def _store(self, batch: Batch) -> None:
        offset = self._offsets.get(batch.partition, 0)
        self._offsets[batch.partition] = offset + len(batch.records)
        self._respond(batch, offset, None)

    def _respond(self, batch: Batch, offset: int | None, error: str | None) -> None:
        complete = self._accumulator.complete
        self._do("sender", "respond", {"batch": batch.name}, complete, batch, offset, error)

    def rests(self) -> bool:
        """Let the sender end all batches; tell whether it has."""
        self._finishing = True
        return not self._sender.is_alive()

    def end(self) -> None:
        """Nothing is left: the sender has ended."""


if __name__ == "__main__":
    serve(LoadedAccumulator)
