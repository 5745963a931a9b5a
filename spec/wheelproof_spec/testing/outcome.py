"""Which states can a timer be in after several threads have called it at once?

The calls overlap, so the answer is a search: does some order of what the calls do explain the
answers? The effects are those of the oracle's heap of due times, and each step changes a copy:

- An add binds its task. It has read the clock before that, and returns after it.
- An advance begins and ends. When it begins it owes the tasks that are due and whose adds have
  returned. While it is under way, the clock may show the time before it or after it.
- A cancel and a size have one effect each.
- A task may run at any moment at which it waits and is due.

The order that really happened is one of those that are tried. So no right timer is refused, however
its threads were scheduled.

>>> from wheelproof_spec.base.contract import EXACT
>>> empty = HeapTimer(tick_ms=1, start_ms=0, contract=EXACT)
>>> add, cancel = Add(task="a", delay_ms=5), Cancel(task="a")
>>> threads = [[Answered(add)], [Answered(cancel, True)], [Answered(cancel, True)]]
>>> outcome = Outcome(threads=threads, ran=())
>>> isinstance(outcome.explained_from([empty]), Violation)  # two threads cancelled it
True
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import count

from wheelproof_spec.base.calls import Advance
from wheelproof_spec.base.results.tally import Tally
from wheelproof_spec.base.results.violation import Violation
from wheelproof_spec.components.timer.component import Add, Cancel, Size, TaskId, TimerClause
from wheelproof_spec.components.timer.model import HeapTimer

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
class _Moment:
    """A state of the search: `places` says how many effects of each thread have happened."""

    places: tuple[int, ...]
    heap: HeapTimer
    unplaced: tuple[TaskId, ...]
    """The tasks that ran, but not yet."""
    since_ms: tuple[int, ...]
    """The least time that each thread may have read since its last effect."""
    before_ms: int
    """The least time that the clock may show now: that before the advance under way, if any."""

    def key(self) -> object:
        return self.places, self.heap.key(), self.unplaced, self.before_ms, self.since_ms


@dataclass(frozen=True, slots=True, kw_only=True)
class _Effect:
    """An effect of a call, which has a number.

    `after` gets a timer, which it may change, and the least time that the thread may have read. It
    yields what the timer may be then: nothing if a guard forbids the effect.
    """

    number: int
    after: Callable[[HeapTimer, int], Iterator[HeapTimer]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What came of calls that several threads made at once; one thread at most advanced.

    `threads` has the calls of each thread in their order, and `ran` the tasks that ran meanwhile.
    No task was added by two threads, or waited already when it was added. Clauses in `skip` are
    not judged.
    """

    threads: Sequence[Sequence[Answered]]
    ran: Sequence[TaskId]
    skip: Collection[TimerClause] = ()

    def explained_from(self, worlds: Sequence[HeapTimer]) -> list[HeapTimer] | Violation:
        """Return what the timer may be now, from what it may have been; or the violation."""
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

    def _ends(
        self, worlds: Sequence[HeapTimer], passing: Collection[TimerClause]
    ) -> list[HeapTimer]:
        search = _Search(self, max(world.adds for world in worlds))
        tally = Tally(limits=passing)
        ends = {end.key(): end for world in worlds for end in search.ends(world.copy(tally))}
        return list(ends.values())


class _Search:
    def __init__(self, outcome: Outcome, adds: int) -> None:
        """Prepare the search; `adds` is the largest number of an add so far."""
        self._outcome = outcome
        self._clocks_ms: set[int] = set()
        numbers = count(adds + 1)
        self._programs = [self._program(thread, numbers) for thread in outcome.threads]

    def ends(self, world: HeapTimer) -> Iterator[HeapTimer]:
        """Yield what the timer may be when all has happened, from `world` on."""
        now_ms = world.now_ms
        self._clocks_ms.add(now_ms)
        first = _Moment(
            places=(0,) * len(self._programs),
            heap=world,
            unplaced=tuple(sorted(self._outcome.ran)),
            since_ms=(now_ms,) * len(self._programs),
            before_ms=now_ms,
        )
        stack, seen = [first], {first.key()}
        lengths = tuple(map(len, self._programs))
        while stack:
            moment = stack.pop()
            if moment.places == lengths and not moment.unplaced:
                yield self._gone_on(moment, range(len(lengths)))
            for following in self._following(moment):
                key = following.key()
                if key not in seen:
                    seen.add(key)
                    stack.append(following)

    def _following(self, moment: _Moment) -> Iterator[_Moment]:
        for thread, effects in enumerate(self._programs):
            place = moment.places[thread]
            if place == len(effects):
                continue
            places = (*moment.places[:thread], place + 1, *moment.places[thread + 1 :])
            before = self._gone_on(moment, [thread])
            for heap in effects[place].after(before, moment.since_ms[thread]):
                before_ms = moment.before_ms if heap.is_advancing else heap.now_ms
                since_ms = list(moment.since_ms)
                since_ms[thread] = before_ms
                yield replace(
                    moment, places=places, heap=heap, before_ms=before_ms, since_ms=tuple(since_ms)
                )
        for task in set(moment.unplaced):
            heap = moment.heap.copy()
            if heap.submit(task) is None:
                unplaced = list(moment.unplaced)
                unplaced.remove(task)
                yield replace(moment, heap=heap, unplaced=tuple(unplaced))

    def _gone_on(self, moment: _Moment, threads: Iterable[int]) -> HeapTimer:
        """Return the timer when these threads go on: their last adds have returned."""
        heap = moment.heap.copy()
        for thread in threads:
            if moment.places[thread]:
                heap.settle(self._programs[thread][moment.places[thread] - 1].number)
        return heap

    def _program(self, calls: Sequence[Answered], numbers: Iterator[int]) -> list[_Effect]:
        effects: list[_Effect] = []
        for answered in calls:
            number = next(numbers)
            match answered.call:
                case Add() as add:
                    after = [partial(self._bind, number, add)]
                case Advance(to_ms=to_ms):
                    after = [partial(self._begin, number, to_ms), partial(self._end, number)]
                    self._clocks_ms.add(to_ms)
                case Cancel(task=task):
                    after = [partial(self._cancel, task, answered.answer)]
                case Size():
                    after = [partial(self._size, answered.answer)]
            effects += (_Effect(number=number, after=one) for one in after)
        return effects

    def _bind(self, number: int, add: Add, heap: HeapTimer, since_ms: int) -> Iterator[HeapTimer]:
        for read_ms in self._clocks_ms:
            if since_ms <= read_ms <= heap.now_ms:
                bound = heap.copy()
                bound.read_clock(number, read_ms)
                bound.bind(add.task, add.delay_ms, number)
                yield bound

    def _begin(
        self, number: int, to_ms: int, heap: HeapTimer, since_ms: int
    ) -> Iterator[HeapTimer]:
        del since_ms
        heap.move_clock(to_ms)
        heap.begin_advance(number)
        yield heap

    def _end(self, number: int, heap: HeapTimer, since_ms: int) -> Iterator[HeapTimer]:
        del since_ms
        if heap.end_advance(number) is None:
            yield heap

    def _cancel(
        self, task: TaskId, answer: int | None, heap: HeapTimer, since_ms: int
    ) -> Iterator[HeapTimer]:
        del since_ms
        if heap.judge_cancel(heap.cancel(task), answer) is None:
            yield heap

    def _size(self, answer: int | None, heap: HeapTimer, since_ms: int) -> Iterator[HeapTimer]:
        del since_ms
        if heap.judge_size(heap.sizes(), answer) is None:
            yield heap


def _told(one: Answered) -> str:
    return f"{one.call}" if one.answer is None else f"{one.call} -> {one.answer}"
