"""Variants of the purgatory and of what is around it: each brings a real defect back."""

import sys
from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import partial
from traceback import walk_tb

from wheelproof import sync
from wheelproof.errors import TimerClosedError
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
from wheelproof.timer.system_timer_reaper import WORK_TIMEOUT_MS


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


class LeftAtRefusalPurgatory(DelayedOperationPurgatory[Operation]):
    """An operation that its timer does not take stays watched, pending, and without a time-out."""

    def _withdraw(self, operation: Operation, watched: Iterable[Hashable]) -> None:
        error = sys.exception()
        frames = walk_tb(None if error is None else error.__traceback__)
        if any(frame.f_code.co_name == self._add_to_timer.__name__ for frame, _ in frames):
            return
        super()._withdraw(operation, watched)


class EndingReaperPurgatory(DelayedOperationPurgatory[Operation]):
    """Kafka's reaper: any error of an advance ends it, and the purgatory goes on to watch."""

    def _reap(self) -> None:
        try:
            while True:
                self.advance_clock(WORK_TIMEOUT_MS)
        except TimerClosedError:
            return


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
    """The tail of try_complete_else_watch without its second test (standard 2.4)."""

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
