"""The known bugs of the purgatory."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from wheelproof.purgatory import (
    BlockingDiscipline,
    CompletionDiscipline,
    DelayedOperation,
    DelayedOperationPurgatory,
    ExclusiveDiscipline,
    PendingFlagDiscipline,
    TryLockOnceDiscipline,
)
from wheelproof_spec.base.known_bug import Finder, KnownBug, Sight
from wheelproof_spec.components.purgatory import bugs as purgatory


@dataclass(frozen=True, slots=True, kw_only=True)
class PurgatoryBug(KnownBug):
    """A defect of the purgatory, of a discipline, or of what surrounds them.

    `purgatory_class`, `discipline` and `holds` are what has the defect, where it is theirs: the
    purgatory, the discipline of each operation, and how a predicate is made of the ways in which
    an operation can end. A defect of code around a purgatory is in `purgatory_users`.
    """

    purgatory_class: type[DelayedOperationPurgatory[DelayedOperation]] = DelayedOperationPurgatory
    discipline: Callable[[], CompletionDiscipline] = ExclusiveDiscipline
    holds: Callable[[Sequence[bool]], bool] = any


_FINDINGS = "docs/findings.md"

BUGS: tuple[PurgatoryBug, ...] = (
    PurgatoryBug(
        id="KAFKA-385",
        component="purgatory",
        trigger="two threads test the predicate of one operation at the same time",
        broken="the test of the predicate is exclusive",
        source="KAFKA-385",
        finders=(Finder.EXPLORE, Finder.TLC),
        models=("MCMaybeTryComplete_KAFKA_385",),
        seen=(Sight.RECORDED,),
        discipline=purgatory.NoLockDiscipline,
    ),
    PurgatoryBug(
        id="KAFKA-664",
        component="purgatory",
        trigger="operations leave the lists by a purge, which a hand-kept counter does not see",
        broken="the gauges equal the contents",
        source="KAFKA-664, KAFKA-1616",
        finders=(Finder.SEQUENTIAL,),
        models=(),
        seen=(Sight.DRIVEN,),
        purgatory_class=purgatory.HandKeptCounterPurgatory,
    ),
    PurgatoryBug(
        id="KAFKA-2160",
        component="purgatory",
        trigger="the last operation of a key leaves",
        broken="a key without operations is removed",
        source="KAFKA-2160",
        finders=(Finder.SEQUENTIAL, Finder.TLC),
        models=("MCPurgatory_KAFKA_2160",),
        seen=(Sight.DRIVEN,),
        purgatory_class=purgatory.KeepsEmptyKeysPurgatory,
    ),
    PurgatoryBug(
        id="KAFKA-2253/list-then-map",
        component="purgatory",
        trigger="a key is removed under its list's monitor while an operation is watched there",
        broken="no deadlock: the map's lock comes before the list's",
        source="KAFKA-2253",
        finders=(Finder.EXPLORE, Finder.TLC),
        models=("MCLockOrder_KAFKA_2253",),
        seen=(Sight.RECORDED,),
        purgatory_class=purgatory.RemovalUnderListMonitorPurgatory,
    ),
    PurgatoryBug(
        id="KAFKA-2253/get-then-add",
        component="purgatory",
        trigger="a key is removed between the look-up of its watchers and the add to them",
        broken="a watched operation can be reached by its key",
        source="KAFKA-2253",
        finders=(Finder.EXPLORE, Finder.TLC),
        models=("MCPurgatory_KAFKA_2253_get_then_add",),
        seen=(Sight.RECORDED,),
        purgatory_class=purgatory.GetThenAddPurgatory,
    ),
    PurgatoryBug(
        id="KAFKA-3994",
        component="purgatory",
        trigger="the list's monitor is held while its operations are tried, which takes a group's "
        "lock; the group watches under that lock",
        broken="no deadlock",
        source="KAFKA-3994, KAFKA-4399",
        finders=(Finder.EXPLORE, Finder.TLC),
        models=("MCLockOrder_KAFKA_3994",),
        seen=(Sight.RECORDED,),
        purgatory_class=purgatory.HeldWhileTryingPurgatory,
    ),
    PurgatoryBug(
        id="KAFKA-5970",
        component="purgatory",
        trigger="a group triggers under its lock; the callback takes it under the operation's",
        broken="no deadlock",
        source="KAFKA-5970",
        finders=(Finder.EXPLORE, Finder.TLC),
        models=("MCLockOrder_KAFKA_5970",),
        seen=(Sight.RECORDED,),
    ),
    PurgatoryBug(
        id="KAFKA-6042",
        component="purgatory",
        trigger="two groups trigger under their locks, and each callback takes the other's",
        broken="no deadlock",
        source="KAFKA-6042",
        finders=(Finder.EXPLORE, Finder.TLC),
        models=("MCLockOrder_KAFKA_6042",),
        seen=(Sight.RECORDED,),
    ),
    PurgatoryBug(
        id="KAFKA-6653",
        component="purgatory",
        trigger="the holder of the lock has tested too early; a trigger finds the lock taken and "
        "gives up",
        broken="every trigger is followed by a test that began after it",
        source="KAFKA-6653",
        finders=(Finder.EXPLORE, Finder.TLC),
        models=("MCMaybeTryComplete_KAFKA_6653",),
        seen=(Sight.RECORDED,),
        discipline=TryLockOnceDiscipline,
    ),
    PurgatoryBug(
        id="KAFKA-6653/first-fix",
        component="purgatory",
        trigger="the same, twice in a row: there is one retry only",
        broken="every trigger is followed by a test that began after it",
        source="KAFKA-6653, pull request 4704",
        finders=(Finder.EXPLORE, Finder.TLC),
        models=("MCMaybeTryComplete_KAFKA_6653_first_fix",),
        seen=(Sight.RECORDED,),
        discipline=purgatory.RetryOnceDiscipline,
    ),
    PurgatoryBug(
        id="KAFKA-7697",
        component="purgatory",
        trigger="appends trigger under the read side of their partitions' locks, for which writers "
        "wait",
        broken="no deadlock",
        source="KAFKA-7697",
        finders=(Finder.EXPLORE, Finder.TLC),
        models=("MCLockOrder_KAFKA_7697",),
        seen=(Sight.RECORDED,),
    ),
    PurgatoryBug(
        id="KAFKA-8334",
        component="purgatory",
        trigger="a trigger meets a holder of the operation's lock who is not there to complete it",
        broken="every trigger is followed by a test that began after it",
        source="KAFKA-8334",
        finders=(Finder.EXPLORE, Finder.TLC),
        models=("MCMaybeTryComplete_KAFKA_8334",),
        seen=(Sight.RECORDED,),
        discipline=PendingFlagDiscipline,
    ),
    PurgatoryBug(
        id="KAFKA-8334/first-fix",
        component="purgatory",
        trigger="an operation is watched under a read lock, without its own lock; a trigger holds "
        "its lock and waits for the read lock behind a writer",
        broken="no deadlock",
        source="KAFKA-8334, pull request 8657",
        finders=(Finder.EXPLORE, Finder.TLC),
        models=("MCLockOrder_KAFKA_8334_first_fix",),
        seen=(Sight.RECORDED,),
        discipline=purgatory.LateLockDiscipline,
    ),
    PurgatoryBug(
        id="KAFKA-19312",
        component="purgatory",
        trigger="an operation expires while its predicate is tested",
        broken="try_complete and on_complete exclude each other",
        source="KAFKA-19312, KAFKA-17948",
        finders=(Finder.EXPLORE, Finder.TLC),
        models=(
            "MCMaybeTryComplete_monitor_overlap",
            "MCMaybeTryComplete_try_lock_once_overlap",
            "MCMaybeTryComplete_try_lock_pending_overlap",
            "MCMaybeTryComplete_blocking_overlap",
            "MCPurgatory_KAFKA_19312",
        ),
        seen=(Sight.RECORDED,),
        discipline=BlockingDiscipline,
    ),
    PurgatoryBug(
        id="KAFKA-19567",
        component="purgatory",
        trigger="an operation can end in a way that its predicate does not ask for",
        broken="a trigger after which the operation can end completes it",
        source="KAFKA-19567",
        finders=(Finder.SEQUENTIAL,),
        models=(),
        seen=(Sight.DRIVEN,),
        holds=purgatory.first_case_only,
    ),
    PurgatoryBug(
        id="stop-at-error",
        component="purgatory",
        trigger="an operation that raises stands before another one in a list",
        broken="a trigger reaches every operation of its key",
        source=_FINDINGS,
        finders=(Finder.EXPLORE,),
        models=(),
        seen=(Sight.RECORDED,),
        purgatory_class=purgatory.StopAtErrorPurgatory,
    ),
    PurgatoryBug(
        id="left-at-error",
        component="purgatory",
        trigger="an operation raises in its second check, when it is watched",
        broken="a call that ends in an error leaves nothing behind",
        source=_FINDINGS,
        finders=(Finder.EXPLORE,),
        models=(),
        seen=(Sight.RECORDED,),
        purgatory_class=purgatory.LeftAtErrorPurgatory,
    ),
    PurgatoryBug(
        id="cancels-timeout-only",
        component="purgatory",
        trigger="a key is cancelled while its operation is being added to the timer, or expires",
        broken="an operation that cancel_for_key returned is not completed",
        source=_FINDINGS,
        finders=(Finder.EXPLORE, Finder.SEQUENTIAL, Finder.THREADS, Finder.TLC),
        models=("MCPurgatory_cancels_timeout_only", "MCPurgatory_cancels_timeout_only_stuck"),
        seen=(Sight.DRIVEN,),
        purgatory_class=purgatory.CancelsTimeoutOnlyPurgatory,
    ),
    PurgatoryBug(
        id="estimate-overwritten",
        component="purgatory",
        trigger="operations come while the reaper decides to purge, and are completed afterwards; "
        "or they expire together, and leave the timer before they are completed",
        broken="not more than purge_interval operations that are done stay in the lists",
        source=_FINDINGS,
        finders=(Finder.EXPLORE, Finder.SEQUENTIAL, Finder.TLC),
        models=("MCPurgatory_estimate_overwritten", "MCPurgatory_estimate_overwritten_garbage"),
        seen=(Sight.DRIVEN,),
        purgatory_class=purgatory.EstimateOverwrittenPurgatory,
    ),
    PurgatoryBug(
        id="timeout-half-added",
        component="purgatory",
        trigger="an operation is completed between the binding and the linking of its timer entry",
        broken="what is completed does not stay in the timer",
        source=_FINDINGS,
        finders=(Finder.EXPLORE,),
        models=(),
        seen=(Sight.RECORDED,),
    ),
    PurgatoryBug(
        id="tail-not-tested",
        component="purgatory",
        trigger="an operation is completed between the last test and the add to the timer",
        broken="what is completed does not stay in the timer",
        source="semantics.md 2.4",
        finders=(Finder.EXPLORE, Finder.TLC),
        models=("MCPurgatory_tail_not_tested",),
        seen=(Sight.RECORDED,),
    ),
)
