"""The histories of a purgatory for the general engine: a model of its effects.

Who has to be completed is only settled when all is quiet, and an operation may expire at any time:
there is no clock.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from support.agreement.small_histories import History, Op
from support.agreement.small_purgatories import KEYS
from wheelproof_spec.components.purgatory.component import (
    CancelForKey,
    Cancelled,
    CheckAndComplete,
    Checked,
    Completed,
    ForceComplete,
    OnComplete,
    OnExpiration,
    Satisfy,
    TryCompleteElseWatch,
)
from wheelproof_spec.engines.history.linearizability import Model
from wheelproof_spec.engines.history.linearizability_calls import (
    UNKNOWN,
    Event,
    Invoked,
    Returned,
    Unknown,
)

_EXPIRY = -1
Operation = tuple[str, str, int]
"""What it does, the operation or key it is about, and the line of the call that it belongs to."""
Answer = object
_TWO = ("try_complete_else_watch", "check_and_complete", "force_complete")


@dataclass(frozen=True, slots=True)
class State:
    """What is true, waits and is done; `done` says by which call, `owed` who has to be."""

    true: frozenset[str] = frozenset()
    handed: frozenset[str] = frozenset()
    watched: frozenset[str] = frozenset()
    done: frozenset[tuple[str, int]] = frozenset()
    noted: frozenset[str] = frozenset()
    expired: frozenset[str] = frozenset()
    cancelled: frozenset[str] = frozenset()
    open: frozenset[Operation] = frozenset()
    owed: frozenset[str] = frozenset()

    def ended(self) -> set[str]:
        return {name for name, _ in self.done} | self.cancelled


class PurgatoryModel(Model[State, Operation, Answer]):
    """A purgatory whose calls test and complete one operation after the other."""

    def initial_state(self) -> State:
        return State()

    def waits(self, operation: Operation) -> bool:
        return operation[0] in _TWO

    def request(self, state: State, operation: Operation, ticket: int) -> Iterable[State]:
        del ticket
        f, about, _ = operation
        begun = replace(state, open=state.open | {operation})
        if f == "check_and_complete":
            owed = {name for name in state.watched & state.true if about in KEYS[name]}
            return (replace(begun, owed=state.owed | owed),)
        if f == "try_complete_else_watch":
            owed = {about} & state.true
            return (replace(begun, handed=state.handed | {about}, owed=state.owed | owed),)
        return (begun,)

    def follow_up(
        self, state: State, operation: Operation, ticket: int, result: Answer | Unknown
    ) -> Iterable[State]:
        del ticket
        f, about, call = operation
        done = {name for name, by in state.done if by == call}
        mine = len(done)
        match result:
            case Completed(completed=completed) if completed is not bool(mine):
                return ()
            case Checked(count=count) if count != mine:
                return ()
            case _ if result is not UNKNOWN and not state.noted.issuperset(done):
                # on_complete runs inside the call.
                return ()
            case _:
                pass
        after = replace(state, open=state.open - {operation})
        if f == "try_complete_else_watch":
            owed = {about} & state.true
            return (replace(after, watched=state.watched | {about}, owed=state.owed | owed),)
        denied = f == "force_complete" and result is not UNKNOWN and not mine
        return () if denied and about not in state.ended() else (after,)

    def step(self, state: State, operation: Operation, result: Answer | Unknown) -> Iterable[State]:
        del result
        f, about, call = operation
        match f:
            case "satisfy":
                return (replace(state, true=state.true | {about}),)
            case "complete":
                return self._complete(state, about, call)
            case "noted":
                return (replace(state, noted=state.noted | {about}),)
            case "expires":
                waits = about in state.handed and about not in state.ended()
                return self._done(state, about, [_EXPIRY]) if waits else ()
            case "on_expiration":
                right = (about, _EXPIRY) in state.done and about in state.noted - state.expired
                return (replace(state, expired=state.expired | {about}),) if right else ()
            case "cancel":
                waits = about in state.handed and about not in state.ended()
                return (replace(state, cancelled=state.cancelled | {about}),) if waits else ()
            case "cancel_for_key":
                # Whoever waits is cancelled, unless somebody completes it.
                owed = {name for name in state.watched if about in KEYS[name]}
                return (replace(state, owed=state.owed | owed),)
            case "end":
                silent = {name for name, by in state.done if by == _EXPIRY} - state.expired
                return (state,) if state.owed <= state.ended() and not silent else ()
            case _:
                return (state,)

    def _complete(self, state: State, name: str, call: int) -> Iterable[State]:
        """By the call of this line; if there is none, by any of those under way, or by expiry."""
        if name in state.ended():
            return ()
        able = [one[2] for one in state.open if _can_complete(state, one, name)]
        if call != _EXPIRY:
            return self._done(state, name, [call] if call in able else [])
        return self._done(state, name, [*able, _EXPIRY] if name in state.handed else able)

    def _done(self, state: State, name: str, by: Sequence[int]) -> Iterable[State]:
        return [replace(state, done=state.done | {(name, one)}) for one in by]


def _can_complete(state: State, call: Operation, name: str) -> bool:
    f, about, _ = call
    if f == "force_complete":
        return about == name
    asked = about == name if f == "try_complete_else_watch" else about in KEYS[name]
    return asked and name in state.true & state.handed


def purgatory_events(history: History) -> Sequence[Event[Operation, Answer]]:
    """Return the history with what is hidden made explicit."""
    inside = _completions(history)
    events: list[Event[Operation, Answer]] = []
    for number, (call, name) in inside.items():
        if call == _EXPIRY:
            events.append(Invoked(f"complete-{number}", ("complete", name, _EXPIRY)))
    if not history.end.quiet:
        events += [Invoked(f"unseen-{name}", ("expires", name, _EXPIRY)) for name in KEYS]
    begun: dict[str, Op] = {}
    for op in history.ops:
        about = _about(op.value)
        if op.f == "on_complete":
            events.append(Returned(f"complete-{op.index}", None))
            _at_once(events, f"noted-{op.index}", ("noted", about, op.index))
        elif op.f == "on_expiration":
            _at_once(events, f"expiry-{op.index}", (op.f, about, op.index))
        elif op.type == "invoke":
            begun[op.process] = op
            events.append(Invoked(op.process, (op.f, about, op.index)))
            for number, (call, name) in inside.items():
                if call == op.index:
                    events.append(Invoked(f"complete-{number}", ("complete", name, op.index)))
            for name in _cancelled(history, op):
                events.append(Invoked(f"cancel-{op.index}-{name}", ("cancel", name, op.index)))
        else:
            asked = begun[op.process]
            for name in _cancelled(history, asked):
                events.append(Returned(f"cancel-{asked.index}-{name}", None))
            events.append(Returned(op.process, op.value))
    if history.end.quiet:
        _at_once(events, "end", ("end", "", len(events)))
    return events


def _completions(history: History) -> dict[int, tuple[int, str]]:
    """Return, by the line of each completion, the call that it runs in, and the operation."""
    found: dict[int, tuple[int, str]] = {}
    open_calls: dict[str, Op] = {}
    handed: set[str] = set()
    for op in history.ops:
        if op.f == "on_complete":
            name, call = _about(op.value), open_calls.get(op.process)
            inside = call is not None and (
                (
                    call.f == "check_and_complete"
                    and name in handed
                    and _about(call.value) in KEYS[name]
                )
                or (call.f in _TWO and _about(call.value) == name)
            )
            found[op.index] = call.index if inside and call is not None else _EXPIRY, name
        elif op.f != "on_expiration":
            if op.type == "invoke":
                open_calls[op.process] = op
                handed |= (
                    {_about(op.value)} if isinstance(op.value, TryCompleteElseWatch) else set()
                )
            else:
                del open_calls[op.process]
    return found


def _cancelled(history: History, begun: Op) -> tuple[str, ...]:
    """Return whom a cancel says to have taken."""
    if begun.f != "cancel_for_key":
        return ()
    for op in history.ops[begun.index + 1 :]:
        if op.process == begun.process and isinstance(op.value, Cancelled):
            key = _about(begun.value)
            assert isinstance(op.value.cancelled, tuple)
            return tuple(name if key in KEYS[name] else "nobody" for name in op.value.cancelled)
    return ()


def _about(value: object) -> str:
    match value:
        case TryCompleteElseWatch() | Satisfy() | ForceComplete() | OnComplete() | OnExpiration():
            return value.operation
        case CheckAndComplete() | CancelForKey():
            return value.key
        case _:
            return ""


def _at_once(events: list[Event[Operation, Answer]], process: str, operation: Operation) -> None:
    events.append(Invoked(process, operation))
    events.append(Returned(process, None))
