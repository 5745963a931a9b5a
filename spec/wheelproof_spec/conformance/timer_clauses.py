"""What a timer is judged by, and what an implementation may declare as its limit."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from wheelproof_spec.errors import InputRejectedError


class TimerClause(StrEnum):
    """A clause of the contract; a violation names it as its rule."""

    RUNS_AT_MOST_ONCE = "Timer.RunsAtMostOncePerAdd"
    NEVER_BEFORE_DUE = "Timer.NeverBeforeItIsDue"
    RUNS_IN_ORDER = "Timer.RunsInOrderOfDueTime"
    NOTHING_LEFT_BEHIND = "Timer.NothingDueIsLeftBehind"
    CANCEL_TELLS_THE_TRUTH = "Timer.CancelTellsTheTruth"
    SIZE_COUNTS_WAITING = "Timer.SizeCountsWaitingTasks"
    ACCEPTS_ITS_DOMAIN = "Timer.AcceptsItsDomain"


class TimerLimit(StrEnum):
    """A part of the domain that is known to be too much for some implementations."""

    ONE_BUCKET = "Domain.WheelOfOneBucket"
    NEGATIVE_DELAY = "Domain.NegativeDelay"
    LONGEST_DELAY = "Domain.LongestDelay"


Skippable = TimerClause | TimerLimit

_SKIPPABLE: dict[str, Skippable] = {
    # Without the other clauses it would not be a timer any more.
    TimerClause.RUNS_IN_ORDER: TimerClause.RUNS_IN_ORDER,
    TimerClause.CANCEL_TELLS_THE_TRUTH: TimerClause.CANCEL_TELLS_THE_TRUTH,
    TimerClause.SIZE_COUNTS_WAITING: TimerClause.SIZE_COUNTS_WAITING,
    **{limit: limit for limit in TimerLimit},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownLimit:
    """A clause, or a part of the domain, that an implementation is not judged by, and why."""

    clause: Skippable
    reason: str


def read_known_limits(path: Path) -> tuple[KnownLimit, ...]:
    """Read a file of known limits: one a line, the clause and then the reason.

    Empty lines and lines that begin with `#` are comments. Raises InputRejectedError.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        problem = f"cannot be read ({error.strerror})"
        raise InputRejectedError(str(path), None, problem, "name a file of known limits") from error
    except UnicodeDecodeError as error:
        raise InputRejectedError(str(path), None, "is not UTF-8", "save it as UTF-8") from error
    limits: dict[Skippable, KnownLimit] = {}
    for number, line in enumerate(lines, start=1):
        if line.strip() and not line.lstrip().startswith("#"):
            limit = _parse(str(path), number, line)
            if limit.clause in limits:
                problem = f"{limit.clause} is named twice"
                raise InputRejectedError(str(path), number, problem, "remove one of the two")
            limits[limit.clause] = limit
    return tuple(limits.values())


def skips(limits: Sequence[KnownLimit], clause: Skippable) -> bool:
    """Tell whether `clause` is among the known limits."""
    return any(limit.clause == clause for limit in limits)


def _parse(source: str, number: int, line: str) -> KnownLimit:
    name, *reason = line.split(maxsplit=1)
    clause = _SKIPPABLE.get(name)
    if clause is None:
        remedy = f"use one of {', '.join(_SKIPPABLE)}"
        raise InputRejectedError(source, number, f"{name!r} cannot be skipped", remedy)
    if not reason:
        problem = f"{name} is skipped without a reason"
        raise InputRejectedError(source, number, problem, "write the reason behind it")
    return KnownLimit(clause=clause, reason=reason[0].strip())
