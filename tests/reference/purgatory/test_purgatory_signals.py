"""A signal ends a call of the purgatory anywhere, and no operation is lost (6.8)."""

from collections.abc import Callable
from functools import partial

import pytest

from support.reference.purgatory import Operation
from support.reference.signals import each_interrupted_call
from support.reference.threads import on_another_thread
from wheelproof.clock import ManualClock
from wheelproof.errors import PurgatoryClosedError
from wheelproof.purgatory import DelayedOperationPurgatory
from wheelproof.sync import DeferredExecutor
from wheelproof.timer import SystemTimer
from wheelproof.units import Millis

_TIMEOUT_MS = 30


class _Interrupted:
    """A purgatory of two shards with two operations, the first under both keys, and a new one."""

    def __init__(
        self,
        purgatory_class: type[DelayedOperationPurgatory[Operation]] = DelayedOperationPurgatory,
    ) -> None:
        self.clock = ManualClock()
        self.executor = DeferredExecutor()
        timer = SystemTimer("tested", wheel_size=4, clock=self.clock, executor=self.executor)
        self.purgatory = purgatory_class("tested", timer, shards=2, reaper_enabled=False)
        self.first, self.second, self.new = (Operation(_TIMEOUT_MS) for _ in range(3))
        self.purgatory.try_complete_else_watch(self.first, [1, 2])
        self.purgatory.try_complete_else_watch(self.second, [1])

    def watch(self, ready_at: int | None = None) -> Callable[[], object]:
        """Return a call that watches the new operation under both keys."""
        self.new.ready = ready_at == 0
        return partial(self.purgatory.try_complete_else_watch, self.new, [1, 2])

    def trigger(self, key: int) -> int:
        """Trigger a key on another thread."""
        return on_another_thread(partial(self.purgatory.check_and_complete, key))

    def end(self) -> None:
        """Complete the second operation by a trigger and all others by their time-outs.

        Then nothing is left, and whatever was accepted was completed once.
        """
        self.second.ready = not self.second.is_done()
        self.trigger(1)
        for _ in range(_TIMEOUT_MS):
            self.clock.advance(1)
            on_another_thread(partial(self.purgatory.advance_clock, Millis(0)))
            self.executor.run_pending()
        on_another_thread(self.purgatory.purge_completed)
        for operation in (self.first, self.second):
            assert operation.completed == operation.is_completed()
        # A callback that a signal ends counts as called.
        assert self.new.completed <= self.new.is_completed()
        assert self.contents() == (0, 0, 0)
        on_another_thread(self.purgatory.close)

    def contents(self) -> tuple[int, int, int]:
        """Return the numbers of watches, keys and time-outs, asked on another thread."""
        purgatory = self.purgatory
        return on_another_thread(
            lambda: (purgatory.watched(), purgatory.num_keys(), purgatory.num_delayed())
        )


def test_a_signal_in_a_watch_leaves_the_new_operation_out_or_in() -> None:
    expired = 0
    for place, bench in each_interrupted_call(_Interrupted, _Interrupted.watch):
        watches, keys, delayed = bench.contents()
        if bench.new.is_done() or not bench.new.checks:
            assert (watches, keys, delayed) == (3, 2, 2), place
        bench.end()
        assert bench.first.completed == bench.second.completed == 1, place
        expired = bench.new.expired
    assert expired == 1


def test_a_signal_in_a_watch_that_completes_leaves_it_completed_or_as_it_was() -> None:
    for place, bench in each_interrupted_call(_Interrupted, lambda bench: bench.watch(ready_at=0)):
        assert bench.contents() == (3, 2, 2), place
        bench.end()
        assert bench.first.completed == bench.second.completed == 1, place


def test_a_signal_in_a_trigger_completes_nothing_twice_and_loses_nothing() -> None:
    def trigger(bench: _Interrupted) -> Callable[[], object]:
        bench.first.ready = bench.second.ready = True
        return partial(bench.purgatory.check_and_complete, 1)

    for place, bench in each_interrupted_call(_Interrupted, trigger):
        bench.trigger(1)
        # A callback that a signal ends counts as called.
        done = [bench.first.is_completed(), bench.second.is_completed()]
        assert done == [True, True], place
        assert bench.contents()[2] == 0, place
        missed = "Operation.on_complete" in place
        assert bench.first.completed + bench.second.completed == 2 - missed, place
        on_another_thread(bench.purgatory.purge_completed)
        assert bench.contents() == (0, 0, 0), place


def test_a_signal_in_a_cancel_gives_up_all_or_none() -> None:
    for place, bench in each_interrupted_call(
        _Interrupted, lambda bench: partial(bench.purgatory.cancel_for_key, 1)
    ):
        cancelled = {bench.first.is_cancelled(), bench.second.is_cancelled()}
        assert len(cancelled) == 1, place
        assert bench.contents()[2] == (0 if cancelled == {True} else 2), place
        bench.end()


@pytest.mark.parametrize("question", ["watched", "num_delayed", "num_keys", "purge_completed"])
def test_a_signal_in_a_question_or_a_purge_changes_nothing(question: str) -> None:
    def ask(bench: _Interrupted) -> Callable[[], object]:
        purgatory = bench.purgatory
        questions: dict[str, Callable[[], object]] = {
            "watched": purgatory.watched,
            "num_delayed": purgatory.num_delayed,
            "num_keys": purgatory.num_keys,
            "purge_completed": purgatory.purge_completed,
        }
        return questions[question]

    for place, bench in each_interrupted_call(_Interrupted, ask):
        assert bench.contents() == (3, 2, 2), place
        bench.end()
        assert bench.first.expired == 1, place


def test_a_signal_in_an_advance_loses_no_time_out() -> None:
    def advance(bench: _Interrupted) -> Callable[[], object]:
        bench.clock.advance(_TIMEOUT_MS)
        return partial(bench.purgatory.advance_clock, Millis(0))

    for place, bench in each_interrupted_call(_Interrupted, advance):
        bench.end()
        assert bench.first.completed == bench.second.completed == 1, place


def test_a_shutdown_that_a_signal_ended_can_be_made_again() -> None:
    for place, bench in each_interrupted_call(_Interrupted, lambda bench: bench.purgatory.close):
        on_another_thread(bench.purgatory.close)
        with pytest.raises(PurgatoryClosedError):
            on_another_thread(bench.watch())
        assert not bench.first.is_done(), place


class _LeavesWatches(DelayedOperationPurgatory[Operation]):
    """A purgatory that undoes nothing of a call that ends in an error."""

    def _withdraw(self, operation: Operation, watched: object) -> None:
        """Do nothing."""


def test_a_purgatory_that_undoes_nothing_is_found() -> None:
    left = [
        place
        for place, bench in each_interrupted_call(
            lambda: _Interrupted(_LeavesWatches), _Interrupted.watch
        )
        if place != "nowhere" and bench.contents()[0] > 3
    ]
    assert any("SystemTimer.add" in place for place in left)
