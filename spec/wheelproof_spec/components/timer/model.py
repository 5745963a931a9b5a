"""The sequential specification of a timer: a heap of due times, and effects with guards.

`HeapTimer` is the one place that says what the operations of a timer mean. Each effect is a method;
where an outcome may be wrong, a guard names the clause that it breaks (Timer.tla has the same
effects: Add, Cancel, Fire, Tick). It has three uses:

- `TimerOracle` judges driven cases. It makes all effects of a call before the next call. Where the
  contract leaves a choice, the observation decides.
- `history.search` looks for a linearization of calls that overlap: there the effects of the calls
  take turns. It takes small recorded histories, and programs of the model checker.
- `vector_answers.perform` gives the answers of a right timer, for vectors and pictures.

An add reads the clock, then binds its task, and is settled when it has returned. An advance begins
and ends. When it begins, it owes the tasks that are due and whose adds are settled. Every other
operation has one effect, and so has the submission of a task.
"""

import heapq
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from typing import NamedTuple, Self

from wheelproof_spec.base.calls import Advance, Reset
from wheelproof_spec.base.contract import FiringOrder, TimerContract, contract_of
from wheelproof_spec.base.port import RefusedError, unexpected_refusal
from wheelproof_spec.base.results.tally import Tally
from wheelproof_spec.base.results.violation import Violation
from wheelproof_spec.components.timer.component import (
    Add,
    Cancel,
    Size,
    TaskId,
    TimerCall,
    TimerClause,
    TimerConfig,
    TimerObservation,
)

TimerOperation = Add | Cancel | Advance | Size
"""A call of a timer but `Reset`."""


_OVERTAKEN = frozenset({TimerClause.RUNS_IN_ORDER})
"""The clauses after whose violation the tasks of a call are still judged one by one."""


class Entry(NamedTuple):
    """A task that waits: when it is due, in milliseconds, and by which add; ordered by due time."""

    due_ms: int
    add: int
    task: TaskId


class HeapTimer:
    """A timer on which every effect is instantaneous. The clock moves only by `move_clock`."""

    # The search for a linearization makes many copies, and slots make these quick.
    __slots__ = (
        "_adds",
        "_contract",
        "_heap",
        "_leftovers",
        "_linked_leftovers",
        "_now_ms",
        "_owed",
        "_readings",
        "_tally",
        "_tick_ms",
        "_unsettled",
        "_waiting",
    )

    def __init__(
        self, *, tick_ms: int, start_ms: int, contract: TimerContract, tally: Tally | None = None
    ) -> None:
        """Make an empty timer whose clock shows `start_ms` milliseconds.

        `tally` counts the tested clauses; its known limits are not judged.
        """
        self._tick_ms = tick_ms
        self._now_ms = start_ms
        self._contract = contract
        self._tally = tally or Tally()
        self._adds = 0
        self._waiting: dict[TaskId, Entry] = {}
        # Entries of tasks that no longer wait stay until they reach the top.
        self._heap: list[Entry] = []
        # What follows is empty unless calls overlap. It is replaced, and shared with copies.
        self._readings: Mapping[int, int] = {}
        """What the adds have read that have not yet bound their tasks."""
        self._unsettled: frozenset[int] = frozenset()
        """The adds that have bound their tasks and not returned."""
        self._owed: Mapping[int, frozenset[Entry]] = {}
        """What each advance under way owes."""
        self._leftovers: frozenset[Entry] = frozenset()
        """Entries without a task that may be linked still, and be counted (standard 1.11)."""
        self._linked_leftovers = (0, 0)
        """How many of the leftovers are linked: at least, at most."""

    def copy(self, tally: Tally | None = None) -> Self:
        """Return a timer in the same state; it counts in `tally`, by default in this one's."""
        other = object.__new__(type(self))
        other._tick_ms, other._now_ms = self._tick_ms, self._now_ms
        other._contract, other._tally = self._contract, tally or self._tally
        other._adds, other._waiting, other._heap = self._adds, self._waiting.copy(), self._heap[:]
        other._readings, other._unsettled = self._readings, self._unsettled
        other._owed, other._leftovers = self._owed, self._leftovers
        other._linked_leftovers = self._linked_leftovers
        return other

    def key(self) -> Hashable:
        """Return what two timers have in common if no effect can tell them apart."""
        waiting = frozenset(self._waiting.values())
        readings = tuple(sorted(self._readings.items()))
        owed: Hashable = None
        if self._owed:
            left = waiting | self._leftovers
            owed = frozenset([(advance, owes & left) for advance, owes in self._owed.items()])
        leftovers = self._leftovers, self._linked_leftovers
        return self._now_ms, waiting, readings, self._unsettled, owed, leftovers

    def __str__(self) -> str:
        tasks = [f"{entry.task} due at {entry.due_ms} ms" for entry in sorted(self.entries())]
        most = self._linked_leftovers[1]
        return f"[{', '.join(tasks)}]{f' and at most {most} leftovers' if most else ''}"

    @property
    def now_ms(self) -> int:
        """The time that the clock shows, in milliseconds."""
        return self._now_ms

    @property
    def lateness_ms(self) -> int:
        """How long after its due time a task may still wait, in milliseconds."""
        return self._contract.lateness_in_ms(self._tick_ms)

    @property
    def adds(self) -> int:
        """The largest number of an add."""
        return self._adds

    @property
    def is_advancing(self) -> bool:
        """Whether an advance is under way."""
        return bool(self._owed)

    def entries(self) -> Collection[Entry]:
        """Return the entries of the tasks that have neither run nor been cancelled."""
        return self._waiting.values()

    def due_times(self) -> Mapping[TaskId, int]:
        """Return when each of the waiting tasks is due, in milliseconds."""
        return {task: entry.due_ms for task, entry in self._waiting.items()}

    # Adding

    def add(self, task: TaskId, delay_ms: int) -> None:
        """Add `task`, due after `delay_ms` milliseconds: all effects of an add at once."""
        self._bind(task, self._now_ms + delay_ms, self._adds + 1)

    def read_clock(self, add: int, now_ms: int | None = None) -> None:
        """Let an add, named by a number, read the clock: it shows `now_ms`, if not the time now."""
        read_ms = self._now_ms if now_ms is None else now_ms
        self._readings = {**self._readings, add: read_ms}

    def bind(self, task: TaskId, delay_ms: int, add: int) -> None:
        """Bind the task of an add to a new entry; `delay_ms` counts from what the add has read."""
        self._bind(task, self._readings[add] + delay_ms, add)
        self._readings = {call: ms for call, ms in self._readings.items() if call != add}
        self._unsettled |= {add}

    def _bind(self, task: TaskId, deadline_ms: int, add: int) -> None:
        """Bind a task to a new entry; an earlier add of it is void (1.12)."""
        if task in self._waiting:
            self._leave_behind(self._waiting[task])
        entry = Entry(self._contract.due_ms(deadline_ms, self._tick_ms), add, task)
        self._adds = max(self._adds, add)
        self._waiting[task] = entry
        heapq.heappush(self._heap, entry)

    def settle(self, add: int) -> None:
        """Let an add return: advances that begin from now on owe its task."""
        if self._unsettled:
            self._unsettled -= {add}

    # Cancelling, and running

    def cancel(self, task: TaskId) -> bool:
        """Cancel `task` and tell whether it was waiting (standard 1.10)."""
        entry = self._waiting.pop(task, None)
        if entry is not None:
            self._leave_behind(entry)
        return entry is not None

    def _leave_behind(self, entry: Entry) -> None:
        """Note that an entry without a task may stay linked, if its add or an advance is under way.

        That is standard 1.11. If no size is judged, it makes no difference.
        """
        if not self._owed and entry.add not in self._unsettled:
            return
        if self._tally.skips(TimerClause.SIZE_COUNTS_WAITING):
            self.settle(entry.add)
        else:
            least, most = self._linked_leftovers
            self._leftovers |= {entry}
            self._linked_leftovers = least, most + 1

    def forbids_run(self, task: TaskId) -> TimerClause | None:
        """Return the clause that `submit` would break, if any; it changes nothing."""
        tests = self._tally.tests
        entry = self._waiting.get(task)
        tests(TimerClause.RUNS_AT_MOST_ONCE)
        if entry is None:
            return TimerClause.RUNS_AT_MOST_ONCE
        if tests(TimerClause.NEVER_BEFORE_DUE) and entry.due_ms > self._now_ms:
            return TimerClause.NEVER_BEFORE_DUE
        if self._contract.order is FiringOrder.ANY or not tests(TimerClause.RUNS_IN_ORDER):
            return None
        first_ms = self._earliest().due_ms
        is_overtaking = self._contract.comes_first(first_ms, entry.due_ms, self._tick_ms)
        return TimerClause.RUNS_IN_ORDER if is_overtaking else None

    def _earliest(self) -> Entry:
        """Return the entry that is due first; there has to be a task that waits."""
        while not self._waits(self._heap[0]):
            heapq.heappop(self._heap)
        return self._heap[0]

    def submit(self, task: TaskId) -> Violation | None:
        """Submit `task`, out of order as well; return the violation, if any."""
        clause = self.forbids_run(task)
        if clause is None:
            self._take_out(task)
            return None
        if clause is TimerClause.RUNS_AT_MOST_ONCE:
            return clause.broken(
                f"only waiting tasks run: {_some(self._waiting)}",
                f"{task!r} ran",
                f"{task!r} ran, but had run already, was cancelled, or was never added",
            )
        due_ms = self._waiting[task].due_ms
        if clause is TimerClause.NEVER_BEFORE_DUE:
            return clause.broken(
                f"{task!r} runs at {due_ms} ms or later",
                f"{task!r} ran at {self._now_ms} ms",
                f"{task!r} ran {due_ms - self._now_ms} ms before it was due at {due_ms} ms",
            )
        first = self._earliest()
        self._take_out(task)
        return clause.broken(
            f"{first.task!r}, due at {first.due_ms} ms, runs first",
            f"{task!r}, due at {due_ms} ms, ran first",
            f"{task!r}, due at {due_ms} ms, ran before {first.task!r}, due at {first.due_ms} ms",
        )

    def _take_out(self, task: TaskId) -> None:
        self.settle(self._waiting.pop(task).add)

    def submit_all(self, tasks: Iterable[TaskId]) -> Violation | None:
        """Submit the tasks that ran during one call, in that order; return the first violation."""
        found: Violation | None = None
        for task in tasks:
            violation = self.submit(task)
            found = found or violation
            if violation is not None and violation.rule not in _OVERTAKEN:
                break
        return found

    # Advancing

    def move_clock(self, to_ms: int) -> None:
        """Move the clock to `to_ms` milliseconds; it never goes back."""
        self._now_ms = max(self._now_ms, to_ms)

    def begin_advance(self, advance: int) -> None:
        """Begin an advance, named by a number: it owes what is due now and was added before."""
        by_ms = self._contract.owes_ms(self._now_ms, self._tick_ms)
        due = self._due(by_ms)
        due += [left for left in self._leftovers if left.due_ms <= by_ms]
        owed = frozenset([entry for entry in due if entry.add not in self._unsettled])
        self._owed = {**self._owed, advance: owed}

    def end_advance(self, advance: int, ran: Sequence[TaskId] = ()) -> Violation | None:
        """End an advance, in which the tasks `ran`: nothing that it owes waits any more (1.18)."""
        owed = self._finish(advance)
        if self._leftovers:
            # It has cleared each bucket that is due, and may have cleared others.
            self._leftovers -= owed
            self._linked_leftovers = 0, min(self._linked_leftovers[1], len(self._leftovers))
        if self._waiting:
            self._earliest()
        else:
            self._heap.clear()
        left = [entry for entry in owed if self._waits(entry)]
        if not self._tally.tests(TimerClause.NOTHING_LEFT_BEHIND) or not left:
            return None
        due_ms, _, task = min(left)
        return TimerClause.NOTHING_LEFT_BEHIND.broken(
            f"{task!r}, due at {due_ms} ms, has run when advance({self._now_ms}) returns",
            f"ran: {_some(ran)}",
            f"{task!r} was due at {due_ms} ms; advance({self._now_ms}) returned without running it",
        )

    def _finish(self, advance: int) -> frozenset[Entry]:
        """Forget an advance, and return what it owes."""
        owed = self._owed[advance]
        self._owed = {call: owes for call, owes in self._owed.items() if call != advance}
        return owed

    def _due(self, by_ms: int) -> list[Entry]:
        """Return the waiting entries that are due by `by_ms`: they are at the top of the heap."""
        due: list[Entry] = []
        places = [0]
        for place in places:
            if place < len(self._heap) and self._heap[place].due_ms <= by_ms:
                places += 2 * place + 1, 2 * place + 2
                due.append(self._heap[place])
        return [entry for entry in due if self._waits(entry)]

    def _waits(self, entry: Entry) -> bool:
        return self._waiting.get(entry.task) == entry

    # Answers

    def sizes(self) -> range:
        """Return the sizes that the timer may have: it counts what waits, and leftovers (1.14).

        An advance carries one task from bucket to bucket, and hands on what is due.
        """
        waiting, (least, most) = len(self._waiting), self._linked_leftovers
        if not self._owed:
            return range(waiting + least, waiting + most + 1)
        later = sum(entry.due_ms > self._now_ms for entry in self._waiting.values())
        return range(max(later - 1, 0), waiting + most + 1)

    def judge_cancel(self, task: TaskId, found: bool, seen: int | None) -> Violation | None:
        """Judge the answer `seen` of a cancel; `found` says whether its task was waiting."""
        clause = TimerClause.CANCEL_TELLS_THE_TRUTH
        if seen is None or not self._tally.tests(clause) or seen == found:
            return None
        was = f"{task!r} was waiting" if found else f"no task {task!r} was waiting"
        right, told = (
            f"cancel({task!r}) returns {str(found).lower()}",
            f"cancel({task!r}) returned {str(bool(seen)).lower()}",
        )
        return clause.broken(right, told, f"{told}, but {was}")

    def judge_size(self, sizes: range, seen: int | None) -> Violation | None:
        """Judge the answer `seen` of a size, which may be one of `sizes`.

        If no other call is under way, the answer shows how many leftovers are linked.
        """
        wrong = self._wrong_size(sizes, seen)
        alone = not self._owed and not self._unsettled
        if self._leftovers and alone and seen is not None and seen in sizes:
            linked = self._linked_leftovers[0] + sizes.index(seen)
            self._linked_leftovers = linked, linked
        return wrong

    def _wrong_size(self, sizes: range, seen: int | None) -> Violation | None:
        clause = TimerClause.SIZE_COUNTS_WAITING
        if seen is None or not self._tally.tests(clause) or seen in sizes:
            return None
        most, told = f" to {sizes[-1]}" if len(sizes) > 1 else "", f"size() returned {seen}"
        reason = f"{told}, but the tasks that wait are {_some(self._waiting)}"
        return clause.broken(f"size() returns {sizes[0]}{most}", told, reason)

    # Whole calls, one after the other

    def judge(self, call: TimerOperation, seen: TimerObservation) -> Violation | None:
        """Make all effects of `call`; return the clause that `seen`, its outcome elsewhere, breaks.

        An answer of None is not judged.
        """
        match call:
            case Add():
                return self._judge_add(call, seen.fired)
            case Cancel(task=task):
                found = self.cancel(task)
                return self.submit_all(seen.fired) or self.judge_cancel(task, found, seen.cancelled)
            case Advance(to_ms=to_ms):
                return self.advance(to_ms, seen.fired)
            case Size():
                sizes = self.sizes()
                return self.submit_all(seen.fired) or self.judge_size(sizes, seen.size)

    def _judge_add(self, call: Add, ran: Sequence[TaskId]) -> Violation | None:
        """Make an add during which the tasks `ran`.

        What ran before the task itself may have run before the add bound it, and after its earlier
        add was void. So the task is in nobody's way until then.
        """
        before = ran.index(call.task) if call.task in ran else len(ran)
        self.cancel(call.task)
        violation = self.submit_all(ran[:before])
        self.add(call.task, call.delay_ms)
        return violation or self.submit_all(ran[before:])

    def advance(self, to_ms: int, ran: Sequence[TaskId]) -> Violation | None:
        """Advance to `to_ms` milliseconds, while the tasks `ran` run in that order; judge that."""
        self.move_clock(to_ms)
        self.begin_advance(0)
        violation = self.submit_all(ran)
        if violation is None or violation.rule in _OVERTAKEN:
            # What was left behind was overtaken as well: that it was lost says more.
            return self.end_advance(0, ran) or violation
        self._finish(0)
        return violation


def timer_of(config: TimerConfig, contract: TimerContract, tally: Tally | None = None) -> HeapTimer:
    """Return the empty timer of this configuration."""
    return HeapTimer(
        tick_ms=config.tick_ms, start_ms=config.start_ms, contract=contract, tally=tally
    )


class TimerOracle:
    """The judge of a driven case: after each call it judges the outcome by the contract."""

    def __init__(self, profile: str, tally: Tally) -> None:
        """Judge by the contract `profile`, and count the tested clauses in `tally`."""
        self._contract = contract_of(profile)
        self._tally = tally
        self._timer = timer_of(TimerConfig(), self._contract, tally)

    @property
    def now_ms(self) -> int:
        """The time that the timer's clock shows, in milliseconds."""
        return self._timer.now_ms

    def drain(self) -> Advance:
        """Return the advance after which no task may wait."""
        last_ms = max(self.now_ms, 0, *self._timer.due_times().values())
        return Advance(to_ms=last_ms + self._timer.lateness_ms)

    def as_possible(self, call: TimerCall) -> TimerCall:
        """Return `call`: every call is possible at any time."""
        return call

    def judge(self, call: TimerCall, seen: TimerObservation) -> Violation | None:
        """Return the clause that `seen`, the outcome of `call`, breaks, if any."""
        self._tally.tests(TimerClause.ACCEPTS_ITS_DOMAIN)
        if isinstance(call, Reset):
            self._timer = timer_of(call.config, self._contract, self._tally)
            return None
        return self._timer.judge(call, seen)

    def judge_refusal(self, call: TimerCall, refusal: RefusedError) -> Violation:
        """Return the violation by the refusal of a call of the domain (standard 1.17)."""
        self._tally.tests(TimerClause.ACCEPTS_ITS_DOMAIN)
        return unexpected_refusal(TimerClause.ACCEPTS_ITS_DOMAIN, call, refusal)


def _some(tasks: Collection[TaskId], limit: int = 8) -> str:
    names = [repr(task) for task in list(tasks)[:limit]]
    if len(tasks) > limit:
        names.append(f"and {len(tasks) - limit} more")
    return ", ".join(names) or "none"
