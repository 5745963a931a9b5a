"""What a replica manager is judged by."""

from collections.abc import Mapping, Sequence
from enum import StrEnum

from wheelproof_spec.base.results.violation import Violation
from wheelproof_spec.components.replication.oracle import Answer, RequestName


class ReplicationClause(StrEnum):
    """A clause of the contract; a violation names it as its rule (semantics.md 2.13 - 2.15)."""

    ANSWERED_AT_MOST_ONCE = "Replication.AnsweredAtMostOnce"
    ANSWERED_WHEN_IT_CAN_BE = "Replication.AnsweredWhenItCanBe"
    NOT_ANSWERED_BEFORE = "Replication.NotAnsweredBefore"
    ANSWER_IS_RIGHT = "Replication.AnswerIsRight"
    DELAYED_ARE_THE_WAITING = "Replication.DelayedAreTheWaiting"
    NOTHING_IS_KEPT = "Replication.NothingIsKept"
    REFUSES_WHAT_IS_OUTSIDE = "Replication.RefusesWhatIsOutside"


def judge_answers(
    due: Mapping[RequestName, Answer], seen: Sequence[tuple[RequestName, Answer]]
) -> Violation | None:
    """Return how the answers that were seen differ from those that are due, if they do."""
    names = [name for name, _ in seen]
    for name, answer in seen:
        if names.count(name) > 1:
            return _violation(
                ReplicationClause.ANSWERED_AT_MOST_ONCE, name, "one answer", f"{names.count(name)}"
            )
        if name not in due:
            return _violation(
                ReplicationClause.NOT_ANSWERED_BEFORE, name, "no answer yet", str(answer)
            )
        if answer != due[name]:
            return _violation(ReplicationClause.ANSWER_IS_RIGHT, name, str(due[name]), str(answer))
    for name, answer in due.items():
        if name not in names:
            return _violation(
                ReplicationClause.ANSWERED_WHEN_IT_CAN_BE, name, str(answer), "no answer"
            )
    return None


def judge_count(clause: ReplicationClause, expected: int, observed: int) -> Violation | None:
    """Return how a count differs from what it has to be, if it does."""
    if observed == expected:
        return None
    return Violation(
        rule=clause,
        expected=str(expected),
        observed=str(observed),
        reason="the gauge differs from the requests that wait",
    )


def _violation(
    clause: ReplicationClause, name: RequestName, expected: str, observed: str
) -> Violation:
    return Violation(
        rule=clause,
        expected=f"{name}: {expected}",
        observed=f"{name}: {observed}",
        reason="the ledger of appends and replica offsets says otherwise",
    )
