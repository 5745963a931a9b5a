"""`PurgatoryTests`: a right purgatory passes, however it is made; a wrong one fails by its clause.

The races among the wrong ones happen whenever threads meet: `Meeting` puts them in one order.
"""

import doctest
import heapq
import re
import warnings
from collections.abc import Collection, Sequence
from contextlib import AbstractContextManager, nullcontext
from types import ModuleType

import hypothesis
import pytest
from hypothesis import Phase

from support.checkout import ROOT
from support.contract_tests import failure, steps
from support.meeting import Meeting
from support.reference.heap_purgatory import HeapPurgatory, Waiting
from support.reference.python_purgatory import ReferencePurgatory
from wheelproof_spec.testing import (
    MakePurgatory,
    NothingToTestError,
    NotLookedAtWarning,
    PurgatoryClause,
    PurgatoryMachine,
    PurgatoryTests,
    PythonOperation,
    purgatory,
    python_purgatory,
)

pytest_plugins = ("pytester",)


@pytest.fixture(autouse=True)
def _no_other_plugins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")


class _CompletesAgain(HeapPurgatory):
    """Who completes does not look whether somebody has."""

    def _end(self, one: Waiting) -> bool:
        super()._end(one)
        return True


class _NeverTriesAtHandIn(HeapPurgatory):
    """It only watches: what can end at once waits for a trigger."""

    def _try_new(self, one: Waiting) -> bool:
        self._watch(one)
        return False


class _KeepsTimeouts(HeapPurgatory):
    """Who ends an operation leaves its time-out in the heap."""

    def _drop_timeout(self, one: Waiting) -> None:
        pass


class _ExpiresTheDone(_KeepsTimeouts):
    """A time-out is told of, though the operation was completed long ago."""

    def num_delayed(self) -> int:
        with self._lock:
            return sum(not one.done for _, _, one in self._heap)

    def _expire(self, one: Waiting) -> None:
        with one.lock:
            self._complete(one)
            one.operation.on_expiration()


class _NeverTellsOfExpiry(HeapPurgatory):
    def _expire(self, one: Waiting) -> None:
        with one.lock:
            self._complete(one)


class _ExpiresEarly(HeapPurgatory):
    def _due(self, deadline_ms: int) -> int:
        return super()._due(deadline_ms) - 1


class _LeavesTheDue(HeapPurgatory):
    """What is due at the very time of the advance is left."""

    def _due(self, deadline_ms: int) -> int:
        return super()._due(deadline_ms) + 1


class _CountsTheTried(HeapPurgatory):
    """It tells how many it has tried."""

    def check_and_complete(self, key: str) -> int:
        tried = self._waiting(key)
        super().check_and_complete(key)
        return len(tried)


class _NewestFirst(HeapPurgatory):
    def _waiting(self, key: str) -> Sequence[Waiting]:
        return super()._waiting(key)[::-1]


class _TriesTheFirst(HeapPurgatory):
    """A trigger completes one operation at most."""

    def check_and_complete(self, key: str) -> int:
        return int(any(self._try_again(one) for one in self._waiting(key)))


class _CancelLeavesOne(HeapPurgatory):
    def cancel_for_key(self, key: str) -> list[PythonOperation]:
        return [one.operation for one in self._waiting(key)[:-1] if self._end(one)]


class _CancelsTimeouts(HeapPurgatory):
    """As Kafka does: who is cancelled is no longer watched here, and can be completed still."""

    def cancel_for_key(self, key: str) -> list[PythonOperation]:
        with self._lock:
            cancelled = self._lists.pop(key, [])
            for one in cancelled:
                self._drop_timeout(one)
        return [one.operation for one in cancelled]


class _CancelsWithoutTelling(HeapPurgatory):
    def cancel_for_key(self, key: str) -> list[PythonOperation]:
        super().cancel_for_key(key)
        return []


class _ForceLies(HeapPurgatory):
    def force_complete(self, operation: PythonOperation) -> bool:
        super().force_complete(operation)
        return True


class _KeepsKeys(HeapPurgatory):
    """It counts a key that had an operation once."""

    def __init__(self, tick_ms: int, wheel_size: int, start_ms: int, purge_interval: int) -> None:
        super().__init__(tick_ms, wheel_size, start_ms, purge_interval)
        self._known: set[str] = set()

    def num_keys(self) -> int:
        self._known |= self._lists.keys()
        return len(self._known)


class _CountsTheDone(HeapPurgatory):
    """What was watched counts for ever."""

    _count = 0

    def _watch(self, one: Waiting) -> None:
        super()._watch(one)
        self._count += len(one.keys)

    def watched(self) -> int:
        return self._count


class _Raises(HeapPurgatory):
    def check_and_complete(self, key: str) -> int:
        raise OverflowError(f"too many operations wait for {key}")


class _Met(HeapPurgatory):
    """A purgatory whose threads meet: every call has its turn."""

    def __init__(self, tick_ms: int, wheel_size: int, start_ms: int, purge_interval: int) -> None:
        super().__init__(tick_ms, wheel_size, start_ms, purge_interval)
        self._meeting = Meeting()

    def try_complete_else_watch(
        self, operation: PythonOperation, watch_keys: Sequence[str]
    ) -> bool:
        with self._meeting.call():
            return super().try_complete_else_watch(operation, watch_keys)

    def check_and_complete(self, key: str) -> int:
        with self._meeting.call():
            return super().check_and_complete(key)

    def cancel_for_key(self, key: str) -> list[PythonOperation]:
        with self._meeting.call():
            return super().cancel_for_key(key)

    def force_complete(self, operation: PythonOperation) -> bool:
        with self._meeting.call():
            return super().force_complete(operation)

    def advance(self, to_ms: int) -> None:
        with self._meeting.call():
            super().advance(to_ms)

    def watched(self) -> int:
        with self._meeting.call():
            return super().watched()


class _TriesOnce(_Met):
    """It does not try again once the operation is watched."""

    def _try_new(self, one: Waiting) -> bool:
        if self._try(one):
            return True
        self._meeting.race()
        self._watch(one)
        return False


class _LooksThenSets(_Met):
    """Without a lock it looks whether an operation is done, and then says that it is."""

    def _own_lock(self) -> AbstractContextManager[object]:
        return nullcontext()

    def _end(self, one: Waiting) -> bool:
        if one.done:
            return False
        self._meeting.race()
        one.done = True
        with self._lock:
            self._forget(one)
        return True


class _ExpiresTheCompleted(_Met):
    """It looks whether the operation is done, and then takes it that its time-out completed it."""

    def _expire(self, one: Waiting) -> None:
        if one.done:
            return
        self._meeting.race()
        with one.lock:
            self._complete(one)
            one.operation.on_expiration()


class _CancelsTheCompleted(_Met):
    """It returns who waited when it looked, completed since or not."""

    def cancel_for_key(self, key: str) -> list[PythonOperation]:
        with self._meeting.call():
            waiting = self._waiting(key)
            self._meeting.race()
            for one in waiting:
                self._end(one)
            return [one.operation for one in waiting]


class _AddsTimeoutsOfTheDone(_Met):
    """It looks whether an operation is done, and then adds the time-out."""

    def _add_timeout(self, one: Waiting) -> None:
        if not one.done:
            self._meeting.race()
            with self._lock:
                due_ms = self._due(self._now_ms + one.operation.delay_ms)
                heapq.heappush(self._heap, (due_ms, next(self._numbers), one))


class _Minimal:
    """What a purgatory has to have, and no more."""

    def __init__(self, tick_ms: int, wheel_size: int, start_ms: int, purge_interval: int) -> None:
        heap = HeapPurgatory(tick_ms, wheel_size, start_ms, purge_interval)
        self.try_complete_else_watch = heap.try_complete_else_watch
        self.check_and_complete = heap.check_and_complete
        self.advance = heap.advance
        self.shutdown = heap.shutdown


_SHORT = hypothesis.settings(PurgatoryTests.settings, max_examples=25)
_NOT_SMALLER = hypothesis.settings(PurgatoryTests.settings, phases=(Phase.generate,))


def _tests(
    made: MakePurgatory,
    chosen: hypothesis.settings = _SHORT,
    *,
    known: Collection[PurgatoryClause] = (),
    profile_name: str = "wheelproof",
) -> PurgatoryTests:
    class TestIt(PurgatoryTests):
        make = made
        profile = profile_name
        skip = known
        settings = chosen

    return TestIt()


@pytest.mark.parametrize("made", [ReferencePurgatory, HeapPurgatory, _Met])
def test_a_right_purgatory_passes(made: MakePurgatory) -> None:
    _tests(made).test_it_keeps_its_contract()


@pytest.mark.parametrize(
    ("made", "clause"),
    [
        (_CompletesAgain, PurgatoryClause.COMPLETES_AT_MOST_ONCE),
        (_NeverTriesAtHandIn, PurgatoryClause.TRIGGER_COMPLETES),
        (_KeepsTimeouts, PurgatoryClause.DELAYED_COUNTS),
        (_ExpiresTheDone, PurgatoryClause.EXPIRES_ONCE_AFTER_COMPLETION),
        (_NeverTellsOfExpiry, PurgatoryClause.COMPLETES_FOR_A_REASON),
        (_ExpiresEarly, PurgatoryClause.COMPLETES_FOR_A_REASON),
        (_LeavesTheDue, PurgatoryClause.EXPIRES_IN_TIME),
        (_CountsTheTried, PurgatoryClause.COUNTS_COMPLETED),
        (_NewestFirst, PurgatoryClause.TRIES_IN_WATCH_ORDER),
        (_TriesTheFirst, PurgatoryClause.TRIGGER_COMPLETES),
        (_CancelLeavesOne, PurgatoryClause.CANCELS_WHO_WAITS),
        (_CancelsTimeouts, PurgatoryClause.CANCELS_WHO_WAITS),
        (_CancelsWithoutTelling, PurgatoryClause.CANCELS_WHO_WAITS),
        (_ForceLies, PurgatoryClause.ANSWERS_TRULY),
        (_KeepsKeys, PurgatoryClause.NO_EMPTY_KEY),
        (_CountsTheDone, PurgatoryClause.WATCHED_COUNTS),
        (_TriesOnce, PurgatoryClause.TRIGGER_COMPLETES),
        (_LooksThenSets, PurgatoryClause.COMPLETES_AT_MOST_ONCE),
        (_ExpiresTheCompleted, PurgatoryClause.EXPIRES_ONCE_AFTER_COMPLETION),
        (_CancelsTheCompleted, PurgatoryClause.CANCELS_WHO_WAITS),
        (_AddsTimeoutsOfTheDone, PurgatoryClause.DELAYED_COUNTS),
    ],
)
def test_a_wrong_purgatory_fails_by_its_clause(
    made: MakePurgatory, clause: PurgatoryClause
) -> None:
    error = failure(_tests(made, hypothesis.settings(PurgatoryTests.settings)))
    print(made.__name__, error.violation, *steps(error), sep="\n")
    assert error.violation.rule == clause
    assert steps(error)[0].startswith("state.new_purgatory("), "shown as code"
