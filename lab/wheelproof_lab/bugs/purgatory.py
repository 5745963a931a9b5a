"""Defects of the purgatory: each class or function reintroduces one of them."""

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial

from wheelproof import sync
from wheelproof.purgatory import (
    BlockingDiscipline,
    Completable,
    CompletionDiscipline,
    DelayedOperation,
    DelayedOperationPurgatory,
    ExclusiveDiscipline,
    PendingFlagDiscipline,
    TryLockOnceDiscipline,
    Watchers,
    WatcherShard,
)
from wheelproof.purgatory.watchers import Operation
from wheelproof.sync import AtomicInteger, Lock, Monitor
from wheelproof.timer import Timer
from wheelproof_lab.bugs.known_bug import Finder, KnownBug, Sight
from wheelproof_spec.components.purgatory.variant import PurgatoryVariant, any_case


class NoLockDiscipline(CompletionDiscipline):
    """KAFKA-385: the predicate is tested without the operation's lock."""

    __slots__ = ()

    def __init__(self, lock: Lock | None = None) -> None:
        del lock

    def safe_try_complete(self, operation: Completable) -> bool:
        """Test the predicate, even while another thread tests it."""
        return operation.try_complete()


class RetryOnceDiscipline(PendingFlagDiscipline):
    """KAFKA-6653, first fix: one retry, then a caller that finds the lock taken gives up."""

    __slots__ = ()

    def safe_try_complete(self, operation: Completable) -> bool:
        """Attempt, and attempt once more if the first attempt asks for a retry."""
        completed, retry = self._attempt(operation)
        if retry and not operation.is_done():
            completed, _ = self._attempt(operation)
        return completed


class LateLockDiscipline(BlockingDiscipline):
    """KAFKA-8334, first fix: the lock is taken only for the last check."""

    __slots__ = ()

    def safe_try_complete_or_else(self, operation: Completable, action: Callable[[], None]) -> bool:
        """Attempt and watch without the lock."""
        if operation.try_complete():
            return True
        action()
        return self.safe_try_complete(operation)


def private_lock(group: Monitor) -> CompletionDiscipline:
    """KAFKA-5970, KAFKA-6042: a private lock, though the callback takes the lock of `group`."""
    del group
    return ExclusiveDiscipline()


def first_case_only(cases: Sequence[bool]) -> bool:
    """KAFKA-19567: only the first case is tested; the operation misses its other ways to end."""
    return any(cases[:1])


class _MonitoredWatchers(Watchers[Operation]):
    """Watchers whose list has a reentrant monitor."""

    __slots__ = ("_monitor",)

    def __init__(self) -> None:
        super().__init__()
        self._monitor = sync.monitor("Watchers.monitor")

    def watch(self, operation: Operation) -> None:
        """Put `operation` at the end."""
        with self._monitor:
            super().watch(operation)


class WatchersHeldWhileTrying(_MonitoredWatchers[Operation]):
    """KAFKA-3994, KAFKA-4399: the list's monitor is held while operations are tried."""

    __slots__ = ()

    def try_complete_watched(self) -> int:
        """Try every operation under the monitor."""
        with self._monitor:
            return super().try_complete_watched()


class WatchersHeldWhileRemoved(_MonitoredWatchers[Operation]):
    """KAFKA-2253, first variant: the key is removed under the list's monitor."""

    __slots__ = ()

    def drop_if_empty(self, shard: WatcherShard[Operation], key: Hashable) -> None:
        """Remove the key while the list cannot change."""
        with self._monitor:
            if self.is_empty():
                shard.remove_key_if_empty(key, self)


class WatchersStopAtError(Watchers[Operation]):
    """Kafka's walk: it stops at an operation that raises, and does not try the later ones."""

    __slots__ = ()

    def try_complete_watched(self) -> int:
        """Try the operations in order, until one of them raises."""
        completed = 0
        for operation in self.operations():
            if operation.is_done():
                self.remove(operation)
            elif operation.safe_try_complete():
                self.remove(operation)
                completed += 1
        return completed


class CountedWatchers(Watchers[Operation]):
    """KAFKA-664, KAFKA-1616: a hand-kept counter; one of two ways to leave misses it."""

    __slots__ = ("_counter",)

    def __init__(self, counter: AtomicInteger) -> None:
        super().__init__()
        self._counter = counter

    def watch(self, operation: Operation) -> None:
        """Put `operation` at the end and increment the counter."""
        super().watch(operation)
        self._counter.add_and_get(1)

    def remove(self, operation: Operation) -> None:
        """Drop `operation` and decrement the counter."""
        super().remove(operation)
        self._counter.add_and_get(-1)

    def _purge(self, operation: Operation) -> None:
        """Drop `operation` without a change of the counter."""
        super().remove(operation)


class _ShardOf(WatcherShard[Operation]):
    """A shard whose keys get watchers of another kind."""

    __slots__ = ("_make",)

    def __init__(self, make: Callable[[], Watchers[Operation]]) -> None:
        super().__init__()
        self._make = make

    def _new_watchers(self) -> Watchers[Operation]:
        return self._make()


class _GetThenAddShard(WatcherShard[Operation]):
    __slots__ = ()

    def watch(self, key: Hashable, operation: Operation) -> None:
        with self._lock:
            watchers = self._watchers_by_key.get(key)
            if watchers is None:
                watchers = self._watchers_by_key[key] = self._new_watchers()
        watchers.watch(operation)


class HandKeptCounterPurgatory(DelayedOperationPurgatory[Operation]):
    """KAFKA-664, KAFKA-1616: `watched` is a counter kept by hand."""

    def watched(self) -> int:
        """Return the counter."""
        return self._counter().get()

    def _new_shard(self) -> WatcherShard[Operation]:
        return _ShardOf(partial(CountedWatchers[Operation], self._counter()))

    def _counter(self) -> AtomicInteger:
        counter: AtomicInteger | None = getattr(self, "_kept_counter", None)
        if counter is None:
            counter = self._kept_counter = sync.atomic_integer(0, "watched, kept by hand")
        return counter


class KeepsEmptyKeysPurgatory(DelayedOperationPurgatory[Operation]):
    """KAFKA-2160: a key stays for ever once an operation has waited for it."""

    def _drop_if_empty(self, key: Hashable, watchers: Watchers[Operation]) -> None:
        """Keep the key."""


class RemovalUnderListMonitorPurgatory(DelayedOperationPurgatory[Operation]):
    """KAFKA-2253: locks the list's monitor, then the shard; other calls lock in reverse order."""

    def _new_shard(self) -> WatcherShard[Operation]:
        return _ShardOf(WatchersHeldWhileRemoved)

    def _drop_if_empty(self, key: Hashable, watchers: Watchers[Operation]) -> None:
        if isinstance(watchers, WatchersHeldWhileRemoved):
            watchers.drop_if_empty(self._shard_of(key), key)


class GetThenAddPurgatory(DelayedOperationPurgatory[Operation]):
    """KAFKA-2253: an operation is added to watchers that may have been removed by then."""

    def _new_shard(self) -> WatcherShard[Operation]:
        return _GetThenAddShard()


class HeldWhileTryingPurgatory(DelayedOperationPurgatory[Operation]):
    """KAFKA-3994, KAFKA-4399."""

    def _new_shard(self) -> WatcherShard[Operation]:
        return _ShardOf(WatchersHeldWhileTrying)


class StopAtErrorPurgatory(DelayedOperationPurgatory[Operation]):
    """When one operation raises, the operations behind it in the list miss the trigger."""

    def _new_shard(self) -> WatcherShard[Operation]:
        return _ShardOf(WatchersStopAtError)


class LeftAtErrorPurgatory(DelayedOperationPurgatory[Operation]):
    """An operation whose second check raises stays watched, without a time-out."""

    def _withdraw(self, operation: Operation, watched: Iterable[Hashable]) -> None:
        """Leave the operation watched."""


class CancelsTimeoutOnlyPurgatory(DelayedOperationPurgatory[Operation]):
    """Kafka's cancel_for_key: cancels only time-outs; a completion or a late add overtakes it."""

    def _give_up(self, operation: Operation) -> bool:
        operation.cancel()
        return True


class EstimateOverwrittenPurgatory(DelayedOperationPurgatory[Operation]):
    """Kafka's purge: its estimate loses operations that are added after the two reads."""

    def _purge_is_due(self) -> bool:
        num_delayed = self.num_delayed()
        if self._estimated_total_operations.get() - num_delayed <= self._purge_interval:
            return False
        self._estimated_total_operations.set(num_delayed)
        return True

    def _recount(self, estimated: int, live: int) -> None:
        """Do nothing: the estimate was set before the purge."""


class TailNotTestedOperation(DelayedOperation):
    """The tail of try_complete_else_watch without its second test (semantics.md 2.4)."""

    __slots__ = ()

    def start_timeout(self, timer: Timer) -> None:
        """Add the time-out, even if the operation is done by now."""
        timer.add(self)
        self._timeout_started.set(True)


class EagerCancelOperation(DelayedOperation):
    """Kafka's completion: it cancels a half-added time-out, which then stays in the timer."""

    __slots__ = ()

    def _end_timeout(self) -> None:
        self.cancel()


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
        alone="it takes an operation that raises, and those that are drawn or recorded never do",
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
        alone="it takes an operation that raises, and those that are drawn or recorded never do",
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
        source="semantics.md 2.4",
        finders=(
            Finder.EXPLORE,
            Finder.TLC,
            Finder.PROOF,
        ),
        models=("MCPurgatory_tail_not_tested",),
        seen=(Sight.RECORDED,),
    ),
)
