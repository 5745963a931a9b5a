"""Callbacks that raise and callbacks that close: every way to end a batch, each with one fault."""

import asyncio
import logging
from collections.abc import Callable
from functools import partial

import pytest

from wheelproof.clock import ManualClock
from wheelproof.errors import ThreadInterruptedError
from wheelproof.producer import (
    AccumulatorConfig,
    BufferPool,
    Cluster,
    FutureRecordMetadata,
    NodeId,
    ProducerBatch,
    Record,
    RecordAccumulator,
    RecordMetadata,
    TopicPartition,
)
from wheelproof.producer.record_sizes import RECORD_BATCH_OVERHEAD

_ZERO, _ONE = (TopicPartition("topic", number) for number in range(2))
_NODE = NodeId(1)
_CLUSTER = Cluster(leaders={_ZERO: _NODE, _ONE: _NODE})
_SIZE = RECORD_BATCH_OVERHEAD + 30
_TIMEOUT_MS = 1_000
_RECORDS = 7
"""Three batches of a partition: two are full. The last of the records is in another partition."""


class _Bench:
    """An accumulator with a few batches, and one record whose callback does something."""

    def __init__(self, faulty: int, fault: Callable[["_Bench"], None]) -> None:
        self.clock = ManualClock()
        self.pool = BufferPool(10 * _SIZE, _SIZE, clock=self.clock)
        config = AccumulatorConfig(
            batch_size=_SIZE, linger_ms=0, retry_backoff_ms=0, delivery_timeout_ms=_TIMEOUT_MS
        )
        self.accumulator = RecordAccumulator(self.pool, config, clock=self.clock)
        self.told: list[int] = []
        self.raised: list[BaseException] = []
        self._fault = (faulty, fault)
        self.futures = [self._append(number) for number in range(_RECORDS)]

    def _append(self, number: int) -> FutureRecordMetadata:
        def callback(metadata: RecordMetadata | None, error: Exception | None) -> None:
            assert (metadata is None) != (error is None)
            self.told.append(number)
            if number == self._fault[0]:
                self._fault[1](self)

        partition = _ONE if number == _RECORDS - 1 else _ZERO
        record = Record(timestamp_ms=0, value=b"abc")
        return self.accumulator.append(partition, record, callback).future

    def drain(self) -> list[ProducerBatch]:
        """Take the first batch of each partition."""
        now_ms = self.clock.hi_res_clock_ms()
        return self.accumulator.drain(_CLUSTER, [_NODE], 2**20, now_ms)[_NODE]

    def attempt(self, call: Callable[[], object]) -> None:
        """Do something, and keep what it raises."""
        try:
            call()
        except BaseException as error:
            self.raised.append(error)

    def expire(self) -> None:
        """Let everything expire."""
        self.clock.advance(_TIMEOUT_MS)
        for batch in self.accumulator.expired_batches(self.clock.hi_res_clock_ms()):
            self.attempt(partial(self.accumulator.expire, batch))

    def close_by_force(self) -> None:
        """Accept nothing more, and end everything."""
        self.accumulator.close()
        self.accumulator.abort_incomplete_batches()

    def end_all(self) -> None:
        """Answer what is in flight, and abort the rest."""
        for batch in self.accumulator.in_flight():
            self.attempt(partial(self.accumulator.complete_batch, batch, 0))
        self.attempt(self.close_by_force)


def _complete(bench: _Bench) -> None:
    for batch in bench.drain():
        bench.attempt(partial(bench.accumulator.complete_batch, batch, 5))


def _fail(bench: _Bench) -> None:
    for batch in bench.drain():
        bench.attempt(partial(bench.accumulator.fail_batch, batch, ValueError()))


def _expire_in_flight(bench: _Bench) -> None:
    drained = bench.drain()
    bench.expire()
    for batch in drained:
        bench.attempt(partial(bench.accumulator.fail_batch, batch, ValueError()))


def _abort_in_flight(bench: _Bench) -> None:
    drained = bench.drain()
    bench.attempt(bench.close_by_force)
    for batch in drained:
        bench.attempt(partial(bench.accumulator.complete_batch, batch, 0))


_ENDS = pytest.mark.parametrize(
    "end", [_complete, _fail, _expire_in_flight, _Bench.expire, _abort_in_flight, _Bench.end_all]
)
_FAULTY = pytest.mark.parametrize("faulty", range(_RECORDS))


def _require_all_ended(bench: _Bench) -> None:
    assert sorted(bench.told) == list(range(_RECORDS)), "each callback runs once"
    assert all(future.is_done() for future in bench.futures)
    assert not bench.accumulator.has_incomplete()
    assert not bench.accumulator.has_undrained()
    assert bench.pool.available_memory() == bench.pool.total_memory


@_ENDS
@_FAULTY
def test_rule_7_3_a_callback_may_close_by_force(
    end: Callable[[_Bench], None], faulty: int, caplog: pytest.LogCaptureFixture
) -> None:
    bench = _Bench(faulty, _Bench.close_by_force)
    end(bench)
    bench.end_all()
    assert bench.raised == []
    assert caplog.records == []
    _require_all_ended(bench)


@_ENDS
@_FAULTY
def test_an_error_of_a_callback_is_logged_and_nothing_else_changes(
    end: Callable[[_Bench], None], faulty: int, caplog: pytest.LogCaptureFixture
) -> None:
    error = ArithmeticError("the application's own")

    def fail(_: _Bench) -> None:
        raise error

    bench = _Bench(faulty, fail)
    with caplog.at_level(logging.ERROR, logger="wheelproof"):
        end(bench)
        bench.end_all()
    assert bench.raised == []
    (record,) = caplog.records
    assert record.levelno == logging.ERROR
    assert record.exc_info is not None
    assert record.exc_info[1] is error
    _require_all_ended(bench)


@_ENDS
@_FAULTY
@pytest.mark.parametrize(
    "kind", [SystemExit, KeyboardInterrupt, asyncio.CancelledError, ThreadInterruptedError]
)
def test_what_ends_a_thread_is_raised_again_once_the_batch_has_ended(
    end: Callable[[_Bench], None], faulty: int, kind: type[BaseException]
) -> None:
    def stop(_: _Bench) -> None:
        raise kind

    bench = _Bench(faulty, stop)
    end(bench)
    bench.end_all()
    assert [type(error) for error in bench.raised] == [kind]
    _require_all_ended(bench)
