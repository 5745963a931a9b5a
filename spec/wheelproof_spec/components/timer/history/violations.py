"""The violations that the history of a timer can have, with their messages."""

from wheelproof_spec.base.results.violation import Violation
from wheelproof_spec.components.timer.component import TimerClause


def refused_while_open(f: str) -> Violation:
    """Return the violation by a call that an open timer refused as closed."""
    return TimerClause.REFUSES_ONLY_AFTER_CLOSE.broken(
        f"{f} is served", "it was refused because the timer is closed", "close has not been called"
    )


def taken_in_after_close(name: str) -> Violation:
    """Return the violation by an add that began after close and was accepted."""
    return TimerClause.REFUSES_AFTER_CLOSE.broken(
        "the add is refused", f"{name!r} was taken in", "close had returned before the add began"
    )


def advanced_after_close() -> Violation:
    """Return the violation by an advance that began after close and was accepted."""
    return TimerClause.REFUSES_AFTER_CLOSE.broken(
        "the advance is refused", "it returned", "close had returned before the advance began"
    )


def ran_after_close(name: str) -> Violation:
    """Return the violation by a task that ran though it waited when close had returned."""
    return TimerClause.REFUSES_AFTER_CLOSE.broken(
        f"{name!r} never runs",
        f"{name!r} ran",
        "it was not due when close had returned, and what waits then must not run",
    )


def cancel_lied(name: str, *, answer: bool) -> Violation:
    """Return the violation by a cancel that gave the wrong answer."""
    return TimerClause.CANCEL_TELLS_THE_TRUTH.broken(
        f"cancel of {name!r} answers {str(not answer).lower()}",
        f"it answered {str(answer).lower()}",
        "nothing was there to cancel"
        if answer
        else "the task was waiting, and cannot have been submitted",
    )


def ran_before(name: str, due_ms: int, now_ms: int) -> Violation:
    """Return the violation by a task that ran before its only possible due time."""
    return TimerClause.NEVER_BEFORE_DUE.broken(
        f"{name!r} runs at {due_ms} ms or later",
        f"it ran when the clock showed {now_ms} ms at most",
        f"{name!r} ran {due_ms - now_ms} ms before it was due",
    )


def out_of_order(first: str, first_ms: int, second: str, second_ms: int) -> Violation:
    """Return the violation by a task that ran before a task that was due earlier."""
    return TimerClause.RUNS_IN_ORDER.broken(
        f"{first!r}, due at {first_ms} ms, runs first",
        f"{second!r}, due at {second_ms} ms, ran first",
        "both were waiting when the later one became due",
    )


def too_late(name: str, due_ms: int, now_ms: int, lateness_ms: int) -> Violation:
    """Return the violation by a task that began to run later than the implementation promises."""
    return TimerClause.RUNS_WITHIN_ITS_LATENESS.broken(
        f"{name!r} begins to run by {due_ms + lateness_ms} ms",
        f"it began at {now_ms} ms or later",
        f"{name!r} was {now_ms - due_ms} ms late, of {lateness_ms} ms that are allowed",
    )


def overdue(name: str, due_ms: int, now_ms: int, lateness_ms: int) -> Violation:
    """Return the violation by a task that has not run in its promised time."""
    return TimerClause.RUNS_WITHIN_ITS_LATENESS.broken(
        f"{name!r} begins to run by {due_ms + lateness_ms} ms",
        f"it has not run at {now_ms} ms, when all is quiet",
        f"{name!r} is {now_ms - due_ms} ms late, of {lateness_ms} ms that are allowed",
    )


def left_behind(name: str, due_ms: int, clock_ms: int) -> Violation:
    """Return the violation by an advance that returned without a run that it owed."""
    return TimerClause.NOTHING_LEFT_BEHIND.broken(
        f"{name!r}, due by {due_ms} ms, has run when the advance returns that "
        f"began at {clock_ms} ms",
        "it has not run",
        f"{name!r} is {clock_ms - due_ms} ms late, and its add had returned "
        "before the advance began",
    )


def never_ran(name: str, call: int, index: int) -> Violation:
    """Return the violation by a task that was submitted for certain and never ran."""
    return TimerClause.NOTHING_LEFT_BEHIND.broken(
        f"{name!r} has run when all is quiet",
        "it never ran",
        f"its last add, at index {call}, returned before an advance that began when"
        f" it was due, and no cancel succeeded; the history ends at index {index}",
    )


def wrong_size(least: int, most: int, size: int) -> Violation:
    """Return the violation by a size that no possible set of linked entries has."""
    return TimerClause.SIZE_COUNTS_WAITING.broken(
        f"a size of {least} to {most}",
        f"a size of {size}",
        "it differs from the entries that can be linked",
    )


def ran_too_often(name: str) -> Violation:
    """Return the violation by a task that ran and was not waiting."""
    return TimerClause.RUNS_AT_MOST_ONCE.broken(
        f"{name!r} does not run",
        f"{name!r} ran",
        f"{name!r} has run already, was cancelled, or was never added",
    )


def ran_early(name: str) -> Violation:
    """Return the violation by a task that ran and was not due, whichever of its adds was last."""
    return TimerClause.NEVER_BEFORE_DUE.broken(
        f"{name!r} waits until it is due",
        f"{name!r} ran",
        f"no reading of the clock during an add of {name!r} makes it due so soon",
    )
