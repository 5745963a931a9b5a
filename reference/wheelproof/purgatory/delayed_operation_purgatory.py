"""Where operations wait: watched under keys, and in a timer for their time-outs.

A broker has hundreds of thousands of requests that wait. Each event concerns few of them, those
under one key; and most are done long before their time-out, so leaving has to be as cheap as
coming.

>>> from wheelproof.clock import ManualClock
>>> from wheelproof.purgatory import DelayedOperationPurgatory
>>> from wheelproof.sync import DeferredExecutor
>>> from wheelproof.timer import SystemTimer
>>> from wheelproof.purgatory import DelayedOperation
>>> class Request(DelayedOperation):
...     ready = False
...     def try_complete(self) -> bool:
...         return self.ready and self.force_complete()
...     def on_complete(self) -> None:
...         print("answered")
...     def on_expiration(self) -> None:
...         print("too late")
>>> clock, executor = ManualClock(), DeferredExecutor()
>>> timer = SystemTimer("example", clock=clock, executor=executor)
>>> purgatory = DelayedOperationPurgatory[Request]("example", timer, reaper_enabled=False)
>>> first, second = Request(1_000), Request(1_000)
>>> purgatory.try_complete_else_watch(first, ["payments-0"])
False
>>> purgatory.try_complete_else_watch(second, ["orders-0"])
False
>>> purgatory
DelayedOperationPurgatory('example', num_delayed=2)
>>> first.ready = True
>>> purgatory.check_and_complete("payments-0")
answered
1
>>> clock.advance(1_000)
>>> purgatory.advance_clock(0)
True
>>> executor.run_pending()
answered
too late
1

Invariants:

- Whoever is watched under a key and pending is found by a trigger of that key that begins later.
- A predicate that becomes true after the watch is tested again: by its trigger, or by the adder.
- An operation is in the timer only while it is pending, or while its adder is about to cancel it.
- At most `purge_interval` operations that are done stay in the lists behind a pass of the reaper.
"""

from collections.abc import Hashable, Iterable
from typing import Annotated, Generic
from weakref import WeakKeyDictionary

from wheelproof import sync
from wheelproof.closing import Closing
from wheelproof.domain import require_integer
from wheelproof.errors import IllegalArgumentError, PurgatoryClosedError, TimerClosedError
from wheelproof.purgatory.watchers import Operation, Watchers, WatcherShard
from wheelproof.sync import GuardedBy
from wheelproof.timer import Timer
from wheelproof.timer.system_timer_reaper import reap

DEFAULT_PURGE_INTERVAL = 1_000
"""How many operations that are done may be left in watch lists: a count (standard 2.10)."""
DEFAULT_SHARDS = 512
"""How many parts the keys are divided into, each with a lock of its own; Kafka's number."""


class DelayedOperationPurgatory(Closing, Generic[Operation]):
    """Keeps operations until a trigger or their time-out completes them.

    A thread that makes a predicate true calls `check_and_complete` for its key afterwards, without
    an exclusive lock. Lock order: operation, shard, task, list, entry (standard 2.12).
    TLA+: Purgatory.
    """

    def __init__(
        self,
        purgatory_name: str,
        timer: Timer,
        *,
        purge_interval: int = DEFAULT_PURGE_INTERVAL,
        shards: int = DEFAULT_SHARDS,
        reaper_enabled: bool = True,
        timer_enabled: bool = True,
    ) -> None:
        """Make an empty purgatory whose time-outs run on `timer`, which it owns and closes.

        Nobody else may add to that timer: the purge counts by its size who still waits, so done
        operations would stay in the lists for other people's tasks (standard 2.10).

        With `reaper_enabled` a thread of its own advances the timer and purges; without it, callers
        do so by `advance_clock`. Without `timer_enabled` operations never expire.

        Raises IllegalArgumentError for a purge interval below 0, for less than one shard, and for
        a timer that another purgatory owns.
        """
        self._purge_interval = require_integer("purge_interval", purge_interval, 0)
        self._num_shards = require_integer("shards", shards, 1)
        # Last of what can be refused: a purgatory that is not made owns no timer.
        _take(timer)
        self._timer = timer
        self._timer_enabled = timer_enabled
        # Shard i has the keys whose hash is i modulo the number of shards; made when it is needed.
        # It has no lock: `get` and `setdefault` of a dictionary are one step of the interpreter.
        self._shards: Annotated[
            dict[int, WatcherShard[Operation]], GuardedBy("a step of the interpreter")
        ] = {}
        self._estimated_total_operations = sync.atomic_integer(0, "Purgatory.estimated_total")
        self._purge_lock = sync.lock("Purgatory.purge_lock")
        self._closed = sync.volatile(False, "Purgatory.closed")
        self._name = purgatory_name
        self._expiration_reaper = sync.thread(
            self._reap, f"executor-expiration-reaper-{purgatory_name}"
        )
        self._reaper_enabled = reaper_enabled
        if reaper_enabled:
            self._expiration_reaper.start()

    def __repr__(self) -> str:
        """Return the name, and how many operations wait in the timer."""
        return f"{type(self).__name__}({self._name!r}, num_delayed={self.num_delayed()})"

    def try_complete_else_watch(self, operation: Operation, watch_keys: Iterable[Hashable]) -> bool:
        """Complete `operation` now, or watch it under each key until it is (standard 2.4).

        The predicate is tested again after the last key is watched: a trigger that came before
        has not found the operation there. `operation` is new: watched nowhere.

        Returns True iff this call completed it. Raises IllegalArgumentError without keys and for
        one that cannot be hashed, PurgatoryClosedError after `close`, and whatever the
        predicate, `on_complete` or the timer raise; an operation that was watched by then is given
        up and unwatched.
        TLA+: TestOpen, Watch, AddToTimer, TimeoutStarted, Count and EndRaising of Purgatory.
        """
        keys = _distinct(watch_keys)
        self._require_open()
        watched: list[Hashable] = []

        def watch() -> None:
            for key in keys:
                if operation.is_done():
                    return
                watched.append(key)
                self._shard_of(key).watch(key, operation)

        try:
            completed = operation.safe_try_complete_or_else(watch)
            if not completed:
                self._add_to_timer(operation)
            if watched:
                # Counted last. A purge in between has seen the operation too, so the estimate can
                # be too high and never too low: a purge comes too early rather than too late.
                self._estimated_total_operations.add_and_get(1)
        except BaseException:
            self._withdraw(operation, watched)
            # A signal may come when the timer has the time-out and nobody has noted that.
            operation.cancel()
            raise
        return completed

    def check_and_complete(self, key: Hashable) -> int:
        """Try every operation that waits for `key` (standard 2.6).

        Returns how many this call completed. Raises IllegalArgumentError for a key that cannot be
        hashed, and DelayedOperationError, when all have been tried, if any raised; if what one
        raised ends a thread, that. Allowed after `close`: it only lets operations go.
        TLA+: FetchWatchers, TestEmpty and RemoveKeyIfEmpty of Purgatory.
        """
        watchers = self._shard_of(key).get(key)
        if watchers is None:
            return 0
        try:
            return watchers.try_complete_watched()
        finally:
            self._drop_if_empty(key, watchers)

    def cancel_for_key(self, key: Hashable) -> list[Operation]:
        """Give up the operations that wait for `key` and return them (standard 2.9).

        Exactly those that this call cancelled: they will not be completed and do not expire. Under
        their other keys they count as done. Raises IllegalArgumentError for a key that cannot be
        hashed.
        TLA+: RemoveKey and CancelOperation of Purgatory.
        """
        watchers = self._shard_of(key).pop(key)
        if watchers is None:
            return []
        operations: tuple[Operation, ...] = ()
        try:
            operations = watchers.operations()
            return [operation for operation in operations if self._give_up(operation)]
        except BaseException:
            # A signal handler has raised between two steps (standard 6.8). No trigger of this key
            # finds the operations any more, so none may go on waiting.
            for operation in operations or watchers.operations():
                self._give_up(operation)
            raise

    def watched(self) -> int:
        """Return the number of watches: an operation counts once for each key (standard 2.10).

        Operations that are done count until they are dropped from the list.
        """
        return sum(
            watchers.count_watched()
            for shard in self._all_shards()
            for _, watchers in shard.all_watchers()
        )

    def num_delayed(self) -> int:
        """Return the number of operations that wait in the timer (standard 1.14, 2.10)."""
        return self._timer.size()

    def num_keys(self) -> int:
        """Return the number of keys that have a list."""
        return sum(len(shard.all_watchers()) for shard in self._all_shards())

    def advance_clock(self, timeout_ms: int) -> bool:
        """Expire what is due, waiting at most `timeout_ms` for it; then purge (standard 2.10).

        Returns what the timer's `advance_clock` does. The reaper calls this; callers do if there is
        none. Raises TimerClosedError after `close`.
        """
        advanced = self._timer.advance_clock(timeout_ms)
        if self._purge_is_due():
            self.purge_completed()
        return advanced

    def purge_completed(self) -> int:
        """Drop operations that are done from every list; return how many watches (standard 2.10).

        TLA+: PurgeBegin, PurgeFetch, PurgeTestEmpty and PurgeReset of Purgatory.
        """
        purged = 0
        # By identity: an operation that waits for several keys counts once.
        pending: set[int] = set()
        with self._purge_lock:
            estimated = self._estimated_total_operations.get()
            for shard in self._all_shards():
                for key, watchers in shard.all_watchers():
                    result = watchers.purge_completed()
                    purged += result.dropped
                    pending |= result.pending
                    self._drop_if_empty(key, watchers)
            self._recount(estimated, len(pending))
        return purged

    def close(self) -> None:
        """Stop for good: whatever waits is neither completed nor expired (standard 2.11).

        Closes the timer, which waits for the expiries under way, and ends the reaper. A second call
        has no effect. TLA+: Shutdown of Purgatory.
        """
        self._closed.set(True)
        self._timer.close()
        if self._reaper_enabled and not self._expiration_reaper.is_current():
            self._expiration_reaper.join()

    def _give_up(self, operation: Operation) -> bool:
        """Cancel an operation."""
        return operation.force_cancel()

    def _new_shard(self) -> WatcherShard[Operation]:
        """Make a shard."""
        return WatcherShard()

    def _shard_of(self, key: Hashable) -> WatcherShard[Operation]:
        return self._shard(_hash(key) % self._num_shards)

    def _shard(self, index: int) -> WatcherShard[Operation]:
        """Return a shard, made here if there is none; of two threads that make it, one prevails.

        It takes no lock: see `_shards`.
        """
        shard = self._shards.get(index)
        if shard is None:
            shard = self._shards.setdefault(index, self._new_shard())
        return shard

    def _all_shards(self) -> Iterable[WatcherShard[Operation]]:
        """Return each shard, for who asks what all of them hold.

        Those that are missing are made: who passed over one would take no lock there. Then a model
        checker could not see that it matters whether a watch came before.
        """
        return map(self._shard, range(self._num_shards))

    def _withdraw(self, operation: Operation, watched: Iterable[Hashable]) -> None:
        """Undo a call that ends in an error: it may leave nothing half done (standard 6.4).

        TLA+: GiveUp, UnwatchFetch, UnwatchRemove, UnwatchTestEmpty and UnwatchKey of Purgatory.
        """
        if watched:
            operation.force_cancel()
        for key in watched:
            watchers = self._shard_of(key).get(key)
            if watchers is not None:
                watchers.remove(operation)
                self._drop_if_empty(key, watchers)

    def _add_to_timer(self, operation: Operation) -> None:
        """Give the operation its time-out, unless it is done.

        TLA+: IsDone of Purgatory, and what `DelayedOperation.start_timeout` names.
        """
        if operation.is_done() or not self._timer_enabled:
            return
        try:
            operation.start_timeout(self._timer)
        except TimerClosedError:
            # Watched before the shutdown: like all that waited then, it never expires.
            return

    def _drop_if_empty(self, key: Hashable, watchers: Watchers[Operation]) -> None:
        """Remove a key whose list is empty. TLA+: TestEmpty and RemoveKeyIfEmpty of Purgatory."""
        if watchers.is_empty():
            self._shard_of(key).remove_key_if_empty(key, watchers)

    def _purge_is_due(self) -> bool:
        """Tell whether too many operations are done but possibly still watched.

        TLA+: PurgeReadEstimate and PurgeReadDelayed of Purgatory.
        """
        estimated = self._estimated_total_operations.get()
        return estimated - self.num_delayed() > self._purge_interval

    def _recount(self, estimated: int, live: int) -> None:
        """Take from the estimate what a purge that began at `estimated` has dropped.

        TLA+: PurgeReset of Purgatory.
        """
        # Kafka: before the purge, set the estimate to the number of operations in the timer.
        # Here:  after it, take away what the purge has dropped.
        # Why:   what comes meanwhile is forgotten, and so is what has left the timer and is not
        #        completed yet: more than purge_interval operations stay (finding 10).
        self._estimated_total_operations.add_and_get(live - estimated)

    def _require_open(self) -> None:
        if self._closed.get():
            raise PurgatoryClosedError("the purgatory has been shut down; make a new one")

    def _reap(self) -> None:
        reap(self.advance_clock)


_taken: WeakKeyDictionary[Timer, object] = WeakKeyDictionary()
"""The timers that have a purgatory, as long as they are there, with what took each."""


def _take(timer: Timer) -> None:
    mine = object()
    # One step of the interpreter: of two threads that hand in one timer, one is refused.
    if _taken.setdefault(timer, mine) is not mine:
        raise IllegalArgumentError("the timer has a purgatory already; give each one of its own")


def _distinct(keys: Iterable[Hashable]) -> tuple[Hashable, ...]:
    """Return each key once; refuse none, and one that cannot be hashed (standard 6.7)."""
    listed = list(keys)
    if not listed:
        raise IllegalArgumentError("an operation is watched under at least one key; none was given")
    for key in listed:
        _hash(key)
    return tuple(dict.fromkeys(listed))


def _hash(key: Hashable) -> int:
    try:
        return hash(key)
    except Exception as error:
        raise IllegalArgumentError(f"the key {key!r} cannot be hashed: {error}") from error
