"""What one task of a timer can be in, while calls on it overlap: a set of possible states.

The effects are those of Timer.tla: Add (with a reading of the clock at any moment since the call
began), Cancel, Fire. They happen between the events that were recorded, so before each event of
the task the set is closed under them. Tasks do not influence one another.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from wheelproof_spec.base.history.clock import NEVER, HistoryClock


@dataclass(frozen=True, slots=True)
class Waiting:
    """The task waits for its time, which lies between `low` and `high`; `call` added it."""

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
    """One of the states that a task can be in; `owed` runs have been submitted and not seen."""

    waiting: Waiting | None = None
    owed: int = 0
    calls: frozenset[OpenCall] = frozenset()


IDLE = TaskState()


@dataclass(slots=True)
class Debt:
    """The returned advance that began last: where it began, and what the clock showed then."""

    began: int = -1
    clock_ms: int = -(2**70)


class TaskStates:
    """The set of states of one task."""

    def __init__(
        self, clock: HistoryClock, debt: Debt, states: Iterable[TaskState], settled: dict[int, int]
    ) -> None:
        """Start with `states`; `settled` says at which index the adds among them returned."""
        self._clock = clock
        self._debt = debt
        self._settled_at = settled
        self.states = set(states)
        self.under_way = sum(len(state.calls) for state in self.states)
        """How many calls on the task have not returned, whether or not they took effect."""
        self.meetings = 0
        """How many calls have met another one since none was under way."""
        self.latest_ms = max(
            (state.waiting.high for state in self.states if state.waiting is not None),
            default=-NEVER,
        )
        """By when every entry that the task has had since then is due."""
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
        """A call on the task begins."""
        self.settle_time()
        self.under_way += 1
        if isinstance(call, OpenAdd):
            self._adds[call.call] = call
        self.states = {
            TaskState(state.waiting, state.owed, state.calls | {call}) for state in self.states
        }

    def add_returned(self, call: int, index: int) -> None:
        """An add returned, so it has taken effect; from now on advances owe the task."""
        self.settle_time()
        self.states = {
            state for state in self.states if not any(other.call == call for other in state.calls)
        }
        add = self._adds.pop(call)
        self.latest_ms = max(self.latest_ms, self._clock.dues(add.mark, add.delay_ms)[-1][1])
        self._settled_at[call] = index
        self.under_way -= 1

    def cancel_returned(self, call: int, answer: bool) -> bool:
        """A cancel returned; tell whether its answer has an explanation."""
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
        """A cancel returned, so it has taken effect; nobody says which one."""
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
        """A call was refused and had no effect."""
        self.under_way -= 1
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
        """The task begins to run; tell whether that has an explanation."""
        self.settle_time()
        left = {
            TaskState(state.waiting, state.owed - 1, state.calls)
            for state in self.states
            if state.owed
        }
        self.states = left or self.states
        return bool(left)

    def only_state(self) -> TaskState | None:
        """Return the state that is left if no call is under way, if there is only one.

        States that differ only in which of several adds won are one, settled by the last of these.
        """
        kinds = {(state.owed, state.calls, _interval(state.waiting)) for state in self.states}
        if len(kinds) != 1:
            return None
        return max(self.states, key=self._settled_of)

    def _settled_of(self, state: TaskState) -> int:
        return -1 if state.waiting is None else self._settled_at.get(state.waiting.call, -1)

    def settle_time(self) -> None:
        """Add what may have happened since the last event; drop what cannot have stayed as it was.

        A task whose add had returned before an advance began, and which was due then, was submitted
        when the advance returned (semantics.md 1.18).
        """
        self._close()
        self.states = {after for state in self.states for after in self._after_advances(state)}

    def _close(self) -> None:
        frontier = list(self.states)
        while frontier:
            for successor in self._effects(frontier.pop()):
                if successor not in self.states:
                    self.states.add(successor)
                    frontier.append(successor)

    def _effects(self, state: TaskState) -> Iterable[TaskState]:
        waiting = state.waiting
        if waiting is not None and waiting.low <= self._clock.high:
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
        waiting, clock_ms = state.waiting, self._debt.clock_ms
        if waiting is None or waiting.low > clock_ms:
            return (state,)
        settled = self._settled_at.get(waiting.call)
        if settled is None or settled > self._debt.began:
            return (state,)
        if waiting.high <= clock_ms:
            return ()
        later = Waiting(clock_ms + 1, waiting.high, waiting.call)
        return (TaskState(later, state.owed, state.calls),)


def _interval(waiting: Waiting | None) -> tuple[int, int] | None:
    return None if waiting is None else (waiting.low, waiting.high)
