"""The operations of a purgatory and their effects, those of calls that overlap as well."""

from collections.abc import Callable, Sequence
from functools import partial

import pytest

from wheelproof_spec.base.results.tally import Tally
from wheelproof_spec.base.results.violation import Violation
from wheelproof_spec.components.purgatory.component import (
    CheckAndComplete,
    Checked,
    Completed,
    ForceComplete,
    PurgatoryClause,
    TryCompleteElseWatch,
)
from wheelproof_spec.components.purgatory.model import LedgerPurgatory, Outcome, Pending

_CHECK = CheckAndComplete(key="k")
_YES, _NO = Completed(completed=True), Completed(completed=False)


def _try(name: str) -> TryCompleteElseWatch:
    return TryCompleteElseWatch(operation=name, delay_ms=9, keys=("k",))


def _purgatory(*watched: str) -> LedgerPurgatory:
    """Return a purgatory with operations that wait for `k`, due at 9 ms; each needs its name."""
    purgatory = LedgerPurgatory()
    for name in watched:
        purgatory.hand_in(name, Pending(("k",), (name,), due_ms=9))
        purgatory.watch(name)
    return purgatory


def _rule(violation: Violation | None) -> str | None:
    return None if violation is None else violation.rule


def test_a_check_owes_an_end_to_whom_it_finds_and_who_can_end() -> None:
    purgatory = _purgatory("a", "b", "c")
    purgatory.make_true("c")
    purgatory.make_true("a")
    purgatory.begin(1, _CHECK)
    assert list(purgatory.owed) == ["a", "c"]
    assert purgatory.complete("c", 1) is None
    assert list(purgatory.owed) == ["a"]
    assert purgatory.outcome("c") is Outcome.COMPLETED


def test_an_operation_is_completed_once_and_for_a_reason() -> None:
    purgatory = _purgatory("a", "b")
    purgatory.make_true("a")
    purgatory.begin(1, _CHECK)
    assert _rule(purgatory.complete("b", 1)) is PurgatoryClause.COMPLETES_FOR_A_REASON
    assert purgatory.complete("a", 1) is None
    assert _rule(purgatory.complete("a", 1)) is PurgatoryClause.COMPLETES_AT_MOST_ONCE
    purgatory.begin(2, ForceComplete(operation="b"))
    assert purgatory.able("b") == [2]
    assert purgatory.complete("b", 2) is None
    assert _rule(purgatory.cancel("b")) is PurgatoryClause.CANCELS_WHO_WAITS


def test_a_call_completes_only_what_it_is_about() -> None:
    purgatory = _purgatory("a")
    purgatory.make_true("a")
    purgatory.begin(1, CheckAndComplete(key="j"))
    purgatory.begin(2, ForceComplete(operation="b"))
    assert not purgatory.able("a")
    assert not purgatory.owed


def test_who_is_handed_in_is_owed_an_end_before_and_after_it_is_watched() -> None:
    for true_before in (True, False):
        purgatory = _purgatory()
        if true_before:
            purgatory.make_true("a")
        purgatory.hand_in("a", Pending(("k",), ("a",)))
        purgatory.begin(1, _try("a"))
        assert list(purgatory.owed) == (["a"] if true_before else [])
        assert purgatory.waiting("k") == []
        purgatory.make_true("a")
        # A check may complete it, but need not find it yet.
        purgatory.begin(2, _CHECK)
        assert purgatory.able("a") == [1, 2]
        assert list(purgatory.owed) == (["a"] if true_before else [])
        assert purgatory.end(1, None) is None
        assert purgatory.waiting("k") == list(purgatory.owed) == ["a"]


@pytest.mark.parametrize(
    ("completes", "answer", "clause"),
    [
        (True, Checked(count=1), None),
        (True, Checked(count=None), None),
        (True, Checked(count=0), PurgatoryClause.COUNTS_COMPLETED),
        (False, Checked(count=0), None),
        (False, Checked(count=1), PurgatoryClause.COUNTS_COMPLETED),
    ],
)
def test_a_check_counts_what_it_has_completed(
    completes: bool, answer: Checked, clause: PurgatoryClause | None
) -> None:
    purgatory = _purgatory("a")
    purgatory.make_true("a")
    purgatory.begin(1, _CHECK)
    if completes:
        assert purgatory.complete("a", 1) is None
        assert purgatory.answer("a") is None
    assert _rule(purgatory.end(1, answer)) == clause


def test_one_caller_is_told_that_it_completed_an_operation() -> None:
    purgatory = _purgatory("a")
    purgatory.begin(1, ForceComplete(operation="a"))
    assert _rule(purgatory.copy().end(1, _NO)) is PurgatoryClause.ANSWERS_TRULY
    assert _rule(purgatory.copy().end(1, _YES)) is PurgatoryClause.ANSWERS_TRULY
    late = purgatory.copy()
    assert purgatory.complete("a", 1) is None
    # Its on_complete has not run.
    assert _rule(purgatory.copy().end(1, _YES)) is PurgatoryClause.COMPLETES_AT_MOST_ONCE
    assert purgatory.answer("a") is None
    assert purgatory.end(1, _YES) is None
    # Whoever comes after another end forces in vain.
    assert late.cancel("a") is None
    assert late.end(1, _NO) is None


def test_an_operation_that_is_forced_before_it_is_handed_in_has_ended() -> None:
    purgatory = _purgatory()
    purgatory.begin(1, ForceComplete(operation="a"))
    assert _rule(purgatory.expire("a")) is PurgatoryClause.EXPIRES_IN_TIME
    assert purgatory.complete("a", 1) is None
    purgatory.make_true("a")
    purgatory.hand_in("a", Pending(("k",), ("a",)))
    purgatory.begin(2, _try("a"))
    assert not purgatory.owed
    assert _rule(purgatory.complete("a", 2)) is PurgatoryClause.COMPLETES_AT_MOST_ONCE
    assert purgatory.end(2, _NO) is None


def test_an_operation_expires_in_time_and_once() -> None:
    purgatory = _purgatory("a", "b")
    assert purgatory.overdue() is None
    purgatory.move_clock(8)
    assert _rule(purgatory.expire("a")) is PurgatoryClause.EXPIRES_IN_TIME
    purgatory.move_clock(9)
    purgatory.move_clock(1)
    assert (purgatory.now_ms, purgatory.overdue()) == (9, ("a", 9))
    later = Pending(("k",), (), due_ms=10)
    assert _rule(purgatory.expire("a", later)) is PurgatoryClause.EXPIRES_IN_TIME
    assert purgatory.expire("a") is None
    assert _rule(purgatory.expire("a")) is PurgatoryClause.EXPIRES_IN_TIME
    assert purgatory.overdue() == ("b", 9)


def test_without_clocks_an_operation_expires_at_any_time_but_once() -> None:
    purgatory = LedgerPurgatory(tally=Tally(limits=(PurgatoryClause.EXPIRES_IN_TIME,)))
    purgatory.hand_in("a", Pending(("k",), ("a",)))
    assert purgatory.expire("a") is None
    assert _rule(purgatory.expire("a")) is PurgatoryClause.COMPLETES_AT_MOST_ONCE


def test_an_expiry_is_told_once_after_the_answer() -> None:
    purgatory = _purgatory("a")
    purgatory.move_clock(9)
    assert not purgatory.notify("a")
    assert purgatory.expire("a") is None
    assert not purgatory.notify("a")
    assert purgatory.answer("a") is None
    assert purgatory.notify("a")
    assert not purgatory.notify("a")
    assert _rule(purgatory.answer("a")) is PurgatoryClause.COMPLETES_AT_MOST_ONCE


def test_what_is_cancelled_is_never_answered() -> None:
    purgatory = _purgatory("a", "b")
    purgatory.make_true("b")
    purgatory.owe_cancels("k")
    assert list(purgatory.owed) == ["a", "b"]
    assert purgatory.cancel("a") is None
    assert _rule(purgatory.answer("a")) is PurgatoryClause.COMPLETES_AT_MOST_ONCE
    purgatory.begin(1, _CHECK)
    assert purgatory.complete("b", 1) is None
    assert not purgatory.owed


def test_kafka_gives_up_the_time_out_alone() -> None:
    purgatory = _purgatory("a")
    purgatory.give_up("k")
    assert (purgatory.waiting("k"), purgatory.pending["a"].due_ms) == ([], None)
    purgatory.begin(1, ForceComplete(operation="a"))
    assert purgatory.complete("a", 1) is None


def test_a_copy_goes_its_own_way() -> None:
    purgatory = _purgatory("a")
    copy = purgatory.copy()
    assert copy.key() == purgatory.key()
    assert copy.cancel("a") is None
    assert list(purgatory.pending) == ["a"]
    assert copy.key() != purgatory.key()


def test_each_effect_makes_another_state() -> None:
    purgatory = _purgatory()
    keys = [purgatory.key()]
    effects: Sequence[Callable[[], object]] = (
        partial(purgatory.hand_in, "a", Pending(("k",), ("a",), due_ms=0)),
        partial(purgatory.begin, 1, _try("a")),
        partial(purgatory.watch, "a"),
        partial(purgatory.end, 1, _NO),
        partial(purgatory.make_true, "a"),
        partial(purgatory.begin, 2, _CHECK),
        partial(purgatory.move_clock, 5),
        partial(purgatory.expire, "a"),
        partial(purgatory.answer, "a"),
        partial(purgatory.notify, "a"),
        partial(purgatory.end, 2, Checked(count=0)),
    )
    for effect in effects:
        effect()
        keys.append(purgatory.key())
    assert len(set(keys)) == len(keys)
