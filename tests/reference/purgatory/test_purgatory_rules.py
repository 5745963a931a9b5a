"""The purgatory rule by rule (standard 2.1 - 2.11)."""

import threading
from collections.abc import Callable

import pytest

from support.reference.purgatory import NEVER_MS, Bench, CallingOperation, Operation, await_event
from wheelproof.clock import ManualClock
from wheelproof.purgatory import (
    BlockingDiscipline,
    CompletionDiscipline,
    DelayedOperationPurgatory,
    ExclusiveDiscipline,
    MonitorDiscipline,
    PendingFlagDiscipline,
    TryLockOnceDiscipline,
)
from wheelproof.timer import SystemTimer

_DISCIPLINES = (
    MonitorDiscipline,
    TryLockOnceDiscipline,
    PendingFlagDiscipline,
    BlockingDiscipline,
    ExclusiveDiscipline,
)
_EMPTY = (0, 0, 0)


@pytest.mark.repeats(
    "c-removed-at-once",
    "op-on-complete-once",
    "op-is-completed",
    "op-one-winner",
    "op-cancels-timeout",
    "op-or-else",
    "pu-several-keys",
    "pu-twice-not-each-key",
    "pu-check-unknown",
    "pu-empty-key",
    "k-1430",
    "k-1989",
)
@pytest.mark.parametrize("make", _DISCIPLINES)
def test_each_discipline_completes_once(make: Callable[[], CompletionDiscipline]) -> None:
    bench, operation = Bench(), Operation(discipline=make())
    assert not bench.purgatory.try_complete_else_watch(operation, ["k", "l"])
    assert operation.checks == 2
    operation.ready = True
    assert bench.purgatory.check_and_complete("l") == 1
    assert bench.purgatory.check_and_complete("k") == 0
    assert not operation.force_complete()
    operation.run()
    assert (operation.completed, operation.expired) == (1, 0)
    assert bench.contents() == _EMPTY


@pytest.mark.repeats("c-two-ends", "op-at-most-delay", "op-two-ways", "op-on-expiration")
@pytest.mark.parametrize("make", _DISCIPLINES)
def test_each_discipline_expires_once(make: Callable[[], CompletionDiscipline]) -> None:
    bench, operation = Bench(), Operation(5, discipline=make())
    bench.purgatory.try_complete_else_watch(operation, ["k"])
    bench.advance(5)
    assert (operation.completed, operation.expired) == (1, 1)
    operation.ready = True
    assert bench.purgatory.check_and_complete("k") == 0
    assert (operation.completed, operation.expired) == (1, 1)


@pytest.mark.repeats("c-only-if-unmet", "op-else-iff", "pu-true-iff")
def test_what_can_end_at_once_is_not_watched() -> None:
    bench, operation = Bench(), Operation()
    operation.ready = True
    assert bench.purgatory.try_complete_else_watch(operation, ["k"])
    assert bench.contents() == _EMPTY


@pytest.mark.repeats("c-two-parts")
def test_a_key_that_is_named_twice_is_one_watch() -> None:
    bench = Bench()
    bench.watched("k", "k")
    assert bench.contents() == (1, 1, 1)


@pytest.mark.repeats("pu-cancel")
def test_cancelled_operations_are_returned_once_and_never_completed() -> None:
    bench = Bench()
    both, one = bench.watched("k", "l", delay_ms=5), bench.watched("k", delay_ms=5)
    done = bench.watched("k")
    done.force_complete()
    assert bench.purgatory.cancel_for_key("k") == [both, one]
    assert bench.purgatory.cancel_for_key("k") == []
    assert bench.purgatory.cancel_for_key("l") == []
    both.ready = one.ready = True
    assert bench.purgatory.check_and_complete("l") == 0
    bench.advance(10)
    assert not both.force_complete()
    assert (both.completed, one.completed) == (0, 0)
    assert both.is_cancelled()
    assert not both.is_completed()
    assert bench.contents() == _EMPTY


@pytest.mark.repeats("c-lists-later", "c-purge-by-difference", "pu-num-delayed")
def test_nothing_is_purged_before_the_interval_is_passed() -> None:
    bench = Bench(purge_interval=3)
    for number in range(3):
        bench.watched(number).force_complete()
    bench.advance(1)
    assert bench.contents() == (3, 3, 0)
    bench.watched("one more").force_complete()
    bench.advance(1)
    assert bench.contents() == _EMPTY


@pytest.mark.repeats("pu-purged-by-reaper")
def test_operations_that_expired_together_are_purged_in_the_next_pass() -> None:
    bench = Bench(purge_interval=3)
    for number in range(10):
        bench.watched(number, delay_ms=5)
    bench.advance(5)
    assert bench.purgatory.watched() == 10
    bench.advance(1)
    assert bench.contents() == _EMPTY


@pytest.mark.repeats("pu-watched", "pu-purge-completed")
def test_purging_keeps_who_waits() -> None:
    bench = Bench(purge_interval=0)
    waiting = [bench.watched(number, "shared") for number in range(5)]
    for _ in range(5):
        bench.watched("shared").force_complete()
    bench.advance(1)
    assert bench.contents() == (10, 6, 5)
    bench.advance(1)
    for operation in waiting:
        operation.ready = True
    assert bench.purgatory.check_and_complete("shared") == 5
    bench.advance(1)
    assert bench.contents() == _EMPTY


def test_a_callback_may_use_the_purgatory() -> None:
    bench = Bench()
    second = bench.watched("second")
    second.ready = True
    first = CallingOperation(
        NEVER_MS, lambda: _discard(bench.purgatory.check_and_complete("second"))
    )
    bench.purgatory.try_complete_else_watch(first, ["first"])
    first.ready = True
    assert bench.purgatory.check_and_complete("first") == 1
    assert second.completed == 1


@pytest.mark.repeats("pu-without-timer")
def test_without_a_timer_nothing_expires() -> None:
    clock = ManualClock()
    purgatory = DelayedOperationPurgatory[Operation](
        "untimed", SystemTimer("untimed", clock=clock), timer_enabled=False, reaper_enabled=False
    )
    purgatory.try_complete_else_watch(Operation(0), ["k"])
    assert (purgatory.watched(), purgatory.num_delayed()) == (1, 0)


@pytest.mark.repeats("op-run", "pu-purpose", "pu-shutdown")
def test_the_reaper_expires_what_is_due_and_ends_with_the_shutdown() -> None:
    clock = ManualClock()
    purgatory = DelayedOperationPurgatory[Operation]("reaped", SystemTimer("reaped", clock=clock))
    done = threading.Event()
    purgatory.try_complete_else_watch(CallingOperation(10**9, done.set), ["k"])
    waiting = Operation(10**9 + 10**6)
    purgatory.try_complete_else_watch(waiting, ["l"])
    clock.advance(10**9)
    await_event(done)
    purgatory.close()
    assert waiting.completed == 0
    assert not [one for one in threading.enumerate() if one.name.endswith("reaper-reaped")]


def test_a_callback_may_shut_the_purgatory_down() -> None:
    clock = ManualClock()
    purgatory = DelayedOperationPurgatory[Operation]("self", SystemTimer("self", clock=clock))
    done = threading.Event()

    def shut_down() -> None:
        purgatory.close()
        done.set()

    purgatory.try_complete_else_watch(CallingOperation(1, shut_down), ["k"])
    clock.advance(1)
    await_event(done)


def _discard(_: object) -> None:
    """Make an expression a statement."""
