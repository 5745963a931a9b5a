"""Histories of overlapping calls on a purgatory, with their verdicts."""

from collections.abc import Sequence

import pytest
from wheelproof_spec.components.purgatory.contract import (
    NO_GAUGES,
    Gauges,
    OperationSpec,
    PurgatoryClause,
)
from wheelproof_spec.components.purgatory.fuzz.concurrent import (
    Callback,
    CallKind,
    ConcurrentPurgatory,
    PurgatoryCall,
)

_SPEC = OperationSpec(name="a", delay_ms=10, keys=("k",), conditions=("p",))


def _watch(invoked: int, returned: int, *, done: bool = False) -> PurgatoryCall:
    return PurgatoryCall(
        kind=CallKind.WATCH, invoked=invoked, returned=returned, spec=_SPEC, done=done
    )


def _set(invoked: int, returned: int) -> PurgatoryCall:
    return PurgatoryCall(kind=CallKind.SET, invoked=invoked, returned=returned, condition="p")


def _check(invoked: int, returned: int, count: int = 0) -> PurgatoryCall:
    return PurgatoryCall(
        kind=CallKind.CHECK, invoked=invoked, returned=returned, key="k", count=count
    )


def _cancel(invoked: int, returned: int, *names: str) -> PurgatoryCall:
    return PurgatoryCall(
        kind=CallKind.CANCEL, invoked=invoked, returned=returned, key="k", cancelled=names
    )


def _tick(invoked: int, returned: int, to_ms: int) -> PurgatoryCall:
    return PurgatoryCall(kind=CallKind.TICK, invoked=invoked, returned=returned, to_ms=to_ms)


def _advance(invoked: int, returned: int) -> PurgatoryCall:
    return PurgatoryCall(kind=CallKind.ADVANCE, invoked=invoked, returned=returned)


def _verdict(
    calls: Sequence[PurgatoryCall],
    completed: Sequence[int] = (),
    expired: Sequence[int] = (),
    gauges: Gauges = NO_GAUGES,
) -> str | None:
    violation = ConcurrentPurgatory(tick_ms=1, start_ms=0).judge(
        calls,
        [Callback(position, "a") for position in completed],
        [Callback(position, "a") for position in expired],
        gauges,
    )
    return None if violation is None else violation.rule


_History = tuple[list[PurgatoryCall], list[int], list[int]]
"""The calls, and where on_complete and on_expiration of the operation ran."""

_RIGHT: dict[str, _History] = {
    "the watch sees the condition itself": ([_set(0, 1), _watch(2, 4, done=True)], [3], []),
    "a trigger beside the watch": ([_watch(0, 9), _set(1, 2), _check(3, 8, 1)], [5], []),
    "the trigger looked before it was watched": (
        [_watch(0, 9, done=True), _set(1, 2), _check(3, 4)],
        [6],
        [],
    ),
    "a check that began before the set had returned": (
        [_watch(0, 1), _set(2, 5), _check(3, 4)],
        [],
        [],
    ),
    "a cancel beside the watch came too early": ([_watch(0, 5), _cancel(1, 2)], [], []),
    "a cancel": ([_watch(0, 1), _cancel(2, 3, "a"), _set(4, 5), _check(6, 7)], [], []),
    "an expiry": ([_watch(0, 1), _tick(2, 3, 10), _advance(4, 5)], [6], [7]),
    "an advance that began before the clock moved": (
        [_watch(0, 1), _advance(2, 5), _tick(3, 4, 10)],
        [],
        [],
    ),
}

_WRONG: dict[PurgatoryClause, _History] = {
    PurgatoryClause.COMPLETES_AT_MOST_ONCE: (
        [_watch(0, 1), _set(2, 3), _check(4, 7, 2)],
        [5, 6],
        [],
    ),
    PurgatoryClause.COMPLETES_FOR_A_REASON: ([_watch(0, 1), _check(2, 5, 1), _set(6, 7)], [4], []),
    PurgatoryClause.TRIGGER_COMPLETES: ([_watch(0, 9), _set(1, 2), _check(3, 4)], [], []),
    PurgatoryClause.COUNTS_COMPLETED: ([_watch(0, 1), _set(2, 3), _check(4, 6)], [5], []),
    PurgatoryClause.CANCELS_WHO_WAITS: ([_watch(0, 1), _cancel(2, 3)], [], []),
    PurgatoryClause.EXPIRES_IN_TIME: ([_watch(0, 1), _tick(2, 3, 10), _advance(4, 5)], [], []),
}


@pytest.mark.parametrize("name", _RIGHT)
def test_what_an_order_of_the_calls_explains(name: str) -> None:
    assert _verdict(*_RIGHT[name]) is None


@pytest.mark.parametrize("rule", _WRONG)
def test_what_no_order_of_the_calls_explains(rule: PurgatoryClause) -> None:
    assert _verdict(*_WRONG[rule]) == rule


def test_an_expiry_before_its_time() -> None:
    early = [_watch(0, 1), _tick(2, 3, 9), _advance(4, 5)]
    assert _verdict(early, [6], [7]) == PurgatoryClause.EXPIRES_IN_TIME


def test_what_was_cancelled_and_is_completed() -> None:
    calls = [_watch(0, 1), _cancel(2, 5, "a"), _set(3, 4), _check(6, 9, 1)]
    assert _verdict(calls, [7]) == PurgatoryClause.CANCELS_WHO_WAITS


def test_gauges() -> None:
    waiting, purge = [_watch(0, 1)], PurgatoryCall(kind=CallKind.PURGE, invoked=5, returned=6)
    assert _verdict(waiting, gauges=Gauges(watched=1, delayed=1, keys=1)) is None
    assert _verdict(waiting, gauges=Gauges(delayed=0)) == PurgatoryClause.DELAYED_COUNTS
    assert _verdict(waiting, gauges=Gauges(watched=0)) == PurgatoryClause.WATCHED_COUNTS
    ended = [_watch(0, 1), _cancel(2, 3, "a")]
    assert _verdict(ended, gauges=Gauges(watched=1, keys=1)) is None
    assert _verdict([*ended, purge], gauges=Gauges(watched=0, delayed=0, keys=0)) is None
    assert _verdict([*ended, purge], gauges=Gauges(watched=1)) == PurgatoryClause.WATCHED_COUNTS
    assert _verdict([*ended, purge], gauges=Gauges(keys=1)) == PurgatoryClause.NO_EMPTY_KEY


def test_a_purge_beside_the_end_of_an_operation_may_miss_it() -> None:
    purge = PurgatoryCall(kind=CallKind.PURGE, invoked=4, returned=8)
    left = Gauges(watched=1, keys=1)
    ends = [_watch(0, 1), _set(2, 3), _check(5, 7, 1)]
    assert _verdict([*ends, purge], [6], gauges=left) is None
    late_expiry = [_watch(0, 1), _tick(2, 3, 10), purge]
    assert _verdict(late_expiry, [9], [10], gauges=left) is None


def test_a_history_is_judged_as_a_whole() -> None:
    oracle = ConcurrentPurgatory(tick_ms=1, start_ms=0)
    assert oracle.judge([_watch(0, 1)], [], [], NO_GAUGES) is None
    assert oracle.last_due_ms() == 10
    violation = oracle.judge([_set(2, 3), _check(4, 5)], [], [], NO_GAUGES)
    assert violation is not None
    assert violation.rule == PurgatoryClause.TRIGGER_COMPLETES
