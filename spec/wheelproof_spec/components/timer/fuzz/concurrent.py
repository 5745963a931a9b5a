"""Which outcomes of concurrent calls on a timer the contract allows.

Calls that overlap may take effect in any order between their invocation and their return, so the
oracle keeps, for each task, the SET of states that the task can be in, and after a burst of calls
asks which states some order of effects leads to. None: what was seen has no explanation.

Tasks do not influence one another, so each is judged alone; that keeps the search small. The
effects of one task are those of Timer.tla: Add (the clock is read at some moment after the
invocation, no later than the effect), Cancel, Fire. An advance is no single effect: it fires tasks
one by one, and promises only, when it returns, that nothing is left that was due and whose add had
returned when it began (semantics.md 1.18).
"""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Generic, TypeVar

from wheelproof_spec.base.contract import FiringOrder, TimerContract
from wheelproof_spec.base.violation import Violation

TaskKey = TypeVar("TaskKey", bound=Hashable)


class CallKind(Enum):
    """What a call does."""

    ADD = "add"
    CANCEL = "cancel"
    TICK = "tick"
    ADVANCE = "advance"


@dataclass(frozen=True, slots=True, kw_only=True)
class TimerCall(Generic[TaskKey]):
    """One call of a burst, with its place in the common order of invocations and returns.

    `task` belongs to add and cancel, `delay_ms` to add, `cancelled` is what cancel answered, and
    `to_ms` the time that a tick sets the clock to. Ticks do not overlap one another.
    """

    kind: CallKind
    invoked: int
    returned: int
    task: TaskKey | None = None
    delay_ms: int = 0
    cancelled: bool = False
    to_ms: int = 0


@dataclass(frozen=True, slots=True)
class _Pending:
    due_ms: int
    settled: int
    """The position at which the add returned; before that no advance owes anything."""


@dataclass(frozen=True, slots=True)
class _State:
    pending: _Pending | None
    open_calls: frozenset[int]
    fires_left: int


@dataclass(frozen=True, slots=True)
class _Rules:
    """Which rules the search holds to; leaving one out tells whether that is the broken one."""

    nothing_due_is_left: bool = True
    never_early: bool = True
    cancel_tells_the_truth: bool = True


_RELAXATIONS = (
    ("Timer.NothingDueIsLeftBehind", _Rules(nothing_due_is_left=False)),
    ("Timer.NeverBeforeItIsDue", _Rules(never_early=False)),
    ("Timer.CancelTellsTheTruth", _Rules(cancel_tells_the_truth=False)),
)
_BEFORE = -1


class ConcurrentTimer(Generic[TaskKey]):
    """The states that a timer can be in after bursts of overlapping calls."""

    def __init__(self, *, tick_ms: int, start_ms: int, contract: TimerContract) -> None:
        """Start with an empty timer whose clock shows `start_ms` milliseconds."""
        self._tick_ms = tick_ms
        self._now_ms = start_ms
        self._contract = contract
        self._possible: dict[TaskKey, frozenset[_Pending | None]] = {}
        self._last_due_ms = start_ms
        self._removals = 0

    @property
    def now_ms(self) -> int:
        """The time that the clock shows between bursts, in milliseconds."""
        return self._now_ms

    def last_due_ms(self) -> int:
        """Return the time, in milliseconds, by which everything ever added is due."""
        return self._last_due_ms

    def judge(
        self, calls: Sequence[TimerCall[TaskKey]], fired: Sequence[TaskKey], size: int
    ) -> Violation | None:
        """Take note of a burst: its calls, the tasks that ran, in order, and the size afterwards.

        Returns the first rule for which no order of effects explains what was seen, or None.
        """
        touched = {call.task for call in calls if call.task is not None}
        order_violation = self._judge_order(fired, touched)
        for task in [*self._possible, *((touched | set(fired)) - self._possible.keys())]:
            violation = self._judge_task(task, calls, fired)
            if violation is not None:
                return violation
        self._count_removals(calls)
        self._now_ms = _clock_high(calls, self._now_ms)
        return order_violation or self._judge_size(size)

    def _judge_task(
        self, task: TaskKey, calls: Sequence[TimerCall[TaskKey]], fired: Sequence[TaskKey]
    ) -> Violation | None:
        search = _Search(
            [call for call in calls if call.task in (None, task)],
            now_ms=self._now_ms,
            tick_ms=self._tick_ms,
            contract=self._contract,
        )
        before = self._possible.get(task, frozenset({None}))
        fires = sum(name == task for name in fired)
        after = search.run(before, fires, _Rules())
        if after:
            self._possible[task] = after
            return None
        rule = next(
            (name for name, rules in _RELAXATIONS if search.run(before, fires, rules)),
            "Timer.RunsAtMostOncePerAdd",
        )
        return Violation(
            rule=rule,
            expected=f"some order of the overlapping calls explains what became of {task!r}",
            observed=f"{task!r} ran {fires} times; {search.describe()}",
            reason=f"no order of effects within the calls keeps {rule} for {task!r}",
        )

    def _judge_order(
        self, fired: Sequence[TaskKey], touched: Iterable[TaskKey]
    ) -> Violation | None:
        """Check the order among the tasks of which only one fate was possible."""
        if self._contract.order is FiringOrder.ANY:
            return None
        uncertain = set(touched)
        last: tuple[int, TaskKey] | None = None
        for task in fired:
            states = self._possible.get(task, frozenset())
            state = next(iter(states), None)
            if task in uncertain or len(states) != 1 or state is None:
                continue
            if last is not None and state.due_ms < last[0]:
                return Violation(
                    rule="Timer.RunsInOrderOfDueTime",
                    expected=f"{task!r}, due at {state.due_ms} ms, runs before {last[1]!r}",
                    observed=f"{last[1]!r}, due at {last[0]} ms, ran first",
                    reason="one advance submits by due time",
                )
            last = (state.due_ms, task)
        return None

    def _count_removals(self, calls: Sequence[TimerCall[TaskKey]]) -> None:
        """Count the entries that may be linked though their tasks are not waiting.

        A cancel or an add that meets the task between two lists leaves its older entry behind,
        until the bucket of that entry expires (semantics.md 1.11).
        """
        high_ms = _clock_high(calls, self._now_ms)
        for call in calls:
            if call.kind is CallKind.ADD:
                due_ms = self._contract.due_ms(high_ms + call.delay_ms, self._tick_ms)
                self._last_due_ms = max(self._last_due_ms, due_ms)
        if any(
            call.kind is CallKind.ADVANCE
            and _clock_low(calls, self._now_ms, call.invoked) >= self._last_due_ms
            for call in calls
        ):
            self._removals = 0
        self._removals += sum(call.kind in (CallKind.ADD, CallKind.CANCEL) for call in calls)

    def _judge_size(self, size: int) -> Violation | None:
        least = sum(None not in states for states in self._possible.values())
        may_wait = (any(state is not None for state in s) for s in self._possible.values())
        most = self._removals + sum(may_wait)
        if least <= size <= most:
            return None
        return Violation(
            rule="Timer.SizeCountsWaitingTasks",
            expected=f"a size of {least} to {most}",
            observed=f"a size of {size}",
            reason="the counter differs from the entries that can be linked",
        )


class _Search(Generic[TaskKey]):
    """All orders of effects of one task's calls, walked position by position."""

    def __init__(
        self,
        calls: Sequence[TimerCall[TaskKey]],
        *,
        now_ms: int,
        tick_ms: int,
        contract: TimerContract,
    ) -> None:
        self._calls = calls
        self._now_ms = now_ms
        self._tick_ms = tick_ms
        self._contract = contract
        self._events = sorted(
            [(call.invoked, number, True) for number, call in enumerate(calls)]
            + [(call.returned, number, False) for number, call in enumerate(calls)]
        )

    def run(
        self, before: frozenset[_Pending | None], fires: int, rules: _Rules
    ) -> frozenset[_Pending | None]:
        """Return the states after all calls, from any state of `before`, with `fires` runs."""
        states = {_State(pending, frozenset(), fires) for pending in before}
        for position, number, invoked in self._events:
            call = self._calls[number]
            if invoked:
                if call.task is not None:
                    opened = frozenset({number})
                    states = {
                        _State(s.pending, s.open_calls | opened, s.fires_left) for s in states
                    }
            else:
                states = {s for s in states if self._may_return(s, number, call, rules)}
            states = self._close(states, position, rules)
        return frozenset(
            None if s.pending is None else _Pending(s.pending.due_ms, _BEFORE)
            for s in states
            if not s.fires_left
        )

    def describe(self) -> str:
        """Return the task's calls in words, in the order of their invocations."""
        return "; ".join(
            f"[{call.invoked}, {call.returned}] {_words(call)}"
            for call in sorted(self._calls, key=lambda call: call.invoked)
        )

    def _may_return(
        self, state: _State, number: int, call: TimerCall[TaskKey], rules: _Rules
    ) -> bool:
        if call.kind is CallKind.ADVANCE and rules.nothing_due_is_left:
            pending = state.pending
            return (
                pending is None
                or pending.settled > call.invoked
                or pending.due_ms + self._contract.lateness_ms
                > _clock_low(self._calls, self._now_ms, call.invoked)
            )
        return number not in state.open_calls

    def _close(self, states: set[_State], position: int, rules: _Rules) -> set[_State]:
        """Add all states that effects within this position lead to."""
        reached = set(states)
        frontier = list(states)
        while frontier:
            for successor in self._successors(frontier.pop(), position, rules):
                if successor not in reached:
                    reached.add(successor)
                    frontier.append(successor)
        return reached

    def _successors(self, state: _State, position: int, rules: _Rules) -> Iterable[_State]:
        pending = state.pending
        if pending is not None and state.fires_left:
            high_ms = _clock_high(self._calls, self._now_ms, position)
            if not rules.never_early or pending.due_ms <= high_ms:
                yield _State(None, state.open_calls, state.fires_left - 1)
        for number in state.open_calls:
            call = self._calls[number]
            others = state.open_calls - {number}
            if call.kind is CallKind.ADD:
                for read_ms in self._clock_readings(call.invoked, position):
                    due_ms = self._contract.due_ms(read_ms + call.delay_ms, self._tick_ms)
                    yield _State(_Pending(due_ms, call.returned), others, state.fires_left)
            elif not rules.cancel_tells_the_truth or call.cancelled == (pending is not None):
                yield _State(None, others, state.fires_left)

    def _clock_readings(self, first: int, last: int) -> set[int]:
        """All times that the clock can show between two positions."""
        during = {c.to_ms for c in _ticks(self._calls) if c.invoked <= last and c.returned > first}
        return during | {_clock_low(self._calls, self._now_ms, first)}


def _words(call: TimerCall[TaskKey]) -> str:
    match call.kind:
        case CallKind.ADD:
            return f"add({call.delay_ms} ms)"
        case CallKind.CANCEL:
            return f"cancel -> {call.cancelled}"
        case CallKind.TICK:
            return f"clock to {call.to_ms} ms"
        case CallKind.ADVANCE:
            return "advance"


def _clock_low(calls: Sequence[TimerCall[TaskKey]], before_ms: int, position: int) -> int:
    """The least time that the clock can show at this position."""
    returned = (call.to_ms for call in _ticks(calls) if call.returned <= position)
    return max(returned, default=before_ms)


def _clock_high(
    calls: Sequence[TimerCall[TaskKey]], before_ms: int, position: int | None = None
) -> int:
    """The greatest time that the clock can show at this position, or in the end."""
    invoked = (call.to_ms for call in _ticks(calls) if position is None or call.invoked <= position)
    return max(invoked, default=before_ms)


def _ticks(calls: Sequence[TimerCall[TaskKey]]) -> Iterable[TimerCall[TaskKey]]:
    return (call for call in calls if call.kind is CallKind.TICK)
