"""Which states can a timer be in after several threads have called it at once?

The calls overlap, so the answer is a search: does some order of what the calls do explain the
answers? It moves copies of the oracle's timer. The effects of a call, and why there are several:

- An add binds its task. It has read the clock before that, and returns after it.
- An advance begins and ends. When it begins it owes the tasks that are due and whose adds have
  returned. While it is under way, the clock may show the time before it or after it.
- A cancel and a size have one effect each.
- A task may run at any moment at which it waits and is due.

The order that really happened is one of those that are tried. So no right timer is refused, however
its threads were scheduled.

>>> from wheelproof_spec.base.contract import EXACT
>>> empty = HeapTimer[TaskId](tick_ms=1, start_ms=0, contract=EXACT)
>>> add, cancel = Add(task="a", delay_ms=5), Cancel(task="a")
>>> threads = [[Answered(add)], [Answered(cancel, True)], [Answered(cancel, True)]]
>>> outcome = Outcome(threads=threads, ran=(), contract=EXACT, tick_ms=1)
>>> isinstance(outcome.explained_from([World(heap=empty)]), Violation)  # two threads cancelled it
True
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from wheelproof_spec.base.calls import Advance
from wheelproof_spec.base.contract import TimerContract
from wheelproof_spec.base.results.tally import Tally
from wheelproof_spec.base.results.violation import Violation
from wheelproof_spec.components.timer.component import (
    Add,
    Cancel,
    Size,
    TaskId,
    TimerClause,
    TimerObservation,
)
from wheelproof_spec.components.timer.oracle import HeapTimer, judge_step

Asked = Add | Cancel | Advance | Size

_BLAMED = (
    TimerClause.SIZE_COUNTS_WAITING,
    TimerClause.CANCEL_TELLS_THE_TRUTH,
    TimerClause.NOTHING_LEFT_BEHIND,
    TimerClause.NEVER_BEFORE_DUE,
)
"""The first of these without which there is an explanation is broken; else a task ran too often."""


@dataclass(frozen=True, slots=True)
class Answered:
    """A call and its answer: that of cancel or size, None if there is none."""

    call: Asked
    answer: bool | int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """A possible state of the timer under test.

    A cancel may leave its entry in a bucket if it meets an add or an advance (standard 1.11). Then
    `leftovers` has the time at which that was due, in milliseconds: size may count it until then.
    """

    heap: HeapTimer[TaskId]
    leftovers: tuple[int, ...] = ()

    def key(self) -> object:
        """Return what two worlds have in common if no call can tell them apart."""
        return self.heap.now_ms, frozenset(self.heap.due_times().items()), self.leftovers

    def after(
        self, call: Asked, seen: TimerObservation, tally: Tally, owes_ms: int
    ) -> "World | Violation":
        """Return the world after one call that no other call overlapped, or what `seen` breaks.

        `owes_ms` is the time up to which nothing is left in a bucket when an advance returns.
        """
        heap, leftovers = self.heap.copy(), self.leftovers
        if seen.size is not None:
            counted = min(max(seen.size - heap.size(), 0), len(leftovers))
            seen = replace(seen, size=seen.size - counted)
        violation = judge_step(heap, call, seen, tally)
        if isinstance(call, Advance):
            leftovers = tuple(due_ms for due_ms in leftovers if due_ms > owes_ms)
        return violation or World(heap=heap, leftovers=leftovers)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Moment:
    """A state of the search: `places` says how many effects of each thread have happened."""

    places: tuple[int, ...]
    heap: HeapTimer[TaskId]
    unplaced: tuple[TaskId, ...]
    """The tasks that ran, but not yet."""
    leftovers: tuple[int, ...]
    since_ms: tuple[int, ...]
    """The least time that each thread may have read since its last effect."""
    before_ms: int
    """The least time that the clock may show now: that before the advance under way, if any."""
    owed: frozenset[TaskId] | None = None
    """What the advance under way owes; None if there is none."""

    def key(self) -> object:
        due = frozenset(self.heap.due_times().items())
        clocks = (self.heap.now_ms, self.before_ms, self.since_ms)
        return self.places, due, self.unplaced, self.leftovers, self.owed, clocks


_Effect = Callable[[_Moment], Iterator[_Moment]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What came of calls that several threads made at once; one thread at most advanced.

    `threads` has the calls of each thread in their order, and `ran` the tasks that ran meanwhile.
    No task was added by two threads, or waited already when it was added. Clauses in `skip` are
    not judged.
    """

    threads: Sequence[Sequence[Answered]]
    ran: Sequence[TaskId]
    contract: TimerContract
    tick_ms: int
    skip: Collection[TimerClause] = ()

    def explained_from(self, worlds: Sequence[World]) -> list[World] | Violation:
        """Return the worlds in which the timer may be now, or the violation if there is none."""
        found = self._ends(worlds, frozenset(self.skip))
        if found:
            return found
        passing = frozenset(self.skip)
        for clause in _BLAMED:
            passing |= {clause}
            if clause not in self.skip and self._ends(worlds, passing):
                return self._broken(clause)
        return self._broken(TimerClause.RUNS_AT_MOST_ONCE)

    def _broken(self, clause: TimerClause) -> Violation:
        threads = ("; ".join(map(_told, thread)) for thread in self.threads)
        seen = "".join(f"\n  thread {number}: {told}" for number, told in enumerate(threads, 1))
        return clause.broken(
            "an order of the calls, in which each thread keeps its own, explains the answers",
            f"{seen}\n  ran: {', '.join(self.ran) or 'none'}",
            f"the threads called at once, and no order explains this: {clause.promise}",
        )

    def _ends(self, worlds: Sequence[World], passing: Collection[TimerClause]) -> list[World]:
        search = _Search(self, passing)
        ends = {end.key(): end for world in worlds for end in search.ends(world)}
        return list(ends.values())


class _Search:
    def __init__(self, outcome: Outcome, passing: Collection[TimerClause]) -> None:
        self._outcome = outcome
        self._passing = passing
        self._calls = [[one.call for one in thread] for thread in outcome.threads]
        self._added: dict[TaskId, tuple[int, int]] = {}
        """The thread that adds a task in one effect, and the number of the effect after that."""
        self._clocks_ms: set[int] = set()
        self._programs = [self._program(*numbered) for numbered in enumerate(outcome.threads)]

    def ends(self, world: World) -> Iterator[World]:
        """Yield the states in which all has happened, from `world` on."""
        now_ms = world.heap.now_ms
        self._clocks_ms.add(now_ms)
        first = _Moment(
            places=(0,) * len(self._programs),
            heap=world.heap,
            unplaced=tuple(sorted(self._outcome.ran)),
            leftovers=world.leftovers,
            since_ms=(now_ms,) * len(self._programs),
            before_ms=now_ms,
        )
        stack, seen = [first], {first.key()}
        lengths = tuple(map(len, self._programs))
        while stack:
            moment = stack.pop()
            if moment.places == lengths and not moment.unplaced:
                yield World(heap=moment.heap, leftovers=moment.leftovers)
            for following in self._following(moment):
                key = following.key()
                if key not in seen:
                    seen.add(key)
                    stack.append(following)

    def _following(self, moment: _Moment) -> Iterator[_Moment]:
        for thread, effects in enumerate(self._programs):
            place = moment.places[thread]
            if place < len(effects):
                places = _after_next(moment.places, thread)
                for after in effects[place](moment):
                    since_ms = list(after.since_ms)
                    since_ms[thread] = after.before_ms
                    yield replace(after, places=places, since_ms=tuple(since_ms))
        for task in set(moment.unplaced):
            heap = moment.heap.copy()
            if TimerClause.NEVER_BEFORE_DUE in self._passing:
                runs = heap.cancel(task)
            else:
                runs = heap.observe([task], advanced=False) is None
            if runs:
                unplaced = list(moment.unplaced)
                unplaced.remove(task)
                yield replace(moment, heap=heap, unplaced=tuple(unplaced))

    def _program(self, thread: int, calls: Sequence[Answered]) -> list[_Effect]:
        effects: list[_Effect] = []
        for answered in calls:
            match answered.call:
                case Add(task=task) as add:
                    effects.append(partial(self._bind, thread, add))
                    self._added[task] = thread, len(effects)
                case Advance(to_ms=to_ms):
                    effects += partial(self._begin, thread, to_ms), self._end
                    self._clocks_ms.add(to_ms)
                case Cancel(task=task):
                    leaves = self._may_leave_behind(thread, task)
                    effects.append(partial(self._cancel, task, answered.answer, leaves))
                case Size():
                    effects.append(partial(self._size, answered.answer))
        return effects

    def _may_leave_behind(self, thread: int, task: TaskId) -> bool:
        """Tell whether a cancel of this thread may meet an advance, or the add of its task."""
        others = [*self._calls[:thread], *self._calls[thread + 1 :]]
        return any(
            isinstance(call, Advance) or (isinstance(call, Add) and call.task == task)
            for own in others
            for call in own
        )

    def _bind(self, thread: int, add: Add, moment: _Moment) -> Iterator[_Moment]:
        now_ms = moment.heap.now_ms
        for read_ms in self._clocks_ms:
            if moment.since_ms[thread] <= read_ms <= now_ms:
                heap = moment.heap.copy()
                heap.add(add.task, read_ms + add.delay_ms - now_ms)
                yield replace(moment, heap=heap)

    def _begin(self, thread: int, to_ms: int, moment: _Moment) -> Iterator[_Moment]:
        by_ms = self._outcome.contract.owes_ms(to_ms, self._outcome.tick_ms)
        due = moment.heap.due_times().items()
        mine = replace(moment, places=_after_next(moment.places, thread))
        owed = {task for task, due_ms in due if due_ms <= by_ms and self._is_settled(task, mine)}
        heap = moment.heap.copy()
        heap.advance_to(to_ms)
        yield replace(moment, heap=heap, owed=frozenset(owed))

    def _is_settled(self, task: TaskId, moment: _Moment) -> bool:
        """Tell whether the add of a waiting task must have returned: its thread has gone on."""
        thread, effect = self._added.get(task, (0, -1))
        return moment.places[thread] > effect

    def _end(self, moment: _Moment) -> Iterator[_Moment]:
        left = (moment.owed or frozenset()) & moment.heap.waiting()
        if not left or TimerClause.NOTHING_LEFT_BEHIND in self._passing:
            yield replace(moment, owed=None, before_ms=moment.heap.now_ms)

    def _cancel(
        self, task: TaskId, answer: object, leaves: bool, moment: _Moment
    ) -> Iterator[_Moment]:
        heap = moment.heap.copy()
        due_ms = heap.due_times().get(task)
        found = heap.cancel(task)
        known = answer is not None and TimerClause.CANCEL_TELLS_THE_TRUTH not in self._passing
        if known and answer != found:
            return
        leftovers = moment.leftovers
        if leaves and due_ms is not None:
            leftovers = tuple(sorted((*leftovers, due_ms)))
        yield replace(moment, heap=heap, leftovers=leftovers)

    def _size(self, answer: int | None, moment: _Moment) -> Iterator[_Moment]:
        most = moment.heap.size() + len(moment.leftovers)
        least = moment.heap.size()
        if moment.owed is not None:
            # An advance carries one task from bucket to bucket, and hands on what is due (1.14).
            now_ms = moment.heap.now_ms
            least = sum(due_ms > now_ms for due_ms in moment.heap.due_times().values()) - 1
        known = answer is not None and TimerClause.SIZE_COUNTS_WAITING not in self._passing
        if not known or least <= (answer or 0) <= most:
            yield moment


def _after_next(places: tuple[int, ...], thread: int) -> tuple[int, ...]:
    return (*places[:thread], places[thread] + 1, *places[thread + 1 :])


def _told(one: Answered) -> str:
    return f"{one.call}" if one.answer is None else f"{one.call} -> {one.answer}"
