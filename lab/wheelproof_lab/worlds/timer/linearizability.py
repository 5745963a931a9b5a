"""A specification of the timer's public operations, which may overlap.

A waiting task is due at a time and is fired once, unless it is cancelled or added again first. The
specification allows what the standard leaves open. An add has two effects, since the task can be
cancelled before its entry is linked. An entry that moves during an advance is in no list for a
moment. So `size` may miss one entry during an advance, and an entry whose task was cancelled in
that moment may be counted until an advance clears it (standard 1.11, 1.14).
"""

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, replace

from wheelproof_spec.history.linearizability.calls import UNKNOWN, Unknown
from wheelproof_spec.history.linearizability.check import Model

Task = Hashable


@dataclass(frozen=True, slots=True)
class Add:
    """An add of a task that is due at `due_ms`, after rounding; it voids an earlier add (1.12)."""

    task: Task
    due_ms: int

    def __str__(self) -> str:
        return f"add({self.task}, due at {self.due_ms} ms)"


@dataclass(frozen=True, slots=True)
class Cancel:
    """A cancel of a task; its result is whether the task was waiting (1.10)."""

    task: Task

    def __str__(self) -> str:
        return f"cancel({self.task})"


@dataclass(frozen=True, slots=True)
class Fire:
    """The submission of a task to the executor while the clock shows `now_ms`."""

    task: Task
    now_ms: int

    def __str__(self) -> str:
        return f"fire({self.task}) at {self.now_ms} ms"


@dataclass(frozen=True, slots=True)
class Advance:
    """An advance while the clock shows `now_ms`: no task that was due before it is left (1.18)."""

    now_ms: int

    def __str__(self) -> str:
        return f"advance at {self.now_ms} ms"


@dataclass(frozen=True, slots=True)
class Size:
    """A call of `size`: its result is the number of linked entries (1.14)."""

    def __str__(self) -> str:
        return "size()"


TimerOperation = Add | Cancel | Fire | Advance | Size
TimerResult = bool | int | None
"""The results of cancel and size; None for the other operations."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Entry:
    task: Task
    due_ms: int
    ticket: int
    linked: bool

    def __str__(self) -> str:
        return f"{self.task} due at {self.due_ms} ms{'' if self.linked else ', not yet linked'}"


@dataclass(frozen=True, slots=True, kw_only=True)
class TimerState:
    """The waiting entries, and the state of the calls under way.

    `unbound` has the adds under way that lost their task before they had linked its entry.
    `leftovers` counts linked entries that belong to no task. `owed` has for each advance under way
    the tasks that must leave before it may end.
    """

    entries: frozenset[_Entry] = frozenset()
    unbound: frozenset[int] = frozenset()
    leftovers: int = 0
    owed: frozenset[tuple[int, frozenset[Task]]] = frozenset()

    def __str__(self) -> str:
        tasks = ", ".join(sorted(map(str, self.entries)))
        left = f" and {self.leftovers} leftovers" if self.leftovers else ""
        return f"[{tasks}]{left}"

    __repr__ = __str__


class TimerModel(Model[TimerState, TimerOperation, TimerResult]):
    """The model of one timer; see the module."""

    def initial_state(self) -> TimerState:
        """Return the empty timer."""
        return TimerState()

    def waits(self, operation: TimerOperation) -> bool:
        """Tell whether the operation is an add or an advance: these have two steps."""
        return isinstance(operation, Add | Advance)

    def step(
        self, state: TimerState, operation: TimerOperation, result: TimerResult | Unknown
    ) -> Iterable[TimerState]:
        """Return the states after a cancel, a fire or a call of `size`."""
        match operation:
            case Cancel(task):
                entry = _entry_of(state, task)
                if result is not UNKNOWN and result != (entry is not None):
                    return ()
                return (state,) if entry is None else _without(state, entry)
            case Fire(task, now_ms):
                entry = _entry_of(state, task)
                if entry is None or entry.due_ms > now_ms:
                    return ()
                return (_gone(state, entry),)
            case Size():
                return (state,) if result is UNKNOWN or result in self.sizes(state) else ()
            case _:
                raise TypeError(f"{operation} is begun and ended")

    def request(
        self, state: TimerState, operation: TimerOperation, ticket: int
    ) -> Iterable[TimerState]:
        """Return the states after an add has bound its task, or an advance has begun."""
        if isinstance(operation, Add):
            older = _entry_of(state, operation.task)
            entry = _Entry(
                task=operation.task, due_ms=operation.due_ms, ticket=ticket, linked=False
            )
            before = (state,) if older is None else _without(state, older)
            return [replace(one, entries=one.entries | {entry}) for one in before]
        if isinstance(operation, Advance):
            now_ms = operation.now_ms
            due = frozenset(
                entry.task for entry in state.entries if entry.linked and entry.due_ms <= now_ms
            )
            return (replace(state, owed=state.owed | {(ticket, due)}),)
        raise TypeError(f"{operation} is one step")

    def follow_up(
        self,
        state: TimerState,
        operation: TimerOperation,
        ticket: int,
        result: TimerResult | Unknown,
    ) -> Iterable[TimerState]:
        """Return the states after an add has linked its entry, or an advance has ended."""
        del result
        if isinstance(operation, Add):
            return _link(state, ticket)
        owed = dict(state.owed)
        if owed[ticket]:
            return ()
        ended = replace(state, owed=state.owed - {(ticket, owed[ticket])})
        return [replace(ended, leftovers=left) for left in range(state.leftovers + 1)]

    def sizes(self, state: TimerState) -> range:
        """Return the possible results of `size`: during an advance it may miss one linked entry."""
        linked = sum(entry.linked for entry in state.entries)
        if not state.owed:
            return range(linked + state.leftovers, linked + state.leftovers + 1)
        return range(max(linked - 1, 0), linked + state.leftovers + 1)


def _entry_of(state: TimerState, task: Task) -> _Entry | None:
    return next((entry for entry in state.entries if entry.task == task), None)


def _gone(state: TimerState, entry: _Entry) -> TimerState:
    owed = frozenset((ticket, tasks - {entry.task}) for ticket, tasks in state.owed)
    return replace(state, entries=state.entries - {entry}, owed=owed)


def _without(state: TimerState, entry: _Entry) -> tuple[TimerState, ...]:
    """Return the states without an entry that lost its task before it was fired."""
    gone = _gone(state, entry)
    if not entry.linked:
        return (replace(gone, unbound=gone.unbound | {entry.ticket}),)
    # An advance may have taken the entry out of its bucket just now, and may link it again.
    return (gone, replace(gone, leftovers=gone.leftovers + 1)) if state.owed else (gone,)


def _link(state: TimerState, ticket: int) -> tuple[TimerState, ...]:
    if ticket in state.unbound:
        unlinked = replace(state, unbound=state.unbound - {ticket})
        return unlinked, replace(unlinked, leftovers=unlinked.leftovers + 1)
    mine = next((entry for entry in state.entries if entry.ticket == ticket), None)
    if mine is None:
        return (state,)
    return (replace(state, entries=state.entries - {mine} | {replace(mine, linked=True)}),)
