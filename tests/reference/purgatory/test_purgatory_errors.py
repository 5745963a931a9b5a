"""Bad input, and operations that raise: the state stays consistent and nothing else is lost."""

import contextlib
import threading
from asyncio import CancelledError
from collections.abc import Callable, Hashable
from typing import cast

import pytest

from support.reference.purgatory import Bench, CallingOperation, Operation, await_event
from support.reference.timer import FailingTimer
from wheelproof import sync
from wheelproof.clock import ManualClock
from wheelproof.errors import (
    DelayedOperationError,
    IllegalArgumentError,
    PurgatoryClosedError,
    TimerClosedError,
)
from wheelproof.purgatory import DelayedOperationPurgatory, ExclusiveDiscipline
from wheelproof.timer import SystemTimer, TimerTask
from wheelproof.units import MAX_MILLIS, Millis

_UNHASHABLE = cast(Hashable, ["a list"])
_EMPTY = (0, 0, 0)


def test_an_operation_without_keys_is_refused() -> None:
    bench, operation = Bench(), Operation()
    with pytest.raises(IllegalArgumentError, match="at least one key"):
        bench.purgatory.try_complete_else_watch(operation, [])
    assert operation.checks == 0


def test_a_key_that_cannot_be_hashed_is_refused_before_anything_happens() -> None:
    bench, operation = Bench(), Operation()
    with pytest.raises(IllegalArgumentError, match="cannot be hashed"):
        bench.purgatory.try_complete_else_watch(operation, ["fine", _UNHASHABLE])
    assert operation.checks == 0
    assert bench.contents() == _EMPTY
    with pytest.raises(IllegalArgumentError, match="cannot be hashed"):
        bench.purgatory.check_and_complete(_UNHASHABLE)
    with pytest.raises(IllegalArgumentError, match="cannot be hashed"):
        bench.purgatory.cancel_for_key(_UNHASHABLE)


@pytest.mark.parametrize("delay_ms", [-1, MAX_MILLIS + 1, cast(int, 1.5), cast(int, None)])
def test_a_time_out_outside_the_domain_is_refused(delay_ms: int) -> None:
    with pytest.raises(IllegalArgumentError, match="delay_ms"):
        Operation(delay_ms)


@pytest.mark.parametrize(("purge_interval", "shards"), [(-1, 1), (0, 0)])
def test_a_number_outside_the_domain_is_refused(purge_interval: int, shards: int) -> None:
    with pytest.raises(IllegalArgumentError, match=r"purge_interval|shards"):
        DelayedOperationPurgatory[Operation](
            "refused",
            SystemTimer("refused"),
            purge_interval=purge_interval,
            shards=shards,
            reaper_enabled=False,
        )


def test_a_predicate_that_raises_at_first_leaves_the_operation_as_it_was() -> None:
    bench, operation = Bench(), Operation()
    operation.raises_in_check = 1
    with pytest.raises(ValueError, match="the predicate raises"):
        bench.purgatory.try_complete_else_watch(operation, ["k"])
    assert bench.contents() == _EMPTY
    assert not operation.is_done()
    assert not bench.purgatory.try_complete_else_watch(operation, ["k"])


def test_a_predicate_that_raises_when_it_is_watched_leaves_nothing_behind() -> None:
    bench, operation = Bench(), Operation()
    operation.raises_in_check = 2
    with pytest.raises(ValueError, match="the predicate raises"):
        bench.purgatory.try_complete_else_watch(operation, ["k", "l"])
    assert bench.contents() == _EMPTY
    assert operation.is_cancelled()
    operation.ready = True
    assert bench.purgatory.check_and_complete("k") == 0
    assert not operation.force_complete()


def test_an_operation_that_raises_does_not_keep_the_others_from_being_tried() -> None:
    bench = Bench()
    first, raising, also_raising, last = (bench.watched("k") for _ in range(4))
    raising.raises_in_check = also_raising.raises_in_check = 3
    first.ready = last.ready = True
    with pytest.raises(DelayedOperationError, match="2 of the watched operations raised") as caught:
        bench.purgatory.check_and_complete("k")
    assert caught.value.num_completed == 2
    assert [type(failure) for failure in caught.value.failures] == [ValueError, ValueError]
    assert (first.completed, last.completed) == (1, 1)
    assert bench.contents() == (2, 1, 2)
    raising.ready = also_raising.ready = True
    assert bench.purgatory.check_and_complete("k") == 2
    assert bench.contents() == _EMPTY


class _Ends(Operation):
    """An operation whose callback ends the thread."""

    def __init__(self, error: BaseException) -> None:
        super().__init__()
        self._error = error

    def on_complete(self) -> None:
        """Raise."""
        super().on_complete()
        raise self._error


@pytest.mark.parametrize("error", [SystemExit(3), KeyboardInterrupt(), CancelledError()])
def test_what_ends_a_thread_does_not_keep_the_others_from_being_tried(
    error: BaseException,
) -> None:
    bench = Bench()
    first, last = (_Ends(error) for _ in range(2))
    raising, other = Operation(), Operation()
    for operation in (first, raising, other, last):
        bench.purgatory.try_complete_else_watch(operation, ["k"])
    raising.raises_in_check = 3
    for operation in (first, raising, other, last):
        operation.ready = True
    with pytest.raises(type(error)) as caught:
        bench.purgatory.check_and_complete("k")
    assert isinstance(caught.value.__cause__, DelayedOperationError)
    assert caught.value.__cause__.num_completed == 3
    assert (first.completed, other.completed, last.completed) == (1, 1, 1)
    assert bench.purgatory.check_and_complete("k") == 1
    assert bench.contents() == _EMPTY


def test_a_callback_that_raises_has_completed_its_operation() -> None:
    bench = Bench()
    raising, other = bench.watched("k"), bench.watched("k")
    raising.raises_in_complete = True
    raising.ready = other.ready = True
    with pytest.raises(DelayedOperationError, match="the callback raises") as caught:
        bench.purgatory.check_and_complete("k")
    assert caught.value.num_completed == 2
    assert (raising.completed, other.completed) == (1, 1)
    assert raising.is_completed()
    assert bench.contents() == _EMPTY
    assert bench.purgatory.check_and_complete("k") == 0


class _Wraps(Operation):
    """An operation whose predicate raises an error of its own for that of the callback."""

    def try_complete(self) -> bool:
        """Raise what wraps it."""
        try:
            return super().try_complete()
        except ValueError as error:
            # In a circle, as `raise error from error` makes one.
            error.__cause__ = error
            raise LookupError from error


class _CompletedMeanwhile(Operation):
    """An operation that another call completes before its predicate raises."""

    def __init__(self, bench: Bench) -> None:
        super().__init__()
        self._bench = bench
        self.counted = 0

    def try_complete(self) -> bool:
        """Let another call complete it and raise, when a trigger tries it."""
        if self.checks == 2 and not self.ready:
            self.ready = True
            self.counted = self._bench.purgatory.check_and_complete("k")
            raise ValueError("the predicate raises")
        return super().try_complete()


def test_what_a_call_has_completed_counts_and_is_dropped_whoever_raises() -> None:
    bench, wraps = Bench(), _Wraps()
    meanwhile = _CompletedMeanwhile(bench)
    for operation in (wraps, meanwhile):
        bench.purgatory.try_complete_else_watch(operation, ["k"])
    wraps.raises_in_complete = True
    wraps.ready = True
    with pytest.raises(DelayedOperationError, match="2 of the watched operations") as caught:
        bench.purgatory.check_and_complete("k")
    assert (caught.value.num_completed, meanwhile.counted) == (1, 1)
    assert (wraps.completed, meanwhile.completed) == (1, 1)
    assert bench.contents() == _EMPTY


def test_a_callback_that_raises_on_expiry_is_reported_and_the_others_expire() -> None:
    bench = Bench()
    raising, other = bench.watched("k", delay_ms=1), bench.watched("k", delay_ms=1)
    raising.raises_in_complete = True
    with pytest.raises(ValueError, match="the callback raises"):
        bench.advance(1)
    bench.executor.run_pending()
    assert (raising.completed, other.completed, other.expired) == (1, 1, 1)


def test_after_a_shutdown_operations_are_refused_and_the_others_can_still_go() -> None:
    bench = Bench()
    waiting = bench.watched("k", delay_ms=1)
    bench.purgatory.close()
    bench.purgatory.close()
    refused = Operation()
    with pytest.raises(PurgatoryClosedError, match="shut down"):
        bench.purgatory.try_complete_else_watch(refused, ["k"])
    assert refused.checks == 0
    with pytest.raises(TimerClosedError):
        bench.purgatory.advance_clock(Millis(0))
    assert (waiting.completed, waiting.expired) == (0, 0)
    waiting.ready = True
    assert bench.purgatory.check_and_complete("k") == 1
    assert bench.purgatory.watched() == 0


def test_no_error_of_an_advance_ends_the_reaper_of_a_purgatory() -> None:
    expired = threading.Event()
    timer = FailingTimer(SystemTimer("tested"), MemoryError())
    purgatory = DelayedOperationPurgatory[Operation]("tested", timer)
    purgatory.try_complete_else_watch(CallingOperation(0, expired.set), ["key"])
    await_event(expired)
    purgatory.close()


class _FullTimer(FailingTimer):
    """A timer that has no room."""

    def add(self, timer_task: TimerTask) -> None:
        """Raise."""
        raise MemoryError(timer_task.delay_ms)


def test_an_operation_that_its_timer_does_not_take_is_given_up_and_unwatched() -> None:
    timer = _FullTimer(SystemTimer("tested"))
    purgatory = DelayedOperationPurgatory[Operation]("tested", timer, reaper_enabled=False)
    operation = Operation()
    with pytest.raises(MemoryError):
        purgatory.try_complete_else_watch(operation, ["key", "other"])
    assert operation.is_cancelled()
    assert (purgatory.watched(), purgatory.num_keys(), purgatory.num_delayed()) == (0, 0, 0)
    purgatory.close()


def test_a_lock_that_cannot_be_taken_again_is_refused_by_a_discipline_that_does() -> None:
    with pytest.raises(IllegalArgumentError, match="cannot be taken again"):
        ExclusiveDiscipline(sync.lock("shared"))
    shared = sync.monitor("shared")
    operation = Operation(discipline=ExclusiveDiscipline(shared))
    with shared:
        assert operation.force_complete()


def test_a_timer_has_one_purgatory() -> None:
    timer = SystemTimer("shared", clock=ManualClock())
    first = DelayedOperationPurgatory[Operation]("first", timer, reaper_enabled=False)
    with pytest.raises(IllegalArgumentError, match="the timer has a purgatory already"):
        DelayedOperationPurgatory[Operation]("second", timer, reaper_enabled=False)
    first.close()


def test_a_purgatory_that_is_refused_takes_no_timer() -> None:
    timer = SystemTimer("kept", clock=ManualClock())
    with pytest.raises(IllegalArgumentError, match="shards"):
        DelayedOperationPurgatory[Operation]("refused", timer, shards=0, reaper_enabled=False)
    DelayedOperationPurgatory[Operation]("made", timer, reaper_enabled=False).close()


class _HashedTimer(SystemTimer):
    """A timer that runs `then` inside the call of its hash that `calls` counts down to."""

    def __init__(self, calls: int, then: Callable[[SystemTimer], None]) -> None:
        super().__init__("hashed", clock=ManualClock())
        self._calls = calls
        self._then = then

    def __hash__(self) -> int:
        self._calls -= 1
        if self._calls == 0:
            self._then(self)
        return id(self)


@pytest.mark.parametrize("calls", [1, 2, 3])
def test_of_two_purgatories_that_are_made_at_once_one_gets_the_timer(calls: int) -> None:
    made: list[DelayedOperationPurgatory[Operation]] = []

    def make(timer: SystemTimer) -> None:
        with contextlib.suppress(IllegalArgumentError):
            made.append(DelayedOperationPurgatory("one", timer, reaper_enabled=False))

    # The second purgatory is made where another thread could make it: while the first looks the
    # timer up.
    make(_HashedTimer(calls, make))
    assert len(made) == 1
    made[0].close()
