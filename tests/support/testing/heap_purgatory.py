"""A purgatory that is nothing like the reference: lists of waiting operations, and a heap.

Whoever ends an operation takes it out of the heap and of all lists at once, so there is nothing to
purge. It rounds down to ticks, as the standard says.
"""

import heapq
import threading
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from itertools import count

from wheelproof_spec.testing import PythonOperation


@dataclass(slots=True, eq=False)
class Waiting:
    """An operation, and the lock under which it is tried and completed."""

    operation: PythonOperation
    keys: Sequence[str]
    lock: AbstractContextManager[object]
    done: bool = field(default=False)


class HeapPurgatory:
    """Keeps the profile `wheelproof`; methods with an underscore are what variants replace."""

    def __init__(self, tick_ms: int, wheel_size: int, start_ms: int, purge_interval: int) -> None:
        del wheel_size, purge_interval
        self._tick_ms, self._now_ms = tick_ms, start_ms
        self._lock = self._map_lock()
        self._of: dict[PythonOperation, Waiting] = {}
        self._lists: dict[str, list[Waiting]] = {}
        self._heap: list[tuple[int, int, Waiting]] = []
        self._numbers = count()

    def try_complete_else_watch(
        self, operation: PythonOperation, watch_keys: Sequence[str]
    ) -> bool:
        """Try, watch, and try again: a trigger that came between the two has found nobody."""
        one = self._of[operation] = Waiting(operation, watch_keys, self._own_lock())
        with one.lock:
            completed = self._try_new(one)
        if not completed:
            self._add_timeout(one)
        return completed

    def check_and_complete(self, key: str) -> int:
        """Try who waits for the key, the first that came first."""
        return sum(self._try_again(one) for one in self._waiting(key))

    def cancel_for_key(self, key: str) -> list[PythonOperation]:
        """End who waits for the key, and complete none."""
        return [one.operation for one in self._waiting(key) if self._end(one)]

    def force_complete(self, operation: PythonOperation) -> bool:
        """Complete one."""
        one = self._of[operation]
        with one.lock:
            return self._complete(one)

    def watched(self) -> int:
        """Return how many there are in the lists."""
        with self._lock:
            return sum(map(len, self._lists.values()))

    def num_delayed(self) -> int:
        """Return how many there are in the heap."""
        with self._lock:
            return len(self._heap)

    def num_keys(self) -> int:
        """Return how many lists there are."""
        with self._lock:
            return len(self._lists)

    def advance(self, to_ms: int) -> None:
        """Expire what is due by `to_ms`."""
        due: list[Waiting] = []
        with self._lock:
            self._now_ms = to_ms
            while self._heap and self._heap[0][0] <= to_ms:
                due.append(heapq.heappop(self._heap)[2])
        for one in due:
            self._expire(one)

    def close(self) -> None:
        """Do nothing: there is nothing to end."""

    def _map_lock(self) -> AbstractContextManager[object]:
        return threading.Lock()

    def _own_lock(self) -> AbstractContextManager[object]:
        return threading.RLock()

    def _due(self, deadline_ms: int) -> int:
        return deadline_ms // self._tick_ms * self._tick_ms

    def _try_new(self, one: Waiting) -> bool:
        """Try one that nobody knows; watch it, and try again. Its lock is held."""
        if self._try(one):
            return True
        self._watch(one)
        return self._try(one)

    def _add_timeout(self, one: Waiting) -> None:
        with self._lock:
            if not one.done:
                due_ms = self._due(self._now_ms + one.operation.delay_ms)
                heapq.heappush(self._heap, (due_ms, next(self._numbers), one))

    def _watch(self, one: Waiting) -> None:
        with self._lock:
            for key in one.keys:
                self._lists.setdefault(key, []).append(one)

    def _waiting(self, key: str) -> Sequence[Waiting]:
        with self._lock:
            return tuple(self._lists.get(key, ()))

    def _try_again(self, one: Waiting) -> bool:
        with one.lock:
            return self._try(one)

    def _try(self, one: Waiting) -> bool:
        """Complete one that can end; its lock is held."""
        return not one.done and one.operation.predicate() and self._complete(one)

    def _complete(self, one: Waiting) -> bool:
        """Complete one unless it is done; its lock is held."""
        if not self._end(one):
            return False
        one.operation.on_complete()
        return True

    def _expire(self, one: Waiting) -> None:
        with one.lock:
            if self._complete(one):
                one.operation.on_expiration()

    def _end(self, one: Waiting) -> bool:
        """Let one caller through: the one that ends it."""
        with self._lock:
            if one.done:
                return False
            one.done = True
            self._forget(one)
            return True

    def _forget(self, one: Waiting) -> None:
        """Take one out of the heap and the lists; the lock of the purgatory is held."""
        self._drop_timeout(one)
        for key in one.keys:
            left = [other for other in self._lists.get(key, ()) if other is not one]
            if left:
                self._lists[key] = left
            else:
                self._lists.pop(key, None)

    def _drop_timeout(self, one: Waiting) -> None:
        self._heap = [entry for entry in self._heap if entry[2] is not one]
        heapq.heapify(self._heap)
