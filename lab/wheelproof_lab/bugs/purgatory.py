"""Defects of the purgatory: what is said of each, and the variant that brings it back."""

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
from wheelproof_lab.bugs.known_bug import Finder, KnownBug, Sight
from wheelproof_lab.bugs.purgatory_variants import (
    CancelsTimeoutOnlyPurgatory,
    EagerCancelOperation,
    EndingReaperPurgatory,
    EstimateOverwrittenPurgatory,
    GetThenAddPurgatory,
    HandKeptCounterPurgatory,
    HeldWhileTryingPurgatory,
    KeepsEmptyKeysPurgatory,
    LateLockDiscipline,
    LeftAtErrorPurgatory,
    LeftAtRefusalPurgatory,
    NoLockDiscipline,
    RemovalUnderListMonitorPurgatory,
    RetryOnceDiscipline,
    StopAtErrorPurgatory,
    TailNotTestedOperation,
    first_case_only,
)
from wheelproof_spec.components.purgatory.port import any_case
from wheelproof_spec.components.purgatory.reference import PurgatoryVariant


@dataclass(frozen=True, slots=True, kw_only=True)
class PurgatoryBug(KnownBug):
    """A defect of the purgatory, of a discipline, or of the code around them.

    One of `purgatory_class`, `operation_class`, `discipline` and `holds` may have the defect: the
    class of the purgatory, the class of its operations, the discipline of each operation, and the
    function that makes a predicate from the cases in which an operation can end. A defect of the
    code around a purgatory is in `users`.
    """

    purgatory_class: type[DelayedOperationPurgatory[DelayedOperation]] = DelayedOperationPurgatory
    operation_class: type[object] = DelayedOperation
    discipline: Callable[[], CompletionDiscipline] = ExclusiveDiscipline
    holds: Callable[[Sequence[bool]], bool] = any_case

    def variant(self) -> PurgatoryVariant:
        """Return what `wheelproof fuzz` takes in the place of the reference's."""
        return PurgatoryVariant(
            purgatory_class=self.purgatory_class, discipline=self.discipline, holds=self.holds
        )


BUGS: tuple[PurgatoryBug, ...] = (
    PurgatoryBug(
        id="KAFKA-385",
        component="purgatory",
        discipline=NoLockDiscipline,
        trigger="two threads test the predicate of one operation at the same time",
        broken="the test of the predicate is exclusive",
        source="KAFKA-385",
        finders=(
            Finder.EXPLORE,
            Finder.TLC,
            Finder.PROOF,
        ),
        models=("MCMaybeTryComplete_KAFKA_385",),
        seen=(Sight.RECORDED,),
    ),
    PurgatoryBug(
        id="KAFKA-664",
        component="purgatory",
        purgatory_class=HandKeptCounterPurgatory,
        trigger="operations leave the lists by a purge, which a hand-kept counter does not see",
        broken="the gauges equal the contents",
        source="KAFKA-664, KAFKA-1616",
        finders=(Finder.SEQUENTIAL,),
        seen=(Sight.DRIVEN,),
    ),
    PurgatoryBug(
        id="KAFKA-2160",
        component="purgatory",
        purgatory_class=KeepsEmptyKeysPurgatory,
        trigger="the last operation of a key leaves",
        broken="a key without operations is removed",
        source="KAFKA-2160",
        finders=(
            Finder.SEQUENTIAL,
            Finder.TLC,
        ),
        models=("MCPurgatory_KAFKA_2160",),
        seen=(Sight.DRIVEN,),
    ),
    PurgatoryBug(
        id="KAFKA-2253/list-then-map",
        component="purgatory",
        purgatory_class=RemovalUnderListMonitorPurgatory,
        trigger="a key is removed under its list's monitor while an operation is watched there",
        broken="no deadlock: the map's lock comes before the list's",
        source="KAFKA-2253",
        finders=(
            Finder.EXPLORE,
            Finder.TLC,
        ),
        models=("MCLockOrder_KAFKA_2253",),
        seen=(Sight.RECORDED,),
    ),
    PurgatoryBug(
        id="KAFKA-2253/get-then-add",
        component="purgatory",
        purgatory_class=GetThenAddPurgatory,
        trigger="a key is removed between the look-up of its watchers and the add to them",
        broken="a watched operation can be reached by its key",
        source="KAFKA-2253",
        finders=(
            Finder.EXPLORE,
            Finder.TLC,
        ),
        models=("MCPurgatory_KAFKA_2253_get_then_add",),
        seen=(Sight.RECORDED,),
    ),
    PurgatoryBug(
        id="KAFKA-3994",
        component="purgatory",
        purgatory_class=HeldWhileTryingPurgatory,
        trigger=(
            "the list's monitor is held while its operations are tried, which takes a group's "
            "lock; the group watches under that lock"
        ),
        broken="no deadlock",
        source="KAFKA-3994, KAFKA-4399",
        finders=(
            Finder.EXPLORE,
            Finder.TLC,
        ),
        models=("MCLockOrder_KAFKA_3994",),
        seen=(Sight.RECORDED,),
    ),
    PurgatoryBug(
        id="KAFKA-5970",
        component="purgatory",
        trigger="a group triggers under its lock; the callback takes it under the operation's",
        broken="no deadlock",
        source="KAFKA-5970",
        finders=(
            Finder.EXPLORE,
            Finder.TLC,
        ),
        models=("MCLockOrder_KAFKA_5970",),
        seen=(Sight.RECORDED,),
    ),
    PurgatoryBug(
        id="KAFKA-6042",
        component="purgatory",
        trigger="two groups trigger under their locks, and each callback takes the other's",
        broken="no deadlock",
        source="KAFKA-6042",
        finders=(
            Finder.EXPLORE,
            Finder.TLC,
        ),
        models=("MCLockOrder_KAFKA_6042",),
        seen=(Sight.RECORDED,),
    ),
    PurgatoryBug(
        id="KAFKA-6653",
        component="purgatory",
        discipline=TryLockOnceDiscipline,
        trigger=(
            "the holder of the lock has tested too early; a trigger finds the lock taken and "
            "gives up"
        ),
        broken="every trigger is followed by a test that began after it",
        source="KAFKA-6653",
        finders=(
            Finder.EXPLORE,
            Finder.TLC,
            Finder.PROOF,
        ),
        models=("MCMaybeTryComplete_KAFKA_6653",),
        seen=(Sight.RECORDED,),
    ),
    PurgatoryBug(
        id="KAFKA-6653/first-fix",
        component="purgatory",
        discipline=RetryOnceDiscipline,
        trigger="the same, twice in a row: there is one retry only",
        broken="every trigger is followed by a test that began after it",
        source="KAFKA-6653, pull request 4704",
        finders=(
            Finder.EXPLORE,
            Finder.TLC,
            Finder.PROOF,
        ),
        models=("MCMaybeTryComplete_KAFKA_6653_first_fix",),
        seen=(Sight.RECORDED,),
    ),
    PurgatoryBug(
        id="KAFKA-7697",
        component="purgatory",
        trigger=(
            "appends trigger under the read side of their partitions' locks, for which writers wait"
        ),
        broken="no deadlock",
        source="KAFKA-7697",
        finders=(
            Finder.EXPLORE,
            Finder.TLC,
        ),
        models=("MCLockOrder_KAFKA_7697",),
        seen=(Sight.RECORDED,),
    ),
    PurgatoryBug(
        id="KAFKA-8334",
        component="purgatory",
        discipline=PendingFlagDiscipline,
        trigger="a trigger meets a holder of the operation's lock who is not there to complete it",
        broken="every trigger is followed by a test that began after it",
        source="KAFKA-8334",
        finders=(
            Finder.EXPLORE,
            Finder.TLC,
            Finder.PROOF,
        ),
        models=("MCMaybeTryComplete_KAFKA_8334",),
        seen=(Sight.RECORDED,),
    ),
    PurgatoryBug(
        id="KAFKA-8334/first-fix",
        component="purgatory",
        discipline=LateLockDiscipline,
        trigger=(
            "an operation is watched under a read lock, without its own lock; a trigger holds "
            "its lock and waits for the read lock behind a writer"
        ),
        broken="no deadlock",
        source="KAFKA-8334, pull request 8657",
        finders=(
            Finder.EXPLORE,
            Finder.TLC,
        ),
        models=("MCLockOrder_KAFKA_8334_first_fix",),
        seen=(Sight.RECORDED,),
    ),
    PurgatoryBug(
        id="KAFKA-19312",
        component="purgatory",
        discipline=BlockingDiscipline,
        trigger="an operation expires while its predicate is tested",
        broken="try_complete and on_complete exclude each other",
        source="KAFKA-19312, KAFKA-17948",
        finders=(
            Finder.EXPLORE,
            Finder.TLC,
            Finder.PROOF,
        ),
        models=(
            "MCMaybeTryComplete_monitor_overlap",
            "MCMaybeTryComplete_try_lock_once_overlap",
            "MCMaybeTryComplete_try_lock_pending_overlap",
            "MCMaybeTryComplete_blocking_overlap",
            "MCPurgatory_KAFKA_19312",
        ),
        seen=(Sight.RECORDED,),
    ),
    PurgatoryBug(
        id="KAFKA-19567",
        component="purgatory",
        holds=first_case_only,
        trigger="an operation can end in a way that its predicate does not ask for",
        broken="a trigger after which the operation can end completes it",
        source="KAFKA-19567",
        finders=(Finder.SEQUENTIAL,),
        seen=(Sight.DRIVEN,),
        alone=(
            "it is in an operation's own predicate: who calls finds it, in whatever order "
            "threads come"
        ),
    ),
    PurgatoryBug(
        id="stop-at-error",
        component="purgatory",
        purgatory_class=StopAtErrorPurgatory,
        trigger="an operation that raises stands before another one in a list",
        broken="a trigger reaches every operation of its key",
        source="docs/findings.md",
        finders=(Finder.EXPLORE,),
        seen=(Sight.RECORDED,),
        alone="only an operation that raises shows it; in random and recorded calls none does",
    ),
    PurgatoryBug(
        id="left-at-error",
        component="purgatory",
        purgatory_class=LeftAtErrorPurgatory,
        trigger="an operation raises in its second check, when it is watched",
        broken="a call that ends in an error leaves nothing behind",
        source="docs/findings.md",
        finders=(Finder.EXPLORE,),
        seen=(Sight.RECORDED,),
        alone="only an operation that raises shows it; in random and recorded calls none does",
    ),
    PurgatoryBug(
        id="left-at-refusal",
        component="purgatory",
        purgatory_class=LeftAtRefusalPurgatory,
        trigger="the timer raises as it is given the time-out of an operation",
        broken="a call that ends in an error leaves nothing behind",
        source="standard 6.4",
        finders=(Finder.EXPLORE,),
        unseen="only a timer that raises shows it; in driven and recorded calls none does",
        alone="only a timer that raises shows it; in random calls none does",
    ),
    PurgatoryBug(
        id="reaper-ends-at-error/purgatory",
        component="purgatory",
        purgatory_class=EndingReaperPurgatory,
        trigger="an advance of the purgatory's own thread raises",
        broken="an operation that is watched afterwards expires",
        source="standard 6.3",
        finders=(Finder.EXPLORE,),
        unseen="only an advance that raises shows it; in driven and recorded calls none does",
        alone="only an advance that raises shows it; in random calls none does",
    ),
    PurgatoryBug(
        id="cancels-timeout-only",
        component="purgatory",
        purgatory_class=CancelsTimeoutOnlyPurgatory,
        trigger="a key is cancelled while its operation is being added to the timer, or expires",
        broken="an operation that cancel_for_key returned is not completed",
        source="docs/findings.md",
        finders=(
            Finder.EXPLORE,
            Finder.SEQUENTIAL,
            Finder.THREADS,
            Finder.TLC,
            Finder.PROOF,
        ),
        models=(
            "MCPurgatory_cancels_timeout_only",
            "MCPurgatory_cancels_timeout_only_stuck",
        ),
        seen=(Sight.DRIVEN,),
    ),
    PurgatoryBug(
        id="estimate-overwritten",
        component="purgatory",
        purgatory_class=EstimateOverwrittenPurgatory,
        trigger=(
            "operations come while the reaper decides to purge, and are completed afterwards; or "
            "they expire together, and leave the timer before they are completed"
        ),
        broken="not more than purge_interval operations that are done stay in the lists",
        source="docs/findings.md",
        finders=(
            Finder.EXPLORE,
            Finder.SEQUENTIAL,
            Finder.TLC,
        ),
        models=(
            "MCPurgatory_estimate_overwritten",
            "MCPurgatory_estimate_overwritten_garbage",
        ),
        seen=(Sight.DRIVEN,),
    ),
    PurgatoryBug(
        id="timeout-half-added",
        component="purgatory",
        operation_class=EagerCancelOperation,
        trigger="an operation is completed between the binding and the linking of its timer entry",
        broken="what is completed does not stay in the timer",
        source="docs/findings.md",
        finders=(Finder.EXPLORE,),
        seen=(Sight.RECORDED,),
    ),
    PurgatoryBug(
        id="tail-not-tested",
        component="purgatory",
        operation_class=TailNotTestedOperation,
        trigger="an operation is completed between the last test and the add to the timer",
        broken="what is completed does not stay in the timer",
        source="standard 2.4",
        finders=(
            Finder.EXPLORE,
            Finder.TLC,
            Finder.PROOF,
        ),
        models=("MCPurgatory_tail_not_tested",),
        seen=(Sight.RECORDED,),
    ),
)
