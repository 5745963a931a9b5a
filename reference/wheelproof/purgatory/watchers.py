"""Which operations wait for which key: the list of one key, and the keys of one shard.

A trigger has to find all operations of its key, while others come and go. It must not hold a lock
while it tries them: what they call may wait for that lock (KAFKA-3994).

>>> from wheelproof.purgatory import DelayedOperation
>>> class Request(DelayedOperation):
...     ready = False
...     def try_complete(self) -> bool:
...         return self.ready and self.force_complete()
...     def on_complete(self) -> None:
...         print("answered")
...     def on_expiration(self) -> None:
...         print("too late")
>>> from wheelproof.purgatory.watchers import Watchers
>>> request, watchers = Request(1_000), Watchers[Request]()
>>> watchers.watch(request)
>>> watchers.try_complete_watched(), watchers.count_watched()
(0, 1)
>>> request.ready = True
>>> watchers.try_complete_watched(), watchers.is_empty()
answered
(1, True)

Invariants:

- A key is in its shard's map exactly while it has a list, and only that list is reached by the key.
- Operations are put in and the list is made under one hold of the shard's lock (KAFKA-2253).
- No lock of a list or a shard is held while an operation is tried.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Annotated, Generic, TypeVar

from wheelproof import sync
from wheelproof.errors import DelayedOperationError
from wheelproof.purgatory.delayed_operation import DelayedOperation
from wheelproof.sync import GuardedBy

Operation = TypeVar("Operation", bound=DelayedOperation)


@dataclass(frozen=True, slots=True, kw_only=True)
class PurgeResult:
    """How many operations a purge dropped from a list, and which it left, by identity."""

    dropped: int
    pending: frozenset[int]


class Watchers(Generic[Operation]):
    """The operations that wait for one key, in the order in which they came.

    No lock is held while an operation is tried: its callback may do anything (KAFKA-3994).
    TLA+: variable `content` of Purgatory.
    """

    __slots__ = ("_lock", "_operations")

    _operations: Annotated[dict[int, Operation], GuardedBy("_lock")]

    def __init__(self) -> None:
        self._lock = sync.lock("Watchers.lock")
        # By identity, since an operation may define what it equals; the oldest first.
        self._operations = {}

    def watch(self, operation: Operation) -> None:
        """Put `operation` at the end; nothing changes if it is there."""
        with self._lock:
            self._operations[id(operation)] = operation

    def remove(self, operation: Operation) -> None:
        """Drop `operation`; nothing changes if it is not there."""
        with self._lock:
            self._operations.pop(id(operation), None)

    def operations(self) -> tuple[Operation, ...]:
        """Return the operations in the list, those that are done included."""
        with self._lock:
            return tuple(self._operations.values())

    def count_watched(self) -> int:
        """Return how many operations are in the list, also those that are done (standard 2.10)."""
        with self._lock:
            return len(self._operations)

    def is_empty(self) -> bool:
        """Tell whether the list is empty."""
        return self.count_watched() == 0

    def try_complete_watched(self) -> int:
        """Try every operation in the list and drop those that are done (standard 2.6).

        Returns how many this call completed. An operation that is added meanwhile may or may not be
        tried: its adder tests the predicate once it is in the list. An operation that raises does
        not keep the others from being tried.

        Raises, after the walk, DelayedOperationError if any of them raised; if what one raised
        ends a thread, an interrupt or SystemExit, that (standard 6.4.8).
        TLA+: IsDone, Lock, TryComplete, IsDoneAfterRaising and WalkRemove of Purgatory.
        """
        completed = 0
        failures: list[BaseException] = []
        for operation in self.operations():
            try:
                if operation.is_done():
                    self.remove(operation)
                elif operation.safe_try_complete():
                    completed += 1
                    self.remove(operation)
            except BaseException as failure:
                # Kafka: the error ends the walk.
                # Here:  the walk goes on, and raises at its end.
                # Why:   those behind it lose their trigger for good (finding 12).
                failures.append(failure)
                completed += operation.was_completed_by(failure)
                if operation.is_done():
                    self.remove(operation)
        raise_failures(failures, completed)
        return completed

    def purge_completed(self) -> PurgeResult:
        """Drop the operations that are done (standard 2.10).

        TLA+: PurgeIsDone and PurgeRemove of Purgatory.
        """
        done: list[Operation] = []
        pending: set[int] = set()
        for operation in self.operations():
            if operation.is_done():
                done.append(operation)
            else:
                pending.add(id(operation))
        for operation in done:
            self._purge(operation)
        return PurgeResult(dropped=len(done), pending=frozenset(pending))

    def _purge(self, operation: Operation) -> None:
        """Drop an operation that is done."""
        self.remove(operation)


def raise_failures(failures: Sequence[BaseException], num_completed: int) -> None:
    """Raise for what operations have raised, now that all have been tried; nothing if none did.

    Raises the first that ends a thread; else DelayedOperationError, with `num_completed`.

    >>> raise_failures([ValueError("no"), SystemExit(1)], num_completed=0)
    Traceback (most recent call last):
    SystemExit: 1
    """
    errors = tuple(one for one in failures if isinstance(one, Exception))
    stop = next((one for one in failures if not isinstance(one, Exception)), None)
    report = DelayedOperationError(errors, num_completed) if errors else None
    if stop is not None:
        raise stop from report
    if report is not None:
        raise report from errors[0]


class WatcherShard(Generic[Operation]):
    """A part of the keys, with a lock of its own (since 2.2).

    The shard's lock is held while the map changes, never while an operation is tried.
    TLA+: variable `watchersOf` of Purgatory.
    """

    __slots__ = ("_lock", "_watchers_by_key")

    _watchers_by_key: Annotated[dict[Hashable, Watchers[Operation]], GuardedBy("_lock")]

    def __init__(self) -> None:
        self._lock = sync.lock("WatcherShard.lock")
        self._watchers_by_key = {}

    def watch(self, key: Hashable, operation: Operation) -> None:
        """Put `operation` into the watchers of `key`, made here if there are none.

        Both under one hold of the lock, or the operation lands in watchers that are being removed
        (standard 2.8, KAFKA-2253). TLA+: Watch of Purgatory.
        """
        with self._lock:
            watchers = self._watchers_by_key.get(key)
            if watchers is None:
                watchers = self._watchers_by_key[key] = self._new_watchers()
            watchers.watch(operation)

    def get(self, key: Hashable) -> Watchers[Operation] | None:
        """Return the watchers of `key`. TLA+: FetchWatchers of Purgatory."""
        with self._lock:
            return self._watchers_by_key.get(key)

    def pop(self, key: Hashable) -> Watchers[Operation] | None:
        """Remove `key` and return its watchers. TLA+: RemoveKey of Purgatory."""
        watchers: Watchers[Operation] | None = None
        try:
            with self._lock:
                watchers = self._watchers_by_key.get(key)
                if watchers is not None:
                    del self._watchers_by_key[key]
            return watchers
        except BaseException:
            # A signal handler has raised between two steps (standard 6.8). The caller has not got
            # the watchers, so they go back under the key.
            for operation in () if watchers is None else watchers.operations():
                self.watch(key, operation)
            raise

    def all_watchers(self) -> tuple[tuple[Hashable, Watchers[Operation]], ...]:
        """Return the watchers of each key of this shard."""
        with self._lock:
            return tuple(self._watchers_by_key.items())

    def remove_key_if_empty(self, key: Hashable, watchers: Watchers[Operation]) -> None:
        """Remove `key` if it still maps to `watchers` and they are empty (standard 2.6).

        TLA+: RemoveKeyIfEmpty of Purgatory.
        """
        with self._lock:
            if self._watchers_by_key.get(key) is watchers and watchers.is_empty():
                del self._watchers_by_key[key]

    def _new_watchers(self) -> Watchers[Operation]:
        """Make an empty list."""
        return Watchers()
