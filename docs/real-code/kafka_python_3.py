"""The record accumulator of kafka-python 3.0.12, unchanged.

What is found is told in docs/findings/ports.md, 49, 50 and 55. The package is installed beside the
others: PYTHONPATH=ITS_FOLDER wheelproof explore --instrument none kafka_python_3:flush_and_split
"""

import time
from importlib import import_module
from typing import Any, NamedTuple

from wheelproof_explore.program import Program, Scenario, Settings, TimeMode

ACCUMULATORS = import_module("kafka.producer.record_accumulator")
PARTITION = import_module("kafka.structs").TopicPartition
_GIVEN_S = 5
_SHORTER_S = 4


class _InOrder(list[Any]):
    """Batches in the order of their appends: a set goes by addresses, and no schedule repeats."""

    add = list.append


class _Filled(NamedTuple):
    """An accumulator with records of some partitions, each with the future of its record."""

    accumulator: Any
    partitions: list[Any]
    futures: list[Any]

    def partitions_for_broker(self, node: int) -> list[object]:
        """Return the partitions of the only node: this is also the cluster."""
        del node
        return self.partitions

    def drained(self) -> list[Any]:
        """Return what the sender takes: the first batch of each partition."""
        drained: list[Any] = self.accumulator.drain(self, [0], 1_000_000)[0]
        return drained

    def send(self) -> None:
        """Let the broker store all that is there, batch after batch, as the sender does."""
        while batches := self.drained():
            for batch in batches:
                batch.complete(0, -1)
                self.accumulator.deallocate(batch)

    def split(self, batch: Any) -> None:
        """Do what the sender does when a broker finds a batch too large."""
        self.accumulator.split_and_reenqueue(batch)
        self.accumulator.deallocate(batch)

    def flush(self) -> None:
        """Flush as the producer does: whatever was sent before has an outcome then."""
        self.accumulator.begin_flush()
        self.accumulator.await_flush_completion()
        assert all(future.is_done for future in self.futures), "flush() left a record waiting"


def _filled(*numbers: int) -> _Filled:
    """Return an accumulator with a record for each number, which is its partition."""
    accumulator = ACCUMULATORS.RecordAccumulator(linger_ms=0, request_timeout_ms=0)
    accumulator._incomplete._incomplete = _InOrder()
    places = [PARTITION("topic", number) for number in numbers]
    futures = [accumulator.append(place, 0, None, b"x", [])[0] for place in places]
    return _Filled(accumulator, sorted({*places}), futures)


def flush() -> Scenario:
    """One thread flushes while the sender stores a batch."""
    filled = _filled(0, 0)
    return Scenario(threads={"user": filled.flush, "sender": filled.send})


def flush_and_split() -> Scenario:
    """The same, but the broker finds the batch too large, and the sender splits it."""
    filled = _filled(0, 0)
    (batch,) = filled.drained()
    return Scenario(
        threads={"user": filled.flush, "sender": [lambda: filled.split(batch), filled.send]}
    )


def get_and_split() -> Scenario:
    """One thread waits for its record while the sender splits the batch."""
    filled = _filled(0, 0)
    (batch,) = filled.drained()

    def get() -> None:
        assert filled.futures[1].get().partition == 0

    return Scenario(threads={"user": get, "sender": [lambda: filled.split(batch), filled.send]})


def callback() -> Scenario:
    """A callback is added while the record gets its outcome: it is called, once."""
    filled = _filled(0)
    called: list[int] = []

    def add() -> None:
        filled.futures[0].add_callback(lambda stored: called.append(stored.offset))

    def check() -> None:
        assert called == [0], f"called {len(called)} times"

    return Scenario(threads={"user": add, "sender": filled.send}, check=check)


def flush_in_time() -> Scenario:
    """Two batches, of which one is stored after 4 s, and a flush that is given 5 s."""
    filled = _filled(0, 1)

    def flush() -> None:
        begin = time.monotonic()
        filled.accumulator.begin_flush()
        try:
            filled.accumulator.await_flush_completion(timeout=_GIVEN_S)
        except import_module("kafka.errors").KafkaTimeoutError:
            pass
        waited = time.monotonic() - begin
        assert waited <= _GIVEN_S, f"given {_GIVEN_S} s, waited {waited:.0f} s"

    def send_one() -> None:
        time.sleep(_SHORTER_S)
        first = filled.drained()[0]
        first.complete(0, -1)
        filled.accumulator.deallocate(first)

    return Scenario(threads={"user": flush, "sender": send_one})


FLUSH_IN_TIME = Program(
    name="flush-in-time",
    summary="the same, with a clock: time passes only when nothing else can happen",
    build=flush_in_time,
    settings=Settings(time=TimeMode.LAZY),
    patch_threading=True,
)


class _WithoutLeaders:
    """A cluster of which no partition has a leader, as that of a topic that was deleted."""

    def leader_for_partition(self, partition: object) -> None:
        """Return no leader."""
        del partition


def ready_without_data() -> Scenario:
    """A partition has no leader: first it has a record, then the record is gone."""
    filled = _filled(0)

    def asks_for_leaders() -> bool:
        asks: bool = filled.accumulator.ready(_WithoutLeaders())[2]
        return asks

    def send() -> None:
        assert asks_for_leaders(), "a record waits, and no leader is asked for"
        filled.send()
        assert not asks_for_leaders(), "no record waits, and a leader is asked for"

    return Scenario(threads={"sender": send})
