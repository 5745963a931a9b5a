"""What nobody needs is not made: shards, buckets, locks of cells. Of two makers one prevails."""

import threading
import tracemalloc
from collections.abc import Callable
from typing import ClassVar

import pytest

from support.reference.interleaving import MAKE, Interleaving, Step
from support.reference.purgatory import NEVER_MS, Operation
from support.reference.timer import NO_WAIT, Bench, NamedTask
from wheelproof.clock import ManualClock
from wheelproof.purgatory import DelayedOperationPurgatory, WatcherShard
from wheelproof.purgatory.delayed_operation_purgatory import DEFAULT_SHARDS
from wheelproof.sync import (
    AtomicInteger,
    DeferredExecutor,
    atomic_integer,
    atomic_reference,
    lock,
    volatile,
)
from wheelproof.timer import SystemTimer, TimerTaskList, TimingWheel
from wheelproof.units import MAX_MILLIS

_MANY = 1_000
_WHEEL_SIZE = 20
_LEVELS = 15
"""So many wheels of 20 buckets reach MAX_MILLIS."""


class _CountingPurgatory(DelayedOperationPurgatory[Operation]):
    """A purgatory that counts the shards that it makes."""

    shards_made = 0

    def _new_shard(self) -> WatcherShard[Operation]:
        self.shards_made += 1
        return super()._new_shard()


def _purgatory(shards: int = DEFAULT_SHARDS) -> _CountingPurgatory:
    timer = SystemTimer("tested", clock=ManualClock(), executor=DeferredExecutor())
    return _CountingPurgatory("tested", timer, shards=shards, reaper_enabled=False)


def _watch(purgatory: _CountingPurgatory, key: int) -> None:
    assert not purgatory.try_complete_else_watch(Operation(NEVER_MS), [key])


def test_a_purgatory_makes_a_shard_for_the_keys_that_it_has_seen() -> None:
    purgatory = _purgatory()
    assert purgatory.shards_made == 0
    for key in (1, 2, 2, 1 + DEFAULT_SHARDS):
        _watch(purgatory, key)
        purgatory.check_and_complete(key)
    assert purgatory.shards_made == 2


def test_who_asks_for_all_shards_makes_the_missing_ones_once() -> None:
    purgatory = _purgatory(shards=7)
    _watch(purgatory, 3)
    for _ in range(2):
        assert (purgatory.num_keys(), purgatory.watched(), purgatory.purge_completed()) == (1, 1, 0)
        assert purgatory.shards_made == 7


def test_two_threads_that_make_one_shard_share_it() -> None:
    with Interleaving() as interleaving:
        purgatory = _purgatory()
        first = interleaving.run(lambda: _watch(purgatory, 1))
        assert first.until(Step("WatcherShard.lock", MAKE))
        _watch(purgatory, 1 + DEFAULT_SHARDS)
        first.finish()
    assert purgatory.shards_made == 2
    assert (purgatory.num_keys(), purgatory.watched()) == (2, 2)


class _CountedBucket(TimerTaskList):
    """A bucket that counts those of its class."""

    __slots__ = ()
    made: ClassVar[int] = 0

    def __init__(self, task_counter: AtomicInteger) -> None:
        super().__init__(task_counter)
        _CountedBucket.made += 1


class _CountedWheel(TimingWheel):
    __slots__ = ()
    _bucket_class = _CountedBucket


class _CountedTimer(SystemTimer):
    _timing_wheel_class = _CountedWheel

    def levels(self) -> int:
        wheel: TimingWheel | None = self._timing_wheel
        levels = 0
        while wheel is not None:
            wheel = wheel.overflow_wheel
            levels += 1
        return levels


@pytest.fixture(name="bench")
def _fresh_bench(monkeypatch: pytest.MonkeyPatch) -> Bench:
    monkeypatch.setattr(_CountedBucket, "made", 0)
    return Bench(_CountedTimer, wheel_size=_WHEEL_SIZE)


def test_a_timer_without_tasks_has_no_bucket(bench: Bench) -> None:
    bench.timer.advance_clock(NO_WAIT)
    assert _CountedBucket.made == 0


def test_the_latest_of_all_tasks_leaves_one_bucket_and_wheels_without_any(bench: Bench) -> None:
    task = bench.add("latest", MAX_MILLIS)
    assert isinstance(bench.timer, _CountedTimer)
    assert bench.timer.levels() == _LEVELS
    task.cancel()
    assert _CountedBucket.made == 1


def test_a_task_that_comes_down_passes_one_bucket_a_level(bench: Bench) -> None:
    bench.add("latest", MAX_MILLIS)
    assert bench.advance_to(MAX_MILLIS) == ["latest"]
    assert _CountedBucket.made <= _LEVELS


def test_a_bucket_that_was_made_serves_each_round(bench: Bench) -> None:
    for time_ms in range(1, 5 * _WHEEL_SIZE):
        bench.add("next", 1)
        assert bench.advance_to(time_ms) == ["next"]
    assert _CountedBucket.made == _WHEEL_SIZE


def test_two_adders_that_make_one_bucket_share_it() -> None:
    fired: list[str] = []
    with Interleaving() as interleaving:
        clock, executor = ManualClock(), DeferredExecutor()
        timer = SystemTimer("tested", clock=clock, executor=executor)
        first = interleaving.run(lambda: timer.add(NamedTask("first", 5, fired)))
        assert first.until(Step("TimerTaskList.monitor", MAKE))
        timer.add(NamedTask("second", 5, fired))
        first.finish()
    clock.advance(5)
    assert timer.advance_clock(NO_WAIT)
    assert not timer.advance_clock(NO_WAIT)
    executor.run_pending()
    assert fired == ["second", "first"]


def _bytes_each(make: Callable[[], object]) -> float:
    """Return what each of many objects takes, those of the interpreter for locks included."""
    kept: list[object] = [None] * _MANY
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        for index in range(_MANY):
            kept[index] = make()
        return (tracemalloc.get_traced_memory()[0] - before) / _MANY
    finally:
        tracemalloc.stop()


def test_an_atomic_cell_takes_no_more_memory_than_a_volatile_one() -> None:
    plain = _bytes_each(lambda: volatile(None, "cell"))
    assert _bytes_each(lambda: atomic_reference(None, "cell")) < plain + 1
    assert _bytes_each(lambda: atomic_integer(0, "cell")) < plain + 1


def test_a_lock_keeps_one_method_of_the_library() -> None:
    plain, library = _bytes_each(threading.Lock), threading.Lock()
    method = _bytes_each(lambda: library.acquire)
    # Itself and one bound method: two of them would be more than that.
    assert _bytes_each(lambda: lock("lock")) < plain + 2 * method
