"""A signal ends a call of the timer anywhere, and the timer keeps what it has accepted (6.8)."""

from collections.abc import Callable
from functools import partial

import pytest

from support.reference.open_timer import OpenBucket, OpenTimer, OpenWheel
from support.reference.signals import each_interrupted_call
from support.reference.threads import on_another_thread
from support.reference.timer import NO_WAIT, Bench
from wheelproof.errors import RejectedExecutionError, TimerClosedError

_ACCEPTED = ["due", "due too", "far", "farther"]


class _Interrupted(Bench):
    """A timer of four buckets a level that has accepted tasks for two levels; two are due."""

    def __init__(self, timer_class: type[OpenTimer] = OpenTimer) -> None:
        super().__init__(timer_class, wheel_size=4)
        delays = zip(_ACCEPTED, (2, 2, 30, 31), strict=True)
        self.accepted = {name: self.add(name, delay_ms) for name, delay_ms in delays}
        self.clock.advance_to(2)

    def fired_in_the_end(self) -> list[str]:
        """Look at the contents, go through every call on another thread, and run all to its end."""
        assert on_another_thread(self.timer.size) == self._linked()
        gone = self.task("gone", 50)
        on_another_thread(partial(self.timer.add, self.task("later", 50)))
        on_another_thread(partial(self.timer.add, gone))
        assert on_another_thread(gone.cancel)
        fired = self.run_submitted()
        for time_ms in range(2, 70):
            self.clock.advance_to(time_ms)
            on_another_thread(partial(self.timer.advance_clock, NO_WAIT))
            fired += self.run_submitted()
        assert on_another_thread(self.timer.size) == self._linked() == 0
        on_another_thread(self.timer.close)
        fired.remove("later")
        return fired

    def _linked(self) -> int:
        assert isinstance(self.timer, OpenTimer)
        return sum(len(bucket.entries()) for bucket in self.timer.buckets())


@pytest.mark.parametrize("delay_ms", [0, 1, 40], ids=["at once", "soon", "on a new level"])
def test_a_signal_in_an_add_leaves_the_task_out_or_in_and_the_others_in(delay_ms: int) -> None:
    fired: list[str] = []
    for place, bench in each_interrupted_call(
        _Interrupted, lambda bench: partial(bench.timer.add, bench.task("new", delay_ms))
    ):
        fired = bench.fired_in_the_end()
        assert [name for name in fired if name != "new"] == _ACCEPTED, place
        assert fired.count("new") <= 1, place
    assert "new" in fired


def test_a_signal_in_a_second_add_leaves_the_task_out_or_in_once() -> None:
    for place, bench in each_interrupted_call(
        _Interrupted, lambda bench: partial(bench.timer.add, bench.accepted["far"])
    ):
        fired = bench.fired_in_the_end()
        assert [name for name in fired if name != "far"] == ["due", "due too", "farther"], place
        assert fired.count("far") <= 1, place


def test_a_signal_in_a_cancel_leaves_the_task_out_or_in_and_the_others_in() -> None:
    for place, bench in each_interrupted_call(
        _Interrupted, lambda bench: bench.accepted["far"].cancel
    ):
        fired = bench.fired_in_the_end()
        assert fired in (_ACCEPTED, ["due", "due too", "farther"]), place


@pytest.mark.parametrize("time_ms", [2, 30, 31])
def test_a_signal_in_an_advance_loses_nothing_and_fires_nothing_twice(time_ms: int) -> None:
    def advance(bench: _Interrupted) -> Callable[[], object]:
        bench.clock.advance_to(time_ms)
        return partial(bench.timer.advance_clock, NO_WAIT)

    for place, bench in each_interrupted_call(_Interrupted, advance):
        fired = [*bench.run_submitted(), *bench.advance()]
        assert fired == _ACCEPTED[: {2: 2, 30: 3, 31: 4}[time_ms]], place
        bench.clock.advance_to(31)
        assert [*fired, *bench.advance()] == _ACCEPTED, place
        assert bench.timer.size() == 0, place


def test_a_signal_in_a_question_changes_nothing() -> None:
    for place, bench in each_interrupted_call(_Interrupted, lambda bench: bench.timer.size):
        assert bench.fired_in_the_end() == _ACCEPTED, place


def test_a_close_that_a_signal_ended_can_be_made_again() -> None:
    for place, bench in each_interrupted_call(_Interrupted, lambda bench: bench.timer.close):
        on_another_thread(bench.timer.close)
        with pytest.raises(TimerClosedError):
            on_another_thread(partial(bench.timer.add, bench.task("late", 1)))
        with pytest.raises(RejectedExecutionError):
            bench.executor.submit(bench.task("late", 1).run)
        assert bench.run_submitted() == [], place


class _ForgetfulBucket(OpenBucket):
    """A bucket that puts nothing back."""

    __slots__ = ()

    def _take_back(self, entry: object) -> None:
        """Do nothing."""


class _ForgetfulWheel(OpenWheel):
    __slots__ = ()
    _bucket_class = _ForgetfulBucket


class _ForgetfulTimer(OpenTimer):
    _timing_wheel_class = _ForgetfulWheel


def test_a_bucket_that_puts_nothing_back_is_found() -> None:
    lost = [
        place
        for place, bench in each_interrupted_call(
            lambda: _Interrupted(_ForgetfulTimer),
            lambda bench: partial(bench.timer.advance_clock, NO_WAIT),
        )
        if bench.fired_in_the_end() != _ACCEPTED
    ]
    assert any("TimerTask.claim" in place for place in lost)
