"""What is done is released at once, without a garbage collection (standard 6.6)."""

import gc
import threading
import tracemalloc
import weakref
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from functools import partial

import pytest

from support.reference.purgatory import Operation, await_event
from wheelproof.clock import ManualClock
from wheelproof.producer import (
    AccumulatorConfig,
    BufferPool,
    ByteBuffer,
    Cluster,
    FutureRecordMetadata,
    NodeId,
    ProducerBatch,
    Record,
    RecordAccumulator,
    RecordMetadata,
)
from wheelproof.purgatory import DelayedOperationPurgatory
from wheelproof.sync import DeferredExecutor, single_thread_executor
from wheelproof.timer import SystemTimer, TimerTask
from wheelproof.topic_partition import TopicPartition
from wheelproof.units import Millis

_NO_WAIT = Millis(0)
_STUCK_AFTER_MS = Millis(120_000)
_PARTITION = TopicPartition("payments", 0)
_NODE = NodeId(3)
_CLUSTER = Cluster(leaders={_PARTITION: _NODE})


@pytest.fixture(autouse=True)
def _without_collector() -> Generator[None]:
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


class _Payload:
    """What a task, an operation, a key or a callback refers to."""


@dataclass(slots=True)
class _Watched:
    """Weak references to what has to be released."""

    made: list[weakref.ref[_Payload]] = field(default_factory=list[weakref.ref[_Payload]])

    def payload(self) -> _Payload:
        """Make one more object that is looked at."""
        payload = _Payload()
        self.made.append(weakref.ref(payload))
        return payload

    def alive(self) -> int:
        """Return how many of them are still there."""
        return sum(made() is not None for made in self.made)


class _Task(TimerTask):
    __slots__ = ("payload",)

    def __init__(self, delay_ms: int, payload: _Payload) -> None:
        super().__init__(delay_ms)
        self.payload = payload

    def run(self) -> None:
        """Do nothing."""


class _Waiting(Operation):
    __slots__ = ("payload",)

    def __init__(self, delay_ms: int, payload: _Payload) -> None:
        super().__init__(delay_ms)
        self.payload = payload


@dataclass(frozen=True, slots=True)
class _Key:
    number: int
    payload: _Payload = field(compare=False)


class _Timer:
    """A timer and rounds in which tasks fire, are cancelled, added again and moved down."""

    def __init__(self) -> None:
        self.watched = _Watched()
        self.clock = ManualClock()
        self.executor = DeferredExecutor()
        self.timer = SystemTimer("tested", wheel_size=4, clock=self.clock, executor=self.executor)

    def task(self, delay_ms: int) -> _Task:
        """Return a new task with a payload."""
        return _Task(delay_ms, self.watched.payload())

    def round(self) -> None:
        """Add and let go of everything."""
        cancelled, again = self.task(5), self.task(20)
        for task in (self.task(0), self.task(1), self.task(30), cancelled, again, again):
            self.timer.add(task)
        cancelled.cancel()
        del task, cancelled, again
        for _ in range(32):
            self.clock.advance(1)
            self.timer.advance_clock(_NO_WAIT)
            self.executor.run_pending()

    def forget(self) -> None:
        """Drop what the test itself keeps."""
        self.watched.made.clear()

    def close(self) -> None:
        """Close the timer."""
        self.timer.close()


class _Purgatory:
    """A purgatory and rounds in which operations complete, expire and are cancelled."""

    def __init__(self) -> None:
        self.watched = _Watched()
        self.clock = ManualClock()
        self.executor = DeferredExecutor()
        timer = SystemTimer("tested", wheel_size=4, clock=self.clock, executor=self.executor)
        self.purgatory = DelayedOperationPurgatory[Operation](
            "tested", timer, shards=2, reaper_enabled=False, purge_interval=0
        )

    def watch(self, number: int) -> Operation:
        """Watch a new operation under a new key and under a second one."""
        operation = _Waiting(30, self.watched.payload())
        keys = [_Key(number, self.watched.payload()), _Key(-number, self.watched.payload())]
        self.purgatory.try_complete_else_watch(operation, keys)
        return operation

    def key(self, number: int) -> _Key:
        """Return a key that is equal to that of an operation."""
        return _Key(number, self.watched.payload())

    def round(self) -> None:
        """Watch and let go of everything."""
        completed = self.watch(1)
        self.watch(2)
        self.watch(3)
        completed.ready = True
        del completed
        self.purgatory.check_and_complete(self.key(1))
        self.purgatory.cancel_for_key(self.key(2))
        self.clock.advance(31)
        while self.purgatory.num_delayed():
            self.purgatory.advance_clock(_NO_WAIT)
            self.executor.run_pending()
        self.purgatory.purge_completed()

    def forget(self) -> None:
        """Drop what the test itself keeps."""
        self.watched.made.clear()

    def close(self) -> None:
        """Shut the purgatory down."""
        self.purgatory.close()


class _Memory(bytearray):
    """Memory that can be watched."""


class _Accumulator:
    """An accumulator and rounds in which batches are stored, fail, expire, are split, are aborted.

    The payloads are those of callbacks, and what is told of memory and batches.
    """

    def __init__(self) -> None:
        self.watched = _Watched()
        self.clock = ManualClock()
        self.memory: list[weakref.ref[_Memory]] = []
        self.futures: list[FutureRecordMetadata] = []
        self.pool = BufferPool(1_000, 200, clock=self.clock, allocator=self.allocate)
        config = AccumulatorConfig(batch_size=200, delivery_timeout_ms=50)
        self.accumulator = RecordAccumulator(self.pool, config, clock=self.clock)

    def allocate(self, size: int) -> ByteBuffer:
        """Make memory that is looked at."""
        memory = _Memory(size)
        self.memory.append(weakref.ref(memory))
        return ByteBuffer(memory)

    def append(self) -> None:
        """Append a record whose callback has a payload; its future stays until it is forgotten."""
        callback = partial(_ignore, self.watched.payload())
        record = Record(timestamp_ms=0, value=b"v" * 60)
        self.futures.append(self.accumulator.append(_PARTITION, record, callback).future)

    def drained(self) -> ProducerBatch:
        """Return the next batch."""
        now_ms = self.clock.hi_res_clock_ms()
        [batch] = self.accumulator.drain(_CLUSTER, [_NODE], 1_000, now_ms)[_NODE]
        return batch

    def end(self, how: Callable[[ProducerBatch], object]) -> None:
        """Append two records and end their batch."""
        self.append()
        self.append()
        how(self.drained())

    def split(self, batch: ProducerBatch) -> None:
        """Split a batch and store what comes of it."""
        for _ in range(self.accumulator.split_and_reenqueue(batch, split_batch_size=1)):
            self.clock.advance(1)
            self.accumulator.complete_batch(self.drained(), 1)

    def round(self) -> None:
        """Append and let go of everything."""
        self.end(lambda batch: self.accumulator.complete_batch(batch, 1))
        self.end(lambda batch: self.accumulator.fail_batch(batch, ValueError("failed")))
        self.end(self.split)
        self.append()
        self.clock.advance(50)
        for batch in self.accumulator.expired_batches(self.clock.hi_res_clock_ms()):
            self.accumulator.expire(batch)
        self.append()
        self.accumulator.abort_incomplete_batches()

    def forget(self) -> None:
        """Drop what the test itself keeps."""
        self.watched.made.clear()
        self.memory.clear()
        self.futures.clear()

    def close(self) -> None:
        """Close the accumulator and its pool."""
        self.accumulator.close()


def _ignore(payload: _Payload, metadata: RecordMetadata | None, error: Exception | None) -> None:
    del payload, metadata, error


_BENCHES: tuple[type[_Timer] | type[_Purgatory] | type[_Accumulator], ...] = (
    _Timer,
    _Purgatory,
    _Accumulator,
)
_each_component = pytest.mark.parametrize(
    "make", _BENCHES, ids=[bench.__name__ for bench in _BENCHES]
)


@_each_component
def test_what_is_done_is_released_at_once(
    make: Callable[[], _Timer | _Purgatory | _Accumulator],
) -> None:
    bench = make()
    for _ in range(3):
        bench.round()
        assert bench.watched.alive() == 0
    assert len(bench.watched.made) >= 15
    bench.close()
    assert bench.watched.alive() == 0


def test_the_memory_of_batches_that_have_ended_is_the_pools() -> None:
    bench = _Accumulator()
    for _ in range(3):
        bench.round()
        there = sum(len(memory) for made in bench.memory if (memory := made()) is not None)
        assert there == bench.pool.usage().pooled
        assert bench.pool.usage().lent == 0


class _Keeper:
    """Keeps what it is given: what the search must find."""

    def __init__(self) -> None:
        self.watched = _Watched()
        self._kept: list[_Payload] = []

    def round(self) -> None:
        """Keep one payload, and make one that is garbage."""
        self._kept.append(self.watched.payload())


def test_an_object_that_keeps_what_is_done_is_found() -> None:
    keeper = _Keeper()
    keeper.round()
    assert keeper.watched.alive() == 1


def test_an_executor_that_waits_for_a_task_has_released_the_last_one() -> None:
    watched, released = _Watched(), threading.Event()
    executor = single_thread_executor("tested")
    task = _Task(0, watched.payload())
    weakref.finalize(task.payload, released.set)
    executor.submit(task.run)
    del task
    await_event(released)
    executor.shutdown()
    assert executor.await_termination(_STUCK_AFTER_MS)


@_each_component
def test_rounds_of_use_make_no_garbage_and_leave_no_object(
    make: Callable[[], _Timer | _Purgatory | _Accumulator],
) -> None:
    bench = make()
    # Until the wheels have all their buckets.
    for _ in range(20):
        bench.round()
        bench.forget()
    gc.collect()
    before = len(gc.get_objects())
    for _ in range(20):
        bench.round()
        bench.forget()
    assert len(gc.get_objects()) - before < 20
    assert gc.collect() == 0


@_each_component
def test_rounds_of_use_take_no_more_memory(
    make: Callable[[], _Timer | _Purgatory | _Accumulator],
) -> None:
    bench = make()
    rounds = 30

    def use() -> int:
        for _ in range(rounds):
            bench.round()
            bench.forget()
        # There is no garbage; this empties the interpreter's own lists of free objects.
        assert gc.collect() == 0
        return tracemalloc.get_traced_memory()[0]

    tracemalloc.start()
    try:
        use()
        first = use()
        grown = use() - first
    finally:
        tracemalloc.stop()
    # Less than one object a round: counters, and what the interpreter keeps for itself.
    assert grown < 16 * rounds
