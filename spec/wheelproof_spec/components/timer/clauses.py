"""What a timer is judged by, and what an implementation may declare as its limit."""

from enum import StrEnum


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
    LONG_JUMP = "Domain.LongJump"
    """An advance over millions of ticks, too slow for a wheel that turns tick by tick."""


SKIPPABLE = (
    # Without the other clauses it would not be a timer any more.
    TimerClause.RUNS_IN_ORDER,
    TimerClause.CANCEL_TELLS_THE_TRUTH,
    TimerClause.SIZE_COUNTS_WAITING,
    *TimerLimit,
)
