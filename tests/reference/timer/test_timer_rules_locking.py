"""Rule 1.15: the order in which locks nest, observed on every lock that a busy timer takes."""

from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType

import pytest

from support.reference.open_timer import OpenWheel
from support.reference.timer import NO_WAIT, Bench, CallingTask
from wheelproof.sync import Monitor, ReadWriteLock, use_runtime
from wheelproof.sync.protocols import LockView
from wheelproof.sync.threads import ThreadsRuntime
from wheelproof.timer import SystemTimer, TimingWheel

_WHEEL_SIZE = 3
_RANKS = {
    "SystemTimer.lock": 0,
    "TimerTask.monitor": 1,
    "TimerTaskList.monitor": 2,
    "TimerTaskEntry.monitor": 3,
}


@dataclass(frozen=True, slots=True)
class _Taken:
    """A lock by its name, and which of the locks of that name it is, in the order of making."""

    name: str
    number: int

    @property
    def level(self) -> int:
        """The level of the wheel whose bucket this is the monitor of."""
        return self.number // _WHEEL_SIZE


class _FullWheel(OpenWheel):
    """Makes its buckets before the wheel above: so the number of a monitor tells its level."""

    __slots__ = ()

    def _get_or_create_overflow_wheel(self) -> TimingWheel:
        self.open_buckets()
        return super()._get_or_create_overflow_wheel()


class _FullTimer(SystemTimer):
    _timing_wheel_class = _FullWheel


class _NotingRuntime(ThreadsRuntime):
    """Notes which lock is taken while which others are held; for one thread."""

    def __init__(self) -> None:
        self.nested: set[tuple[_Taken, _Taken]] = set()
        self._held: list[_Taken] = []
        self._made: dict[str, int] = {}

    def monitor(self, name: str) -> Monitor:
        return _NotingView(super().monitor(name), self._new(name), self._take, self._held)

    def read_write_lock(self, name: str, *, prefer_writers: bool) -> ReadWriteLock:
        inner = super().read_write_lock(name, prefer_writers=prefer_writers)
        taken = self._new(name)
        return _NotingReadWriteLock(
            _NotingView(inner.read, taken, self._take, self._held),
            _NotingView(inner.write, taken, self._take, self._held),
        )

    def _new(self, name: str) -> _Taken:
        number = self._made.get(name, 0)
        self._made[name] = number + 1
        return _Taken(name, number)

    def _take(self, taken: _Taken) -> None:
        # Taking again what is held cannot block, so it is no nesting.
        if taken not in self._held:
            self.nested.update((held, taken) for held in self._held)
        self._held.append(taken)


class _NotingView:
    def __init__(
        self,
        inner: LockView,
        taken: _Taken,
        take: Callable[[_Taken], None],
        held: list[_Taken],
    ) -> None:
        self._inner = inner
        self._taken = taken
        self._take = take
        self._held = held

    def __enter__(self) -> bool:
        self._take(self._taken)
        return self._inner.__enter__()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
        /,
    ) -> None:
        self._inner.__exit__(kind, error, traceback)
        assert self._held.pop() == self._taken


@dataclass(frozen=True, slots=True)
class _NotingReadWriteLock:
    read: LockView
    write: LockView


def _nestings_of_a_busy_timer() -> set[tuple[_Taken, _Taken]]:
    runtime = _NotingRuntime()
    with use_runtime(runtime):
        bench = Bench(_FullTimer, wheel_size=_WHEEL_SIZE)
        tasks = [bench.add("task", delay_ms) for delay_ms in range(0, 60, 2)]
        for time_ms in range(0, 60, 5):
            bench.advance_to(time_ms)
            for task in tasks[time_ms // 5 :: 7]:
                bench.timer.add(task)
            tasks[time_ms // 5].cancel()
        bench.advance_to(1_000)
        bench.timer.close()
    return runtime.nested


@pytest.mark.repeats("timer-read-lock")
def test_rule_1_15_locks_nest_in_one_order() -> None:
    nested = _nestings_of_a_busy_timer()
    for outer, inner in nested:
        if outer.name in _RANKS and inner.name in _RANKS:
            assert _RANKS[outer.name] <= _RANKS[inner.name]
    assert {(outer.name, inner.name) for outer, inner in nested} >= {
        ("SystemTimer.lock", "TimerTask.monitor"),
        ("TimerTask.monitor", "TimerTaskList.monitor"),
        ("TimerTaskList.monitor", "TimerTaskEntry.monitor"),
    }


def test_rule_1_15_of_two_buckets_the_upper_one_is_taken_first() -> None:
    buckets = [
        (outer, inner)
        for outer, inner in _nestings_of_a_busy_timer()
        if outer.name == inner.name == "TimerTaskList.monitor"
    ]
    assert buckets
    for outer, inner in buckets:
        assert outer.level > inner.level


def test_rule_1_15_no_two_tasks_and_no_two_entries_are_locked_together() -> None:
    for outer, inner in _nestings_of_a_busy_timer():
        assert outer.name != inner.name or outer.name == "TimerTaskList.monitor"


def test_rule_1_15_no_task_runs_while_the_timer_holds_a_lock() -> None:
    bench = Bench(wheel_size=_WHEEL_SIZE)

    def add_and_advance() -> None:
        bench.add("from a task", 5)
        bench.timer.advance_clock(NO_WAIT)

    bench.timer.add(CallingTask(4, add_and_advance))
    bench.clock.advance_to(4)
    bench.timer.advance_clock(NO_WAIT)
    assert bench.timer.size() == 0
    assert bench.run_submitted() == []
    assert bench.timer.size() == 1
    assert bench.advance_to(9) == ["from a task"]
