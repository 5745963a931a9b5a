"""The rules that the history of a purgatory can break, each with its words."""

from wheelproof_spec.base.violation import Violation
from wheelproof_spec.components.purgatory.contract import PurgatoryClause


def completed_again(name: str) -> Violation:
    """on_complete ran twice."""
    return Violation(
        rule=PurgatoryClause.COMPLETES_AT_MOST_ONCE,
        expected=f"on_complete of {name!r} runs once",
        observed="it runs again",
        reason="force_complete lets one caller through (semantics.md 2.1)",
    )


def completed_though_cancelled(name: str) -> Violation:
    """An operation that was given up is completed."""
    return Violation(
        rule=PurgatoryClause.CANCELS_WHO_WAITS,
        expected=f"{name!r} is not completed",
        observed="on_complete runs",
        reason="cancel_for_key has returned it, and it is claimed that this gives it up",
    )


def completed_for_no_reason(name: str, why: str) -> Violation:
    """Nothing that has begun explains a completion."""
    return Violation(
        rule=PurgatoryClause.COMPLETES_FOR_A_REASON,
        expected=f"{name!r} is completed once its predicate is made true, it is forced, or its "
        "time is out",
        observed="on_complete runs",
        reason=why,
    )


def expired_wrongly(name: str, observed: str) -> Violation:
    """on_expiration ran without the completion that it belongs to."""
    return Violation(
        rule="Purgatory.ExpiresAtMostOnceAfterCompletion",
        expected=f"on_expiration of {name!r} runs once, after on_complete",
        observed=observed,
        reason="expiry completes first, and runs on_expiration if it was the one that did "
        "(semantics.md 2.2)",
    )


def expired_early(name: str, due_ms: int, now_ms: int) -> Violation:
    """An operation expired before its time."""
    return Violation(
        rule=PurgatoryClause.EXPIRES_IN_TIME,
        expected=f"{name!r} expires at {due_ms} ms or later",
        observed=f"it expired at {now_ms} ms at most",
        reason="an operation expires after its delay (semantics.md 1.8, 2.2)",
    )


def expired_late(name: str, due_ms: int, now_ms: int, what: str) -> Violation:
    """An operation was still waiting after its time."""
    return Violation(
        rule=PurgatoryClause.EXPIRES_IN_TIME,
        expected=f"{name!r} expires at {due_ms} ms or soon after it",
        observed=f"at {now_ms} ms it had not",
        reason=what,
    )


def never_expired(name: str) -> Violation:
    """What only a time-out can have completed did not expire."""
    return Violation(
        rule="Purgatory.ExpiresAtMostOnceAfterCompletion",
        expected=f"on_expiration of {name!r} runs after on_complete",
        observed="it never did",
        reason="only its time-out can have completed it, and all is quiet (semantics.md 2.2)",
    )


def claimed_twice(name: str) -> Violation:
    """Two claims to have completed one operation."""
    return Violation(
        rule="Purgatory.OneCallerCompletes",
        expected=f"one call claims to have completed {name!r}, or it expires",
        observed="a second one does",
        reason="force_complete lets one caller through (semantics.md 2.1)",
    )


def claimed_falsely(name: str, f: str, *, answer: bool) -> Violation:
    """A call says that it completed, or did not complete, an operation, and that is wrong."""
    return Violation(
        rule=PurgatoryClause.ANSWERS_TRULY,
        expected=f"{f} of {name!r} answers {str(not answer).lower()}",
        observed=f"it answers {str(answer).lower()}",
        reason="its on_complete has not run during the call"
        if answer
        else "its on_complete has run in this call",
    )


def never_ended(name: str) -> Violation:
    """force_complete was turned away, and yet nobody completes the operation."""
    return Violation(
        rule=PurgatoryClause.COMPLETES_AT_MOST_ONCE,
        expected=f"on_complete of {name!r} has run",
        observed="it never did",
        reason="force_complete answered that it is done already, and all is quiet",
    )


def denied_too_early(name: str, f: str) -> Violation:
    """force_complete was turned away while the operation was still waiting."""
    return Violation(
        rule=PurgatoryClause.ANSWERS_TRULY,
        expected=f"force_complete of {name!r} completes it",
        observed=f"it was told that {name!r} is done, and a later {f!r} completes it",
        reason="that call began after force_complete had returned (semantics.md 2.1)",
    )


def counted_wrongly(key: str, least: int, most: int, count: int) -> Violation:
    """A check answers with a wrong number."""
    expected = str(least) if least == most else f"{least} to {most}"
    return Violation(
        rule=PurgatoryClause.COUNTS_COMPLETED,
        expected=f"check_and_complete of {key!r} answers {expected}",
        observed=f"it answers {count}",
        reason="so many operations were completed in this call (semantics.md 2.6)",
    )


def totals_differ(completed: int, answered: int) -> Violation:
    """In the end the answers do not add up."""
    return Violation(
        rule=PurgatoryClause.COUNTS_COMPLETED,
        expected=f"the {completed} completions are answered for, each by one call or expiry",
        observed=f"the calls and expiries answer for {answered}",
        reason="whoever completes an operation is told so (semantics.md 2.1, 2.4, 2.6)",
    )


def out_of_order(name: str, key: str) -> Violation:
    """A check completed an operation after one that was watched later."""
    return Violation(
        rule=PurgatoryClause.TRIES_IN_WATCH_ORDER,
        expected=f"check_and_complete of {key!r} completes {name!r} before those watched after it",
        observed=f"{name!r} is completed after one of those",
        reason="operations are tried once each, in the order of their watches (semantics.md 2.6)",
    )


def missed(name: str, why: str) -> Violation:
    """A trigger was lost."""
    return Violation(
        rule=PurgatoryClause.TRIGGER_COMPLETES,
        expected=f"{name!r} is completed without waiting for its time-out",
        observed=f"no call is under way any more, and {name!r} still waits",
        reason=why,
    )


def cancelled_wrongly(key: str, expected: str, observed: str) -> Violation:
    """cancel_for_key returned the wrong operations."""
    return Violation(
        rule=PurgatoryClause.CANCELS_WHO_WAITS,
        expected=expected,
        observed=observed,
        reason=f"cancel_for_key returns the operations that wait for {key!r} (semantics.md 2.9)",
    )


def wrong_number(rule: PurgatoryClause, f: str, least: int, most: int, seen: int) -> Violation:
    """A gauge is out of bounds."""
    return Violation(
        rule=rule,
        expected=f"{f} answers {least} to {most}",
        observed=f"it answers {seen}",
        reason="who waits is counted, and beside them only who has been handed in (semantics.md "
        "2.10)",
    )


def attempts_overlap(name: str) -> Violation:
    """A predicate was tested, or on_complete ran, twice at the same time."""
    return Violation(
        rule="Purgatory.AttemptsExclude",
        expected=f"try_complete and on_complete of {name!r} run one after the other",
        observed="two of them run at once in different threads",
        reason="it is claimed that they exclude each other (KAFKA-19312)",
    )
