"""The set of possible states of one task while calls on it overlap.

The effects are those of Timer.tla: Add (with a reading of the clock at any moment since the call
began), Cancel, Fire. They happen between the recorded events, so before each event of the task the
set is closed under them. Tasks do not influence one another.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from wheelproof_spec.base.history.clock import NEVER, HistoryClock


@dataclass(frozen=True, slots=True)
class Waiting:
    """A waiting task, which is due at a time between `low` and `high`; `call` added it."""

    low: int
    high: int
    call: int


@dataclass(frozen=True, slots=True)
class OpenAdd:
    """An add that has not taken effect."""

    call: int
    mark: int
    delay_ms: int


@dataclass(frozen=True, slots=True)
class OpenCancel:
    """A cancel, with its answer once it has taken effect."""

    call: int
    answer: bool | None = None


OpenCall = OpenAdd | OpenCancel


@dataclass(frozen=True, slots=True)
class TaskState:
    """One possible state of a task; `owed` counts runs that were submitted but not yet seen."""

    waiting: Waiting | None = None
    owed: int = 0
    calls: frozenset[OpenCall] = frozenset()


IDLE = TaskState()


@dataclass(slots=True)
class Advances:
    """The state of the advances, which all tasks share.

    `began` is where the last-begun of the returned advances began, `clock_ms` the time up to which
    it owed tasks. `inline`: a task has begun to run when the call that submitted it returns.
    `unseen`: a thread of the timer may advance at any time, and is not recorded.
    """

    inline: bool
    unseen: bool
    began: int = -1
    clock_ms: int = -NEVER
    under_way: int = 0

    @property
    def may_carry(self) -> bool:
        """Whether an advance may be under way, and have taken an entry out of its list."""
        return self.unseen or self.under_way > 0


class TaskStates:
    """The set of states of one task."""

    def __init__(
        self,
        clock: HistoryClock,
        advances: Advances,
        states: Iterable[TaskState],
        settled: dict[int, int],
    ) -> None:
        """Start with `states`; `settled` has the index at which each add among them returned."""
        self._clock = clock
        self._advances = advances
        self._settled_at = settled
        self.states = set(states)
        self.under_way = sum(len(state.calls) for state in self.states)
        """The number of calls on the task that have not returned, with or without an effect."""
        self.meetings = 0
        """The number of calls that overlapped another call since no call was under way."""
        self.latest_ms = max(
            (state.waiting.high for state in self.states if state.waiting is not None),
            default=-NEVER,
        )
        """The latest due time of all entries that the task has had since then."""
        self._adds = {
            call.call: call
            for state in self.states
            for call in state.calls
            if isinstance(call, OpenAdd)
        }

    def settled(self, call: int) -> int | None:
        """Return the index at which an add returned, if it has."""
        return self._settled_at.get(call)

    def begin(self, call: OpenCall) -> None:
        """Record that a call on the task began."""
        self.settle_time()
        self.under_way += 1
        if isinstance(call, OpenAdd):
            self._adds[call.call] = call
        self.states = {
            TaskState(state.waiting, state.owed, state.calls | {call}) for state in self.states
        }

    def add_returned(self, call: int, index: int) -> None:
        """Record that an add returned, so it took effect; now an advance has to submit the task."""
        self.settle_time()
        self.states = {
            state for state in self.states if not any(other.call == call for other in state.calls)
        }
        add = self._adds.pop(call)
        self.latest_ms = max(self.latest_ms, self._clock.dues(add.mark, add.delay_ms)[-1][1])
        self._settled_at[call] = index
        self.under_way -= 1
        self._drop_what_was_not_seen()

    def cancel_returned(self, call: int, answer: bool) -> bool:
        """Record that a cancel returned; return whether a state explains its answer."""
        self.settle_time()
        self.under_way -= 1
        mark = OpenCancel(call, answer)
        left = {
            TaskState(state.waiting, state.owed, state.calls - {mark})
            for state in self.states
            if mark in state.calls
        }
        self.states = left or self.states
        return bool(left)

    def cancel_ended(self, call: int) -> None:
        """Record that a cancel returned without an answer, so it has taken effect either way."""
        self.settle_time()
        self.under_way -= 1
        marks = (OpenCancel(call, True), OpenCancel(call, False))
        self.states = {
            TaskState(state.waiting, state.owed, state.calls - {mark})
            for state in self.states
            for mark in marks
            if mark in state.calls
        }

    def refused(self, call: int) -> None:
        """Record that a call was refused and had no effect."""
        self.under_way -= 1
        self._adds.pop(call, None)
        self.states = {
            TaskState(
                state.waiting,
                state.owed,
                frozenset(other for other in state.calls if other.call != call),
            )
            for state in self.states
            if any(other.call == call and other != OpenCancel(call, True) for other in state.calls)
        }

    def ran(self) -> bool:
        """Record that the task began to run; return whether a state explains the run."""
        self._close(submits=True)
        self._drop_what_was_owed()
        left = {
            TaskState(state.waiting, state.owed - 1, state.calls)
            for state in self.states
            if state.owed
        }
        self.states = left or self.states
        return bool(left)

    def only_state(self) -> TaskState | None:
        """Return the only state that is left, or None if there are several.

        States that differ only in the add that won count as one: that of the last add to return.
        """
        kinds = {(state.owed, state.calls, _interval(state.waiting)) for state in self.states}
        if len(kinds) != 1:
            return None
        return max(self.states, key=self._settled_of)

    def _settled_of(self, state: TaskState) -> int:
        return -1 if state.waiting is None else self._settled_at.get(state.waiting.call, -1)

    def settle_time(self) -> None:
        """Add the states that are possible since the last event; drop those that no longer are.

        A task whose add had returned before an advance began, and which was due then, was submitted
        when the advance returned (standard 1.18).
        """
        self._close(submits=self._may_submit())
        self._drop_what_was_owed()
        self._drop_what_was_not_seen()

    def _may_submit(self) -> bool:
        """Tell whether a call under way may submit the task, or an executor may run it late."""
        advances = self._advances
        if not advances.inline or advances.may_carry:
            return True
        return bool(self._adds)

    def _drop_what_was_owed(self) -> None:
        self.states = {after for state in self.states for after in self._after_advances(state)}

    def _drop_what_was_not_seen(self) -> None:
        """Drop states that owe a run, unless a call under way may submit: the run would be seen."""
        if not self._may_submit():
            self.states = {state for state in self.states if not state.owed}

    def _close(self, *, submits: bool) -> None:
        frontier = list(self.states)
        while frontier:
            for successor in self._effects(frontier.pop(), submits=submits):
                if successor not in self.states:
                    self.states.add(successor)
                    frontier.append(successor)

    def _effects(self, state: TaskState, *, submits: bool) -> Iterable[TaskState]:
        waiting = state.waiting
        if submits and waiting is not None and waiting.low <= self._clock.high:
            yield TaskState(None, state.owed + 1, state.calls)
        for call in state.calls:
            others = state.calls - {call}
            if isinstance(call, OpenAdd):
                for low, high in self._clock.dues(call.mark, call.delay_ms):
                    yield TaskState(Waiting(low, high, call.call), state.owed, others)
            elif call.answer is None:
                done = OpenCancel(call.call, waiting is not None)
                yield TaskState(None, state.owed, others | {done})

    def _after_advances(self, state: TaskState) -> Iterable[TaskState]:
        waiting, clock_ms = state.waiting, self._advances.clock_ms
        if waiting is None or waiting.low > clock_ms:
            return (state,)
        settled = self._settled_at.get(waiting.call)
        if settled is None or settled > self._advances.began:
            return (state,)
        if waiting.high <= clock_ms:
            return ()
        later = Waiting(clock_ms + 1, waiting.high, waiting.call)
        return (TaskState(later, state.owed, state.calls),)


def _interval(waiting: Waiting | None) -> tuple[int, int] | None:
    return None if waiting is None else (waiting.low, waiting.high)
