"""The executor refuses now and then, and the timer loses nothing (standard 1.6)."""

from collections.abc import Callable

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from support.reference.open_timer import OpenTimer
from support.reference.timer import NO_WAIT, Bench, NamedTask
from wheelproof.errors import RejectedExecutionError
from wheelproof.sync import DeferredExecutor

_IDLE = -1
_NAMES = "abcdef"
_delays = st.integers(0, 90)


class _Executor(DeferredExecutor):
    """Refuses the submissions whose numbers it is told."""

    def __init__(self) -> None:
        super().__init__()
        self.refusals = list[bool]()
        """Of the next submissions, whether they are refused; those behind are taken."""

    def submit(self, task: Callable[[], None]) -> None:
        """Queue `task`, or refuse it."""
        if self.refusals and self.refusals.pop(0):
            raise RejectedExecutionError("refused")
        super().submit(task)


class TimerWithRefusals(RuleBasedStateMachine):
    """A timer, beside the due times of the tasks that are in it."""

    @initialize(tick_ms=st.integers(1, 3), wheel_size=st.integers(2, 4))
    def begin(self, tick_ms: int, wheel_size: int) -> None:
        """Make the timer."""
        self.executor = _Executor()
        self.bench = Bench(
            OpenTimer, tick_ms=tick_ms, wheel_size=wheel_size, executor=self.executor
        )
        self.tick_ms = tick_ms
        self.due_ms: dict[str, int] = {}
        self.tasks: dict[str, NamedTask] = {}

    @rule(name=st.sampled_from(_NAMES), delay_ms=_delays, refused=st.booleans())
    def add(self, name: str, delay_ms: int, refused: bool) -> None:
        """Add a task; if it is due now, the executor may refuse it, and then it is nowhere."""
        task = self.bench.task(name, delay_ms)
        if name in self.due_ms:
            self.tasks[name].cancel()
        self.executor.refusals = [refused]
        try:
            self.bench.timer.add(task)
        except RejectedExecutionError:
            assert not task.cancel()
            self.due_ms.pop(name, None)
        else:
            self.tasks[name] = task
            self.due_ms[name] = self.bench.clock.hi_res_clock_ms() + delay_ms
        self.executor.refusals = []
        self.run()

    @rule(name=st.sampled_from(_NAMES))
    def cancel(self, name: str) -> None:
        """Cancel a task, which succeeds exactly if it waits."""
        if name in self.tasks:
            assert self.tasks[name].cancel() == (self.due_ms.pop(name, None) is not None)

    @rule(span_ms=_delays, refusals=st.lists(st.booleans(), max_size=4))
    def advance(self, span_ms: int, refusals: list[bool]) -> None:
        """Let time pass, and advance until the executor refuses nothing more."""
        self.bench.clock.advance(span_ms)
        self.executor.refusals = list(refusals)
        refused = True
        while refused:
            left = sum(self.executor.refusals)
            try:
                self.bench.timer.advance_clock(NO_WAIT)
                refused = False
            except RejectedExecutionError:
                assert sum(self.executor.refusals) == left - 1
            self.run()
            self.buckets_that_hold_something_are_queued()
        self.executor.refusals = []
        now_ms = self.bench.clock.hi_res_clock_ms()
        late = sorted(name for name in self.due_ms if self.begins_ms(name) <= now_ms)
        assert not late, f"{late} were due at {now_ms} ms"

    def run(self) -> None:
        """Run what was submitted: what waits, and each once."""
        for name in self.bench.run_submitted():
            assert self.begins_ms(name) <= self.bench.clock.hi_res_clock_ms()
            del self.due_ms[name]

    def begins_ms(self, name: str) -> int:
        """Return when the tick begins in which a task that waits is due (rule 1.8)."""
        return self.due_ms[name] // self.tick_ms * self.tick_ms

    @invariant()
    def buckets_that_hold_something_are_queued(self) -> None:
        """Rules 1.14 and 1.18."""
        timer = self.bench.timer
        assert isinstance(timer, OpenTimer)
        buckets = timer.buckets()
        assert timer.size() == sum(len(bucket.entries()) for bucket in buckets)
        queued = [bucket for bucket in buckets if bucket.get_expiration() != _IDLE]
        assert timer.queued() == len(queued)
        assert all(bucket in queued for bucket in buckets if bucket.entries())


TestTimerWithRefusals = TimerWithRefusals.TestCase


def test_rule_1_6_what_was_refused_keeps_its_place_in_the_order() -> None:
    executor = _Executor()
    bench = Bench(executor=executor)
    for name in "abc":
        bench.add(name, 5)
    bench.clock.advance_to(5)
    executor.refusals = [False, True]
    with pytest.raises(RejectedExecutionError, match="refused"):
        bench.timer.advance_clock(NO_WAIT)
    assert bench.run_submitted() == ["a"]
    assert bench.timer.size() == 2
    assert bench.advance() == ["b", "c"]


def test_rule_6_2_4_the_next_advance_begins_with_what_was_refused() -> None:
    executor = _Executor()
    bench = Bench(executor=executor)
    bench.add("above", 20)
    bench.add("before", 5)
    bench.clock.advance_to(5)
    assert bench.advance() == ["before"]
    # Due at the same time, and in a bucket of its own with the same expiration.
    bench.add("below", 15)
    bench.clock.advance_to(20)
    executor.refusals = [True]
    with pytest.raises(RejectedExecutionError, match="refused"):
        bench.timer.advance_clock(NO_WAIT)
    assert bench.run_submitted() == []
    assert bench.advance() == ["above", "below"]
