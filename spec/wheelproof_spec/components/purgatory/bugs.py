"""Defects of the purgatory: each class or function brings one of them back."""

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial

from wheelproof import purgatory, sync
from wheelproof.purgatory import (
    BlockingDiscipline,
    Completable,
    CompletionDiscipline,
    DelayedOperation,
    DelayedOperationPurgatory,
    ExclusiveDiscipline,
    PendingFlagDiscipline,
    Watchers,
    WatcherShard,
)
from wheelproof.purgatory.watchers import Operation
from wheelproof.sync import AtomicInteger, Lock, Monitor
from wheelproof.timer import Timer
from wheelproof_spec.base.known_bug import KnownBug, read_bugs


class NoLockDiscipline(CompletionDiscipline):
    """KAFKA-385: the predicate is tested without a lock, whoever else has one."""

    __slots__ = ()

    def __init__(self, lock: Lock | None = None) -> None:
        del lock

    def safe_try_complete(self, operation: Completable) -> bool:
        """Test the predicate, whoever else does."""
        return operation.try_complete()


class RetryOnceDiscipline(PendingFlagDiscipline):
    """KAFKA-6653, first fix: one retry, then whoever is turned away is forgotten."""

    __slots__ = ()

    def safe_try_complete(self, operation: Completable) -> bool:
        """Attempt, and once more if asked to."""
        completed, retry = self._attempt(operation)
        if retry and not operation.is_done():
            completed, _ = self._attempt(operation)
        return completed


class LateLockDiscipline(BlockingDiscipline):
    """KAFKA-8334, first fix: the lock is taken for the last check alone."""

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


def any_case(cases: Sequence[bool]) -> bool:
    """Tell whether an operation can end in any of its ways: the predicate as it has to be."""
    return any(cases)


def first_case_only(cases: Sequence[bool]) -> bool:
    """KAFKA-19567: one of the ways in which an operation can end is not asked for."""
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
        """Try everybody under the monitor."""
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
    """Kafka's walk: an operation that raises ends it, and the others are not tried."""

    __slots__ = ()

    def try_complete_watched(self) -> int:
        """Try everybody, as long as nobody raises."""
        completed = 0
        for operation in self.operations():
            if operation.is_done():
                self.remove(operation)
            elif operation.safe_try_complete():
                self.remove(operation)
                completed += 1
        return completed


class CountedWatchers(Watchers[Operation]):
    """KAFKA-664, KAFKA-1616: a hand-kept counter, which one of two ways to leave forgets."""

    __slots__ = ("_counter",)

    def __init__(self, counter: AtomicInteger) -> None:
        super().__init__()
        self._counter = counter

    def watch(self, operation: Operation) -> None:
        """Put `operation` at the end and count it."""
        super().watch(operation)
        self._counter.add_and_get(1)

    def remove(self, operation: Operation) -> None:
        """Drop `operation` and count it."""
        super().remove(operation)
        self._counter.add_and_get(-1)

    def _purge(self, operation: Operation) -> None:
        """Drop `operation`; the counter stays."""
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
    """KAFKA-2160: a key stays for ever once somebody has waited for it."""

    def _drop_if_empty(self, key: Hashable, watchers: Watchers[Operation]) -> None:
        """Keep it."""


class RemovalUnderListMonitorPurgatory(DelayedOperationPurgatory[Operation]):
    """KAFKA-2253: list's monitor, then the shard's lock; everybody else the other way round."""

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
    """One operation's error is everybody's: who stands behind it misses the trigger."""

    def _new_shard(self) -> WatcherShard[Operation]:
        return _ShardOf(WatchersStopAtError)


class LeftAtErrorPurgatory(DelayedOperationPurgatory[Operation]):
    """An operation whose second check raises stays watched, without a time-out."""

    def _withdraw(self, operation: Operation, watched: Iterable[Hashable]) -> None:
        """Leave it."""


class CancelsTimeoutOnlyPurgatory(DelayedOperationPurgatory[Operation]):
    """Kafka's cancel_for_key: cancels time-outs; a completion or the adder's tail overtakes it."""

    def _give_up(self, operation: Operation) -> bool:
        operation.cancel()
        return True


class EstimateOverwrittenPurgatory(DelayedOperationPurgatory[Operation]):
    """Kafka's purge: what was added since the two numbers were read is forgotten."""

    def _purge_is_due(self) -> bool:
        num_delayed = self.num_delayed()
        if self._estimated_total_operations.get() - num_delayed <= self._purge_interval:
            return False
        self._estimated_total_operations.set(num_delayed)
        return True

    def _recount(self, estimated: int, live: int) -> None:
        """It was set before the purge."""


class TailNotTestedOperation(DelayedOperation):
    """The tail of try_complete_else_watch without its second test (semantics.md 2.4)."""

    __slots__ = ()

    def start_timeout(self, timer: Timer) -> None:
        """Add the time-out, whatever became of the operation meanwhile."""
        timer.add(self)
        self._timeout_started.set(True)


class EagerCancelOperation(DelayedOperation):
    """Kafka's completion: it cancels a time-out that is only half added, which then stays."""

    __slots__ = ()

    def _end_timeout(self) -> None:
        self.cancel()


@dataclass(frozen=True, slots=True, kw_only=True)
class PurgatoryBug(KnownBug):
    """A defect of the purgatory, of a discipline, or of what surrounds them.

    `purgatory_class`, `operation_class`, `discipline` and `holds` are what has the defect, where it
    is theirs: the purgatory, its operations, the discipline of each operation, and how a predicate
    is made of the ways in which an operation can end. A defect of code around a purgatory is in
    `users`.
    """

    purgatory_class: type[DelayedOperationPurgatory[DelayedOperation]] = DelayedOperationPurgatory
    operation_class: type[object] = DelayedOperation
    discipline: Callable[[], CompletionDiscipline] = ExclusiveDiscipline
    holds: Callable[[Sequence[bool]], bool] = any_case


BUGS = read_bugs(__file__, "purgatory", PurgatoryBug, {**vars(purgatory), **globals()})
