"""The violations that the history of a timer can have, with their messages."""

from wheelproof_spec.base.results.violation import Violation
from wheelproof_spec.components.timer.component import TimerClause


def refused_while_open(f: str) -> Violation:
    """Return the violation by a call that an open timer refused as closed."""
    return TimerClause.REFUSES_ONLY_AFTER_CLOSE.broken(
        f"the timer serves {f}",
        f"{f} was refused because the timer is closed",
        f"{f} was refused because the timer is closed, but nobody had called close",
    )


def taken_in_after_close(name: str) -> Violation:
    """Return the violation by an add that began after close and was accepted."""
    return TimerClause.REFUSES_AFTER_CLOSE.broken(
        f"add({name!r}) is refused",
        f"add({name!r}) was accepted",
        f"add({name!r}) began after close had returned, and was accepted",
    )


def advanced_after_close() -> Violation:
    """Return the violation by an advance that began after close and was accepted."""
    return TimerClause.REFUSES_AFTER_CLOSE.broken(
        "the advance is refused",
        "the advance was carried out",
        "an advance began after close had returned, and was carried out",
    )


def ran_after_close(name: str) -> Violation:
    """Return the violation by a task that ran though it waited when close had returned."""
    return TimerClause.REFUSES_AFTER_CLOSE.broken(
        f"{name!r} never runs",
        f"{name!r} ran",
        f"{name!r} ran after close, though it was not yet due when close returned",
    )


def cancel_lied(name: str, *, answer: bool) -> Violation:
    """Return the violation by a cancel that gave the wrong answer."""
    told = f"cancel({name!r}) returned {str(answer).lower()}"
    return TimerClause.CANCEL_TELLS_THE_TRUTH.broken(
        f"cancel({name!r}) returns {str(not answer).lower()}",
        told,
        f"{told}, but no task {name!r} was waiting"
        if answer
        else f"{told}, but {name!r} was waiting, and no advance can have submitted it",
    )


def ran_before(name: str, due_ms: int, now_ms: int) -> Violation:
    """Return the violation by a task that ran before its only possible due time."""
    return TimerClause.NEVER_BEFORE_DUE.broken(
        f"{name!r} runs at {due_ms} ms or later",
        f"{name!r} ran when the clock showed {now_ms} ms at most",
        f"{name!r} ran {due_ms - now_ms} ms before it was due at {due_ms} ms",
    )


def out_of_order(first: str, first_ms: int, second: str, second_ms: int) -> Violation:
    """Return the violation by a task that ran before a task that was due earlier."""
    return TimerClause.RUNS_IN_ORDER.broken(
        f"{first!r}, due at {first_ms} ms, runs first",
        f"{second!r}, due at {second_ms} ms, ran first",
        f"{second!r}, due at {second_ms} ms, ran before {first!r}, due at {first_ms} ms; both were "
        f"waiting when {second!r} became due",
    )


def too_late(name: str, due_ms: int, now_ms: int, lateness_ms: int) -> Violation:
    """Return the violation by a task that began to run later than the implementation promises."""
    return TimerClause.RUNS_WITHIN_ITS_LATENESS.broken(
        f"{name!r} begins to run by {due_ms + lateness_ms} ms",
        f"{name!r} began at {now_ms} ms or later",
        f"{name!r} was due at {due_ms} ms and began to run {now_ms - due_ms} ms late; "
        f"{lateness_ms} ms are allowed",
    )


def overdue(name: str, due_ms: int, now_ms: int, lateness_ms: int) -> Violation:
    """Return the violation by a task that has not run in its promised time."""
    return TimerClause.RUNS_WITHIN_ITS_LATENESS.broken(
        f"{name!r} begins to run by {due_ms + lateness_ms} ms",
        f"{name!r} has not run at {now_ms} ms, when all calls are over",
        f"{name!r} was due at {due_ms} ms and had not run {now_ms - due_ms} ms later; "
        f"{lateness_ms} ms are allowed",
    )


def left_behind(name: str, due_ms: int, clock_ms: int) -> Violation:
    """Return the violation by an advance that returned without a run that it owed."""
    return TimerClause.NOTHING_LEFT_BEHIND.broken(
        f"{name!r}, due by {due_ms} ms, has run when the advance returns that "
        f"began at {clock_ms} ms",
        f"{name!r} has not run",
        f"{name!r} was due by {due_ms} ms, and its add had returned; the advance that began at "
        f"{clock_ms} ms returned without running it",
    )


def never_ran(name: str, call: int, index: int) -> Violation:
    """Return the violation by a task that was submitted for certain and never ran."""
    return TimerClause.NOTHING_LEFT_BEHIND.broken(
        f"{name!r} has run when all calls are over",
        f"{name!r} never ran",
        f"{name!r} was added by event {call}, was due when an advance began, was not cancelled, "
        f"and had not run when the history ended with event {index}",
    )


def wrong_size(least: int, most: int, size: int) -> Violation:
    """Return the violation by a size that no possible set of linked entries has."""
    return TimerClause.SIZE_COUNTS_WAITING.broken(
        f"size() returns {least} to {most}",
        f"size() returned {size}",
        f"size() returned {size}, but between {least} and {most} tasks can have been waiting",
    )


def ran_too_often(name: str) -> Violation:
    """Return the violation by a task that ran and was not waiting."""
    return TimerClause.RUNS_AT_MOST_ONCE.broken(
        f"{name!r} does not run",
        f"{name!r} ran",
        f"{name!r} ran, but had run already, was cancelled, or was never added",
    )


def ran_early(name: str) -> Violation:
    """Return the violation by a task that ran and was not due, whichever of its adds was last."""
    return TimerClause.NEVER_BEFORE_DUE.broken(
        f"{name!r} waits until it is due",
        f"{name!r} ran",
        f"{name!r} ran before it was due, whatever the clock showed during its add",
    )
