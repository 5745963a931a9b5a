"""Happens-before of a finished run, and its races: pairs of events whose order can be reversed.

The past of an event is a bit mask over the events of the run, itself included.

Event B races with event A if A is the latest event that conflicts with B and is not in B's past,
and if B could have come before A. Conflicting events before A are no races of this run: the run in
which A and B have changed places shows them, with one conflicting event less in between. An
operation that waits could not have come before the event that ended its wait. So for it the search
goes further back, up to the latest event before which it was possible. For a lock that is an
acquisition, but also a test of the lock while it was free, or a release that raised. Without that
search, every order of the wait with earlier events would be lost.
"""

from collections.abc import Iterator

from wheelproof_explore.runs.execution import Execution
from wheelproof_explore.runtime.accesses import Accesses, Event
from wheelproof_explore.runtime.model import AtomicOperation, ModelThread
from wheelproof_explore.runtime.numbers import THREAD_MASK, TIME
from wheelproof_explore.runtime.settings import TimeMode


class _ObjectHistory:
    """The past events of one object, and whether each writes; the reads since the last write."""

    __slots__ = ("events", "last_write", "reads")

    def __init__(self) -> None:
        self.last_write = -1
        self.reads: list[int] = []
        self.events: list[tuple[int, bool]] = []


class Analysis:
    """The events of a run, their pasts, and how to reverse two of them."""

    def __init__(self, execution: Execution) -> None:
        self.execution = execution
        self._objects: dict[int, _ObjectHistory] = {}
        self._calls: tuple[list[int], list[int]] = ([], [])
        self._last: dict[int, int] = {}
        # A lazy clock moves when no other thread can, so every event is before or after it. Blocked
        # threads race at that point as if the run ended there.
        self._barrier = 0
        self.pasts: list[int] = []
        self.races: list[tuple[int, int]] = []
        self._blocked: dict[int, ModelThread] = {}
        for place in range(len(execution.actors)):
            self._add(place)
        self._add_blocked(len(execution.actors))

    def reversal(self, first: int, second: int) -> list[Event] | None:
        """Return a sequence to run instead of `first`, so that `second` comes before it.

        It has every event that does not happen after `first`, then `second` as it is there;
        None if `second` would be blocked there, so that no other order is possible.
        """
        actors, accesses = self.execution.actors, self.execution.accesses
        later, mask = self._without(first, len(self.pasts))
        resolved = self._resolve(second, mask)
        if resolved is None:
            return None
        return [*((actors[place], accesses[place]) for place in later), resolved]

    def concurrent_with(self, first: int, start: int) -> bool:
        """Tell whether any event from `start` on does not happen after `first`."""
        return any(not past >> first & 1 for past in self.pasts[start:])

    def _without(self, first: int, end: int) -> tuple[list[int], int]:
        """Return what lies between `first` and `end` and does not happen after `first`.

        The mask has the events before `first` as well.
        """
        later = [place for place in range(first + 1, end) if not self.pasts[place] >> first & 1]
        mask = (1 << first) - 1
        for place in later:
            mask |= 1 << place
        return later, mask

    def _thread_of(self, place: int) -> ModelThread:
        actors = self.execution.actors
        if place < len(actors):
            return self.execution.threads[actors[place] & THREAD_MASK]
        return self._blocked[place]

    def _resolve(self, place: int, mask: int) -> Event | None:
        execution = self.execution
        if place < len(execution.actors):
            actor = execution.actors[place]
            operation = execution.operations[place]
            accesses: Accesses | None = execution.accesses[place]
        else:
            thread = self._blocked[place]
            actor, operation, accesses = thread.number, thread.pending, ()
        if operation is None:
            return None
        if not operation.fixed:
            accesses = _peek_after(operation, self._thread_of(place), mask)
        elif operation.blocking:
            accesses = operation.wanted()
        return None if accesses is None else (actor, accesses)

    def _add(self, place: int) -> None:
        execution = self.execution
        actor = execution.actors[place] & THREAD_MASK
        accesses = execution.accesses[place]
        operation = execution.operations[place]
        past = self._past_of_thread(actor)
        if actor == TIME and execution.runtime.settings.time is TimeMode.LAZY:
            self._add_blocked(place)
            past = self._barrier = (2 << place) - 1
        elif operation is not None:
            past = self._race(place, operation, accesses, past)
        past = self._note(place, accesses, past | 1 << place)
        self._last[actor] = past
        self.pasts.append(past)

    def _race(
        self, place: int, operation: AtomicOperation[object], accesses: Accesses, past: int
    ) -> int:
        if operation.blocking:
            return self._race_backwards(place, operation, accesses, past)
        for first in self._candidates(accesses):
            if not past >> first & 1:
                self.races.append((first, place))
                past |= self.pasts[first]
        return past

    def _race_backwards(
        self, place: int, operation: AtomicOperation[object], accesses: Accesses, past: int
    ) -> int:
        """Add the races of an operation that may be blocked again and again; see the module."""
        for access in accesses:
            history = self._objects.get(access >> 1)
            if history is None:
                continue
            for first, writes in reversed(history.events):
                if not writes and not access & 1:
                    continue
                if past >> first & 1:
                    if writes:
                        # It happens after all that came before it.
                        break
                elif self._was_possible(place, operation, first):
                    self.races.append((first, place))
                    past |= self.pasts[first]
        return past

    def _was_possible(self, place: int, operation: AtomicOperation[object], first: int) -> bool:
        """Tell whether an operation could have come right before an event, instead of later."""
        if operation.fixed:
            # It has one object, whose writes happen in the order of the run.
            mask = (1 << first) - 1
        else:
            _, mask = self._without(first, min(place, len(self.pasts)))
        return _peek_after(operation, self._thread_of(place), mask) is not None

    def _past_of_thread(self, number: int) -> int:
        known = self._last.get(number)
        if known is None:
            born = self.execution.threads[number].spawned_at
            known = 0 if born < 0 else self.pasts[born]
        return known | self._barrier

    def _candidates(self, accesses: Accesses) -> Iterator[int]:
        """Yield the earlier events that an event with these accesses may race with."""
        for access in accesses:
            if access < 2:
                yield from reversed(self._calls[1 - access])
                continue
            history = self._objects.get(access >> 1)
            if history is None:
                continue
            if access & 1:
                yield from reversed(history.reads)
            if history.last_write >= 0:
                yield history.last_write

    def _note(self, place: int, accesses: Accesses, past: int) -> int:
        """Add the event to the history of its objects; returns its whole past."""
        for access in accesses:
            if access < 2:
                for other in self._calls[1 - access]:
                    past |= self.pasts[other]
                self._calls[access].append(place)
                continue
            history = self._objects.get(access >> 1)
            if history is None:
                history = self._objects[access >> 1] = _ObjectHistory()
            if history.last_write >= 0:
                past |= self.pasts[history.last_write]
            if access & 1:
                for other in history.reads:
                    past |= self.pasts[other]
                history.reads = []
                history.last_write = place
                history.events.append((place, True))
            else:
                history.reads.append(place)
                history.events.append((place, False))
        return past

    def _add_blocked(self, now: int) -> None:
        """Add the races of each blocked thread with the events that took what it waits for.

        To be called for a point `now` at which no thread can make a step.
        """
        execution = self.execution
        lazy = execution.runtime.settings.time is TimeMode.LAZY
        for thread in execution.threads.values():
            if (lazy and thread.number == TIME) or thread.spawned_at >= now:
                continue
            place = self._next_place(thread.number, now)
            operation = thread.pending if place is None else execution.operations[place]
            if operation is None or not operation.blocking:
                continue
            if place is None:
                place = len(execution.actors) + len(self._blocked)
                self._blocked[place] = thread
            self._race(place, operation, operation.wanted(), self._past_of_thread(thread.number))

    def _next_place(self, number: int, now: int) -> int | None:
        actors = self.execution.actors
        if now == len(actors):
            return None
        return next(
            (place for place in range(now, len(actors)) if actors[place] & THREAD_MASK == number),
            None,
        )


def _peek_after(
    operation: AtomicOperation[object], thread: ModelThread, mask: int
) -> Accesses | None:
    targets = operation.targets(thread)
    for target in targets:
        target.rewind(mask)
    try:
        return operation.peek(thread)
    finally:
        for target in targets:
            target.restore()
