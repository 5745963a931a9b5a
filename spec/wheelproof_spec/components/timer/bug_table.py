"""The known bugs of the timer."""

from dataclasses import dataclass

from wheelproof.timer import SystemTimer, TimerTaskList
from wheelproof_spec.base.known_bug import Finder, KnownBug, Sight
from wheelproof_spec.components.timer import bugs as timer


@dataclass(frozen=True, slots=True, kw_only=True)
class TimerBug(KnownBug):
    """A defect of the timer, with the timer and the bucket that have it."""

    timer_class: type[SystemTimer]
    bucket_class: type[TimerTaskList] = TimerTaskList


BUGS: tuple[TimerBug, ...] = (
    TimerBug(
        id="KAFKA-2226/stale-list",
        component="timer",
        trigger="the reaper moves an entry to another list while cancel removes it from the one "
        "that it saw",
        broken="an entry is in one list at most",
        source="KAFKA-2226",
        finders=(Finder.TLC, Finder.EXPLORE, Finder.INTERLEAVING),
        models=("MCEntryMigration_KAFKA_2226_any_list",),
        seen=(Sight.RECORDED,),
        timer_class=timer.StaleListTimer,
        bucket_class=timer.StaleListBucket,
    ),
    TimerBug(
        id="KAFKA-2226/no-cancelled-test",
        component="timer",
        trigger="a cancelled entry is re-inserted and submitted without a test",
        broken="nothing runs after a successful cancel",
        source="KAFKA-2226",
        finders=(
            Finder.TLC,
            Finder.EXPLORE,
            Finder.SEQUENTIAL,
            Finder.THREADS,
            Finder.INTERLEAVING,
        ),
        models=("MCEntryMigration_KAFKA_2226_no_test",),
        seen=(Sight.DRIVEN,),
        timer_class=timer.CancelBlindTimer,
    ),
    TimerBug(
        id="KAFKA-2112",
        component="timer",
        trigger="an adder sees the overflow wheel between its publication and its construction",
        broken="safe publication",
        source="KAFKA-2112",
        finders=(Finder.TLC, Finder.EXPLORE, Finder.INTERLEAVING),
        models=("MCOverflowWheel_KAFKA_2112",),
        seen=(Sight.RECORDED,),
        timer_class=timer.HalfBuiltOverflowTimer,
    ),
    TimerBug(
        id="entry-monitor-dropped",
        component="timer",
        trigger="two lists race for one entry",
        broken="links and counter stay consistent",
        source="semantics.md 1.13",
        finders=(Finder.TLC, Finder.EXPLORE, Finder.THREADS, Finder.INTERLEAVING),
        models=(
            "MCEntryMigration_entry_monitor_dropped",
            "MCEntryMigration_entry_monitor_dropped_links",
            "MCEntryMigration_entry_monitor_dropped_counter",
        ),
        unseen="a timer never offers one entry to two lists, so it shows on lists "
        "alone; every program of the timer passes with it",
        timer_class=timer.UnguardedEntryTimer,
        bucket_class=timer.UnguardedEntryBucket,
    ),
    TimerBug(
        id="advance-after-flush",
        component="timer",
        trigger="a bucket is flushed before the wheel's clock has moved",
        broken="flush ends",
        source="semantics.md 1.6",
        finders=(Finder.TLC, Finder.EXPLORE, Finder.SEQUENTIAL),
        models=(
            "MCTimingWheel_AdvanceAfterFlush",
            "MCEntryMigration_advance_after_flush",
            "MCSystemTimer_advance_after_flush",
        ),
        seen=(Sight.DRIVEN,),
        timer_class=timer.AdvanceAfterFlushTimer,
    ),
    TimerBug(
        id="poll-outside-lock",
        component="timer",
        trigger="an adder runs between the reaper's poll and its lock",
        broken="a due task is submitted by the end of the advance; a queued bucket keeps its key",
        source="docs/findings.md",
        finders=(Finder.TLC, Finder.EXPLORE, Finder.INTERLEAVING),
        models=(
            "MCSystemTimer_poll_outside_late",
            "MCSystemTimer_poll_outside_key",
            "MCSystemTimer_poll_outside_early",
        ),
        seen=(Sight.RECORDED,),
        timer_class=timer.PollOutsideLockTimer,
    ),
    TimerBug(
        id="test-then-submit",
        component="timer",
        trigger="a task is cancelled between the cancelled test and its submission",
        broken="nothing is submitted after its cancel has returned",
        source="docs/findings.md",
        finders=(Finder.TLC, Finder.EXPLORE, Finder.SEQUENTIAL, Finder.INTERLEAVING),
        models=("MCEntryMigration_test_then_submit",),
        seen=(Sight.DRIVEN,),
        timer_class=timer.SubmitAfterTestTimer,
    ),
    TimerBug(
        id="one-bucket",
        component="timer",
        trigger="a wheel of one bucket gets a task that lies ahead",
        broken="every add returns",
        source="docs/findings.md",
        finders=(Finder.TLC, Finder.SEQUENTIAL),
        models=("MCTimingWheel_OneBucket",),
        seen=(
            Sight.DRIVEN,
            Sight.RECORDED,
        ),
        timer_class=timer.OneBucketTimer,
    ),
)
