"""The table of known bugs: one entry each, from which docs and tests are made."""

from dataclasses import dataclass
from enum import StrEnum

from wheelproof.timer import SystemTimer, TimerTaskList
from wheelproof_spec.errors import UsageError
from wheelproof_spec.known_bugs import timer


class Finder(StrEnum):
    """An engine that finds a defect."""

    SEQUENTIAL = "fuzz, one thread"
    THREADS = "fuzz, real threads"
    EXPLORE = "model checker"
    INTERLEAVING = "scripted interleaving"
    TLC = "TLC"


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownBug:
    """A defect: what triggers it, what it breaks, and the variant that brings it back.

    `source` is the issue or paper; `models` the TLA+ models of the manifest that fail by it.
    """

    id: str
    component: str
    trigger: str
    broken: str
    source: str
    finders: tuple[Finder, ...]
    models: tuple[str, ...]
    timer_class: type[SystemTimer]
    bucket_class: type[TimerTaskList] = TimerTaskList


KNOWN_BUGS: tuple[KnownBug, ...] = (
    KnownBug(
        id="KAFKA-2226/stale-list",
        component="timer",
        trigger="the reaper moves an entry to another list while cancel removes it from the one "
        "that it saw",
        broken="an entry is in one list at most",
        source="KAFKA-2226",
        finders=(Finder.TLC, Finder.EXPLORE, Finder.INTERLEAVING),
        models=("MCEntryMigration_KAFKA_2226_any_list",),
        timer_class=timer.StaleListTimer,
        bucket_class=timer.StaleListBucket,
    ),
    KnownBug(
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
        timer_class=timer.CancelBlindTimer,
    ),
    KnownBug(
        id="KAFKA-2112",
        component="timer",
        trigger="an adder sees the overflow wheel between its publication and its construction",
        broken="safe publication",
        source="KAFKA-2112",
        finders=(Finder.TLC, Finder.EXPLORE, Finder.INTERLEAVING),
        models=("MCOverflowWheel_KAFKA_2112",),
        timer_class=timer.HalfBuiltOverflowTimer,
    ),
    KnownBug(
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
        timer_class=timer.UnguardedEntryTimer,
        bucket_class=timer.UnguardedEntryBucket,
    ),
    KnownBug(
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
        timer_class=timer.AdvanceAfterFlushTimer,
    ),
    KnownBug(
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
        timer_class=timer.PollOutsideLockTimer,
    ),
    KnownBug(
        id="test-then-submit",
        component="timer",
        trigger="a task is cancelled between the cancelled test and its submission",
        broken="nothing is submitted after its cancel has returned",
        source="docs/findings.md",
        finders=(Finder.TLC, Finder.EXPLORE, Finder.SEQUENTIAL, Finder.INTERLEAVING),
        models=("MCEntryMigration_test_then_submit",),
        timer_class=timer.SubmitAfterTestTimer,
    ),
    KnownBug(
        id="one-bucket",
        component="timer",
        trigger="a wheel of one bucket gets a task that lies ahead",
        broken="every add returns",
        source="docs/findings.md",
        finders=(Finder.TLC, Finder.SEQUENTIAL),
        models=("MCTimingWheel_OneBucket",),
        timer_class=timer.OneBucketTimer,
    ),
)


def find_known_bug(bug_id: str) -> KnownBug:
    """Return the entry of this id.

    Raises UsageError, which names the ids there are, if there is none.
    """
    for bug in KNOWN_BUGS:
        if bug.id == bug_id:
            return bug
    known = ", ".join(bug.id for bug in KNOWN_BUGS)
    raise UsageError(f"no known bug {bug_id!r}; there are: {known}")
