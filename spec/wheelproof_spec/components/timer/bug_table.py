"""The known bugs of the timer."""

from dataclasses import dataclass

from wheelproof.timer import SystemTimer, TimerTaskList
from wheelproof_spec.base.known_bug import KnownBug, read_bugs
from wheelproof_spec.components.timer import bugs


@dataclass(frozen=True, slots=True, kw_only=True)
class TimerBug(KnownBug):
    """A defect of the timer, with the timer and the bucket that have it."""

    timer_class: type[SystemTimer] = SystemTimer
    bucket_class: type[TimerTaskList] = TimerTaskList


BUGS = read_bugs(
    __file__,
    "timer",
    TimerBug,
    {
        "KAFKA-2226/stale-list": {
            "timer_class": bugs.StaleListTimer,
            "bucket_class": bugs.StaleListBucket,
        },
        "KAFKA-2226/no-cancelled-test": {"timer_class": bugs.CancelBlindTimer},
        "KAFKA-2112": {"timer_class": bugs.HalfBuiltOverflowTimer},
        "entry-monitor-dropped": {
            "timer_class": bugs.UnguardedEntryTimer,
            "bucket_class": bugs.UnguardedEntryBucket,
        },
        "advance-after-flush": {"timer_class": bugs.AdvanceAfterFlushTimer},
        "poll-outside-lock": {"timer_class": bugs.PollOutsideLockTimer},
        "test-then-submit": {"timer_class": bugs.SubmitAfterTestTimer},
        "one-bucket": {"timer_class": bugs.OneBucketTimer},
    },
)
