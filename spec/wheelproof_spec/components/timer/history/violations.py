"""The rules that the history of a timer can break, each with its words."""

from wheelproof_spec.base.violation import Violation
from wheelproof_spec.components.timer.component import TimerClause


def refused_while_open(f: str) -> Violation:
    """A call was refused as after close."""
    return Violation(
        rule=TimerClause.REFUSES_ONLY_AFTER_CLOSE,
        expected=f"{f} is served",
        observed="it was refused because the timer is closed",
        reason="close has not been called",
    )


def taken_in_after_close(name: str) -> Violation:
    """An add that began after close was served."""
    return Violation(
        rule=TimerClause.REFUSES_AFTER_CLOSE,
        expected="the add is refused",
        observed=f"{name!r} was taken in",
        reason="close had returned before the add began",
    )


def cancel_lied(name: str, *, answer: bool) -> Violation:
    """A cancel gave the wrong answer."""
    return Violation(
        rule=TimerClause.CANCEL_TELLS_THE_TRUTH,
        expected=f"cancel of {name!r} answers {str(not answer).lower()}",
        observed=f"it answered {str(answer).lower()}",
        reason="nothing was there to cancel"
        if answer
        else "the task was waiting, and cannot have been submitted",
    )


def ran_before(name: str, due_ms: int, now_ms: int) -> Violation:
    """A task ran before the one time at which it can be due."""
    return Violation(
        rule=TimerClause.NEVER_BEFORE_DUE,
        expected=f"{name!r} runs at {due_ms} ms or later",
        observed=f"it ran when the clock showed {now_ms} ms at most",
        reason=f"{name!r} ran {due_ms - now_ms} ms before it was due",
    )


def out_of_order(first: str, first_ms: int, second: str, second_ms: int) -> Violation:
    """A task ran before one that was due earlier."""
    return Violation(
        rule=TimerClause.RUNS_IN_ORDER,
        expected=f"{first!r}, due at {first_ms} ms, runs first",
        observed=f"{second!r}, due at {second_ms} ms, ran first",
        reason="both were waiting when the later one became due; one advance submits by due time",
    )


def too_late(name: str, due_ms: int, now_ms: int, lateness_ms: int) -> Violation:
    """A task began to run later than the implementation promises."""
    return Violation(
        rule=TimerClause.RUNS_WITHIN_ITS_LATENESS,
        expected=f"{name!r} begins to run by {due_ms + lateness_ms} ms",
        observed=f"it began at {now_ms} ms or later",
        reason=f"{name!r} was {now_ms - due_ms} ms late, of {lateness_ms} ms that are allowed",
    )


def overdue(name: str, due_ms: int, now_ms: int, lateness_ms: int) -> Violation:
    """A task has not run, long after it had to."""
    return Violation(
        rule=TimerClause.RUNS_WITHIN_ITS_LATENESS,
        expected=f"{name!r} begins to run by {due_ms + lateness_ms} ms",
        observed=f"it has not run at {now_ms} ms, when all is quiet",
        reason=f"{name!r} is {now_ms - due_ms} ms late, of {lateness_ms} ms that are allowed",
    )


def left_behind(name: str, due_ms: int, clock_ms: int) -> Violation:
    """An advance returned without what it owed."""
    return Violation(
        rule=TimerClause.NOTHING_LEFT_BEHIND,
        expected=f"{name!r}, due by {due_ms} ms, has run when the advance returns that "
        f"began at {clock_ms} ms",
        observed="it has not run",
        reason=f"{name!r} is {clock_ms - due_ms} ms late, and its add had returned "
        "before the advance began",
    )


def never_ran(name: str, call: int, index: int) -> Violation:
    """A task that was submitted for certain never ran."""
    return Violation(
        rule=TimerClause.NOTHING_LEFT_BEHIND,
        expected=f"{name!r} has run when all is quiet",
        observed="it never ran",
        reason=f"its last add, at index {call}, returned before an advance that began when"
        f" it was due, and no cancel succeeded; the history ends at index {index}",
    )


def wrong_size(least: int, most: int, size: int) -> Violation:
    """The size is not that of anything that can be linked."""
    return Violation(
        rule=TimerClause.SIZE_COUNTS_WAITING,
        expected=f"a size of {least} to {most}",
        observed=f"a size of {size}",
        reason="it differs from the entries that can be linked",
    )


def ran_too_often(name: str) -> Violation:
    """A task ran that was not waiting."""
    return Violation(
        rule=TimerClause.RUNS_AT_MOST_ONCE,
        expected=f"{name!r} does not run",
        observed=f"{name!r} ran",
        reason=f"{name!r} has run already, was cancelled, or was never added",
    )


def ran_early(name: str) -> Violation:
    """A task ran that cannot have been due, whichever of its adds was last."""
    return Violation(
        rule=TimerClause.NEVER_BEFORE_DUE,
        expected=f"{name!r} waits until it is due",
        observed=f"{name!r} ran",
        reason=f"no reading of the clock during an add of {name!r} makes it due so soon",
    )
