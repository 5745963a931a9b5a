"""A signal ends a call of the accumulator anywhere; no record and no memory is lost (6.8)."""

from collections.abc import Callable
from functools import partial

import pytest

from support.reference.signals import each_interrupted_call
from support.reference.threads import on_another_thread
from wheelproof.clock import ManualClock
from wheelproof.producer import (
    AccumulatorConfig,
    BufferPool,
    Cluster,
    FutureRecordMetadata,
    NodeId,
    ProducerBatch,
    Record,
    RecordAccumulator,
)
from wheelproof.producer.accumulator.appends_in_progress import AppendsInProgress
from wheelproof.topic_partition import TopicPartition
from wheelproof.units import Millis

_PARTITIONS = (TopicPartition("payments", 0), TopicPartition("payments", 1))
_NODE = NodeId(3)
_CLUSTER = Cluster(leaders=dict.fromkeys(_PARTITIONS, _NODE))
_TOTAL = 1_000
_NOW = Millis(0)


_APPENDS = "_appends_in_progress"


def _under_way(appends: AppendsInProgress) -> int:
    """Return how many appends are under way, by the answers alone; below 0 if one ended twice."""
    # It does not wait: never have so few ended.
    ends = begins = 0
    while appends.await_another(-1):
        appends.end()
        ends += 1
    while not appends.await_another(-1):
        appends.begin()
        begins += 1
    appends.end()
    return ends - (begins - 1)


class _Interrupted:
    """An accumulator with a batch of two records, and one of another partition in flight."""

    def __init__(self, accumulator_class: type[RecordAccumulator] = RecordAccumulator) -> None:
        self.pool = BufferPool(_TOTAL, 200, clock=ManualClock())
        config = AccumulatorConfig(batch_size=200, retry_backoff_ms=0)
        self.accumulator = accumulator_class(self.pool, config, clock=ManualClock())
        self.told: list[int] = []
        self.futures: list[FutureRecordMetadata] = []
        self.append(1, 0)()
        [self.flying] = self.drain()
        self.append(0, 1)()
        self.append(0, 2)()

    def append(self, partition: int, number: int) -> Callable[[], None]:
        """Return a call that appends a record, whose callback writes a number down."""
        record = Record(timestamp_ms=0, value=b"value")

        def call() -> None:
            answer = self.accumulator.append(
                _PARTITIONS[partition],
                record,
                lambda _, __: self.told.append(number),
                max_time_to_block_ms=0,
            )
            self.futures += (answer.future,)

        return call

    def drain(self) -> list[ProducerBatch]:
        """Take what can be sent."""
        return self.accumulator.drain(_CLUSTER, [_NODE], 10_000, _NOW)[_NODE]

    def end(self) -> list[int]:
        """Store everything from another thread; return the numbers of the records in order.

        Then every record has its outcome, and all memory is back.
        """
        on_another_thread(self._store)
        appends: AppendsInProgress = getattr(self.accumulator, _APPENDS)
        assert _under_way(appends) == 0
        assert all(future.is_done() for future in self.futures)
        assert not on_another_thread(self.accumulator.has_incomplete)
        assert on_another_thread(self.pool.available_memory) == _TOTAL
        on_another_thread(self.accumulator.close)
        on_another_thread(self.accumulator.abort_incomplete_batches)
        return sorted(self.told)

    def _store(self) -> None:
        self.accumulator.begin_flush()
        while self.accumulator.has_undrained():
            self.drain()
        for batch in self.accumulator.in_flight():
            self.accumulator.complete_batch(batch, 1)
        self.accumulator.await_flush_completion()


@pytest.mark.parametrize("fills", [False, True], ids=["into a batch", "into a new batch"])
def test_a_signal_in_an_append_takes_the_record_or_leaves_it(fills: bool) -> None:
    for place, bench in each_interrupted_call(
        _Interrupted, lambda bench: bench.append(1 if fills else 0, 3)
    ):
        told = bench.end()
        assert told in ([0, 1, 2], [0, 1, 2, 3]), place


def test_a_signal_in_a_drain_loses_no_batch() -> None:
    for place, bench in each_interrupted_call(_Interrupted, lambda bench: bench.drain):
        assert bench.end() == [0, 1, 2], place


def _stores(bench: _Interrupted) -> Callable[[], object]:
    return partial(bench.accumulator.complete_batch, bench.flying, 1)


def _fails(bench: _Interrupted) -> Callable[[], object]:
    return partial(bench.accumulator.fail_batch, bench.flying, ValueError("failed"))


def _tries_again(bench: _Interrupted) -> Callable[[], object]:
    return partial(bench.accumulator.reenqueue, bench.flying, _NOW)


def _is_ready(bench: _Interrupted) -> Callable[[], object]:
    return partial(bench.accumulator.ready, _CLUSTER, _NOW)


def _closes(bench: _Interrupted) -> Callable[[], object]:
    return bench.accumulator.close


@pytest.mark.parametrize("call", [_stores, _fails, _tries_again, _is_ready, _closes])
def test_a_signal_in_a_call_of_the_sender_leaves_each_record_its_outcome(
    call: Callable[[_Interrupted], Callable[[], object]],
) -> None:
    for place, bench in each_interrupted_call(_Interrupted, call):
        # A callback that a signal ends counts as called.
        in_callback = "_fire" in place or "_Interrupted.append" in place
        assert bench.end() in ([0, 1, 2], [1, 2] if in_callback else []), place


def test_a_forced_close_that_a_signal_ended_can_be_made_again() -> None:
    for place, bench in each_interrupted_call(
        _Interrupted, lambda bench: bench.accumulator.abort_incomplete_batches
    ):
        on_another_thread(bench.accumulator.close)
        on_another_thread(bench.accumulator.abort_incomplete_batches)
        assert not bench.accumulator.has_incomplete(), place
        assert all(future.is_done() for future in bench.futures), place


def test_a_signal_in_a_call_leaves_the_number_of_appends_right() -> None:
    for place, appends in each_interrupted_call(AppendsInProgress, lambda appends: appends.begin):
        assert _under_way(appends) == (place == "nowhere"), place
    for place, appends in each_interrupted_call(_one_append, lambda appends: appends.end):
        has_ended = appends.completed()
        assert _under_way(appends) == 1 - has_ended, place


def _one_append() -> AppendsInProgress:
    appends = AppendsInProgress()
    appends.begin()
    return appends


def test_a_signal_in_a_flush_leaves_no_flush_in_progress() -> None:
    def flush(bench: _Interrupted) -> Callable[[], object]:
        bench.end()
        bench.accumulator.begin_flush()
        return bench.accumulator.await_flush_completion

    for place, bench in each_interrupted_call(_Interrupted, flush):
        begun = "await_flush_completion" in place and place.startswith("call")
        assert bench.accumulator.flush_in_progress() == begun, place
        bench.accumulator.begin_flush()
        assert bench.accumulator.flush_in_progress(), place


def test_a_signal_in_the_begin_of_a_flush_begins_none() -> None:
    for place, bench in each_interrupted_call(
        _Interrupted, lambda bench: bench.accumulator.begin_flush
    ):
        assert bench.accumulator.flush_in_progress() == (place == "nowhere"), place


class _LosesWhatItTakes(RecordAccumulator):
    """An accumulator whose drain gives nothing back to the queue."""

    def _put_first(self, batch: ProducerBatch) -> None:
        """Do nothing."""


def test_a_drain_that_gives_nothing_back_is_found() -> None:
    lost = [
        place
        for place, bench in each_interrupted_call(
            lambda: _Interrupted(_LosesWhatItTakes), lambda bench: bench.drain
        )
        if not bench.accumulator.has_undrained() and bench.flying in bench.accumulator.in_flight()
    ]
    assert any("BatchDrainer.take" in place for place in lost)
