"""Wrong purgatories: each is a HeapPurgatory with one defect.

Those that call `race` are right for one thread.
"""

import heapq
import threading
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext

from support.testing.heap_purgatory import HeapPurgatory, Waiting
from support.testing.meeting import race
from wheelproof.errors import PurgatoryClosedError
from wheelproof_spec.testing import PythonOperation


class CompletesAgain(HeapPurgatory):
    """Who completes does not look whether somebody has; only who was given up is left."""

    def __init__(self, tick_ms: int, wheel_size: int, start_ms: int, purge_interval: int) -> None:
        super().__init__(tick_ms, wheel_size, start_ms, purge_interval)
        self._given_up: set[PythonOperation] = set()

    def cancel_for_key(self, key: str) -> list[PythonOperation]:
        cancelled = super().cancel_for_key(key)
        self._given_up.update(cancelled)
        return cancelled

    def _complete(self, one: Waiting) -> bool:
        self._end(one)
        if one.operation in self._given_up:
            return False
        one.operation.on_complete()
        return True


class NeverTriesAtHandIn(HeapPurgatory):
    """It only watches: what can end at once waits for a trigger."""

    def _try_new(self, one: Waiting) -> bool:
        self._watch(one)
        return False


class KeepsTimeouts(HeapPurgatory):
    """Who ends an operation leaves its time-out in the heap."""

    def _drop_timeout(self, one: Waiting) -> None:
        pass


class ExpiresTheDone(KeepsTimeouts):
    """A time-out is told of, though the operation was completed long ago."""

    def num_delayed(self) -> int:
        with self._lock:
            return sum(not one.done for _, _, one in self._heap)

    def _expire(self, one: Waiting) -> None:
        with one.lock:
            self._complete(one)
            one.operation.on_expiration()


class NeverTellsOfExpiry(HeapPurgatory):
    """It completes who expires, and does not call on_expiration."""

    def _expire(self, one: Waiting) -> None:
        with one.lock:
            self._complete(one)


class ExpiresEarly(HeapPurgatory):
    """A time-out is due a millisecond too early."""

    def _due(self, deadline_ms: int) -> int:
        return super()._due(deadline_ms) - 1


class LeavesTheDue(HeapPurgatory):
    """What is due at the very time of the advance is left."""

    def _due(self, deadline_ms: int) -> int:
        return super()._due(deadline_ms) + 1


class CountsTheTried(HeapPurgatory):
    """It tells how many it has tried."""

    def check_and_complete(self, key: str) -> int:
        tried = self._waiting(key)
        super().check_and_complete(key)
        return len(tried)


class NewestFirst(HeapPurgatory):
    """A trigger tries the newest first."""

    def _waiting(self, key: str) -> Sequence[Waiting]:
        return super()._waiting(key)[::-1]


class TriesTheFirst(HeapPurgatory):
    """A trigger completes one operation at most."""

    def check_and_complete(self, key: str) -> int:
        return int(any(self._try_again(one) for one in self._waiting(key)))


class CancelLeavesOne(HeapPurgatory):
    """A cancel leaves the newest."""

    def cancel_for_key(self, key: str) -> list[PythonOperation]:
        return [one.operation for one in self._waiting(key)[:-1] if self._end(one)]


class CancelsTimeouts(HeapPurgatory):
    """As Kafka does: who is cancelled is no longer watched here, and can be completed still."""

    def cancel_for_key(self, key: str) -> list[PythonOperation]:
        with self._lock:
            cancelled = self._lists.pop(key, [])
            for one in cancelled:
                self._drop_timeout(one)
        return [one.operation for one in cancelled]


class CancelsWithoutTelling(HeapPurgatory):
    """A cancel returns nobody."""

    def cancel_for_key(self, key: str) -> list[PythonOperation]:
        super().cancel_for_key(key)
        return []


class ForceLies(HeapPurgatory):
    """A forced completion always answers that it completed."""

    def force_complete(self, operation: PythonOperation) -> bool:
        super().force_complete(operation)
        return True


class KeepsKeys(HeapPurgatory):
    """It counts a key that had an operation once."""

    def __init__(self, tick_ms: int, wheel_size: int, start_ms: int, purge_interval: int) -> None:
        super().__init__(tick_ms, wheel_size, start_ms, purge_interval)
        self._known: set[str] = set()

    def num_keys(self) -> int:
        self._known |= self._lists.keys()
        return len(self._known)


class CountsTheDone(HeapPurgatory):
    """What was watched counts for ever."""

    _count = 0

    def _watch(self, one: Waiting) -> None:
        super()._watch(one)
        self._count += len(one.keys)

    def watched(self) -> int:
        return self._count


class Raises(HeapPurgatory):
    """A trigger raises an error that nobody expects."""

    def check_and_complete(self, key: str) -> int:
        raise OverflowError(f"too many operations wait for {key}")


class RaisesInThreads(Raises):
    """A trigger raises in all threads but the main one."""

    def check_and_complete(self, key: str) -> int:
        if threading.current_thread() is threading.main_thread():
            return HeapPurgatory.check_and_complete(self, key)
        return super().check_and_complete(key)


class Refuses(HeapPurgatory):
    """A trigger is refused."""

    def check_and_complete(self, key: str) -> int:
        raise PurgatoryClosedError(key)


class TriesOnce(HeapPurgatory):
    """It does not try again once the operation is watched."""

    def _try_new(self, one: Waiting) -> bool:
        if self._try(one):
            return True
        race()
        self._watch(one)
        return False


class LooksThenSets(CompletesAgain):
    """Without a lock it looks whether an operation is done, and then says that it is."""

    def _own_lock(self) -> AbstractContextManager[object]:
        return nullcontext()

    def _complete(self, one: Waiting) -> bool:
        if one.done:
            return False
        race()
        return super()._complete(one)


class ExpiresTheCompleted(HeapPurgatory):
    """It looks whether the operation is done, and then takes it that its time-out completed it."""

    def _expire(self, one: Waiting) -> None:
        if one.done:
            return
        race()
        with one.lock:
            self._complete(one)
            one.operation.on_expiration()


class CancelsTheCompleted(HeapPurgatory):
    """It returns who waited when it looked, completed since or not."""

    def cancel_for_key(self, key: str) -> list[PythonOperation]:
        waiting = self._waiting(key)
        race()
        for one in waiting:
            self._end(one)
        return [one.operation for one in waiting]


class AddsTimeoutsOfTheDone(HeapPurgatory):
    """It looks whether an operation is done, and then adds the time-out."""

    def _add_timeout(self, one: Waiting) -> None:
        if not one.done:
            race()
            with self._lock:
                due_ms = self._due(self._now_ms + one.operation.delay_ms)
                heapq.heappush(self._heap, (due_ms, next(self._numbers), one))


class Minimal:
    """What a purgatory has to have, and no more."""

    def __init__(self, tick_ms: int, wheel_size: int, start_ms: int, purge_interval: int) -> None:
        heap = HeapPurgatory(tick_ms, wheel_size, start_ms, purge_interval)
        self.try_complete_else_watch = heap.try_complete_else_watch
        self.check_and_complete = heap.check_and_complete
        self.advance = heap.advance
        self.close = heap.close
