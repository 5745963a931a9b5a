"""The model of a purgatory for the general search of small histories, effect by effect.

Owed completions are judged only when the history is quiescent. An operation may expire at any time.
The model leaves out clocks, gauges, the order of the watches, and mutual exclusion of attempts.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from wheelproof_spec.base.clause import Clause
from wheelproof_spec.base.history.judging import Orders, Searched, WholeHistory
from wheelproof_spec.base.history.lines import HistoryOp
from wheelproof_spec.components.purgatory.component import (
    CancelForKey,
    Cancelled,
    CheckAndComplete,
    Checked,
    Completed,
    ForceComplete,
    OnComplete,
    OnExpiration,
    PurgatoryClause,
    PurgatoryConfig,
    Satisfy,
    TryCompleteElseWatch,
)
from wheelproof_spec.history.linearizability.calls import UNKNOWN, Call, Unknown
from wheelproof_spec.history.linearizability.check import Model
from wheelproof_spec.history.orders import Question, is_answered

_EXPIRY = -1
Operation = tuple[str, str, int]
"""An effect: its kind, its operation or key, and the line of the call that it belongs to."""
Answer = object
Keys = Mapping[str, tuple[str, ...]]
_TWO = ("try_complete_else_watch", "check_and_complete", "force_complete")
_CALLS = {*_TWO, "satisfy", "cancel_for_key"}
_WITHOUT_EFFECT = {"tick", "advance_clock", "watched", "num_delayed", "num_keys", "try_complete"}


@dataclass(frozen=True, slots=True)
class State:
    """The operations by state; `done` names the call, `owed` are those that must be done."""

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
        """Return the operations that are completed or cancelled."""
        return {name for name, _ in self.done} | self.cancelled


class PurgatoryModel(Model[State, Operation, Answer]):
    """A purgatory whose calls test and complete one operation after the other."""

    def __init__(self, keys: Keys) -> None:
        """Make a model whose operations are watched under these `keys`."""
        self._keys = keys

    def initial_state(self) -> State:
        """Return the state without operations."""
        return State()

    def waits(self, operation: Operation) -> bool:
        """Tell whether a call may complete operations: it has a request and a follow-up."""
        return operation[0] in _TWO

    def request(self, state: State, operation: Operation, ticket: int) -> Iterable[State]:
        """Begin such a call: waiting operations that can end are owed a completion."""
        del ticket
        f, about, _ = operation
        begun = replace(state, open=state.open | {operation})
        if f == "check_and_complete":
            owed = {name for name in state.watched & state.true if about in self._keys[name]}
            return (replace(begun, owed=state.owed | owed),)
        if f == "try_complete_else_watch":
            owed = {about} & state.true
            return (replace(begun, handed=state.handed | {about}, owed=state.owed | owed),)
        return (begun,)

    def follow_up(
        self, state: State, operation: Operation, ticket: int, result: Answer | Unknown
    ) -> Iterable[State]:
        """End such a call: its answer must agree with the completions in it."""
        del ticket
        f, about, call = operation
        done = {name for name, by in state.done if by == call}
        mine = len(done)
        match result:
            case Completed(completed=completed) if completed is not bool(mine):
                return ()
            case Checked(count=int(count)) if count != mine:
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
        """Return the possible states after one of the other effects."""
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
                # Each waiting operation is cancelled, unless another call completes it.
                owed = {name for name in state.watched if about in self._keys[name]}
                return (replace(state, owed=state.owed | owed),)
            case "end":
                silent = {name for name, by in state.done if by == _EXPIRY} - state.expired
                return (state,) if state.owed <= state.ended() and not silent else ()
            case _:
                return (state,)

    def _complete(self, state: State, name: str, call: int) -> Iterable[State]:
        """Complete by the call of this line; without one, by any call under way or by expiry."""
        if name in state.ended():
            return ()
        able = [one[2] for one in state.open if self._can_complete(state, one, name)]
        if call != _EXPIRY:
            return self._done(state, name, [call] if call in able else [])
        return self._done(state, name, [*able, _EXPIRY] if name in state.handed else able)

    def _can_complete(self, state: State, call: Operation, name: str) -> bool:
        f, about, _ = call
        if f == "force_complete":
            return about == name
        if name not in state.true & state.handed:
            return False
        return about == name if f == "try_complete_else_watch" else about in self._keys[name]

    def _done(self, state: State, name: str, by: Sequence[int]) -> Iterable[State]:
        return [replace(state, done=state.done | {(name, one)}) for one in by]


def _asked(history: WholeHistory, keys: Keys) -> Question[Operation, Answer]:
    """Return the history with its hidden effects as explicit steps."""
    inside = _completions(history, keys)
    question: Question[Operation, Answer] = Question()
    for number, (call, name) in inside.items():
        if call == _EXPIRY:
            question.begin(f"complete-{number}", ("complete", name, _EXPIRY))
    if not history.quiet:
        for name in keys:
            question.begin(f"unseen-{name}", ("expires", name, _EXPIRY))
    begun: dict[str, HistoryOp[object]] = {}
    for op in history.ops:
        question.index = op.index
        about = _about(op.value)
        if isinstance(op.value, OnComplete):
            question.end(f"complete-{op.index}", None)
            question.now(f"noted-{op.index}", ("noted", about, op.index), None)
        elif isinstance(op.value, OnExpiration):
            question.now(f"expiry-{op.index}", (op.f, about, op.index), None)
        elif op.f in _CALLS and op.type == "invoke":
            begun[op.process] = op
            question.begin(op.process, (op.f, about, op.index))
            for number, (call, name) in inside.items():
                if call == op.index:
                    question.begin(f"complete-{number}", ("complete", name, op.index))
            for name in _cancelled(history, op, keys):
                question.begin(f"cancel-{op.index}-{name}", ("cancel", name, op.index))
        elif op.f in _CALLS:
            asked = begun[op.process]
            for name in _cancelled(history, asked, keys):
                question.end(f"cancel-{asked.index}-{name}", None)
            question.end(op.process, op.value)
    if history.quiet:
        question.now("end", ("end", "", question.index), None)
    return question


def _completions(history: WholeHistory, keys: Keys) -> dict[int, tuple[int, str]]:
    """Return for each on_complete event the call that it runs in, and the operation."""
    found: dict[int, tuple[int, str]] = {}
    open_calls: dict[str, HistoryOp[object]] = {}
    handed: set[str] = set()
    for op in history.ops:
        if isinstance(op.value, OnComplete):
            name, call = op.value.operation, open_calls.get(op.process)
            mine = call is not None and _is_inside(call.value, name, handed, keys)
            found[op.index] = (call.index if call is not None and mine else _EXPIRY), name
        elif op.f in _CALLS and op.type == "invoke":
            if op.f in _TWO:
                open_calls[op.process] = op
            if isinstance(op.value, TryCompleteElseWatch):
                handed.add(op.value.operation)
        elif isinstance(op.value, OnExpiration):
            call = open_calls.get(op.process)
            if call is not None and isinstance(call.value, TryCompleteElseWatch):
                # What is due when it is added may expire in the thread that hands it in.
                inside = call.index, op.value.operation
                for index in [index for index, one in found.items() if one == inside]:
                    found[index] = _EXPIRY, op.value.operation
        elif op.f in _CALLS:
            open_calls.pop(op.process, None)
    return found


def _is_inside(call: object, name: str, handed: set[str], keys: Keys) -> bool:
    """Tell whether a completion in the thread of a call surely is a part of the call."""
    match call:
        case CheckAndComplete(key=key):
            return name in handed and key in keys[name]
        case _:
            return _about(call) == name


def _cancelled(history: WholeHistory, begun: HistoryOp[object], keys: Keys) -> tuple[str, ...]:
    """Return the operations that a cancel returned; `nobody` for one without that key."""
    if not isinstance(begun.value, CancelForKey):
        return ()
    for op in history.ops:
        is_later = op.index > begun.index and op.process == begun.process
        if is_later and isinstance(op.value, Cancelled):
            names = op.value.cancelled
            assert isinstance(names, tuple)
            key = begun.value.key
            return tuple(name if key in keys.get(name, ()) else "nobody" for name in names)
    return ()


def _about(value: object) -> str:
    match value:
        case TryCompleteElseWatch() | Satisfy() | ForceComplete() | OnComplete() | OnExpiration():
            return value.operation
        case CheckAndComplete() | CancelForKey():
            return value.key
        case _:
            return ""


def _clause_of(call: Call[Operation, Answer]) -> Clause:
    match call.operation[0]:
        case "complete" | "noted":
            return PurgatoryClause.COMPLETES_FOR_A_REASON
        case "check_and_complete":
            return PurgatoryClause.COUNTS_COMPLETED
        case "cancel" | "cancel_for_key":
            return PurgatoryClause.CANCELS_WHO_WAITS
        case "on_expiration":
            return PurgatoryClause.EXPIRES_ONCE_AFTER_COMPLETION
        case "end":
            return PurgatoryClause.TRIGGER_COMPLETES
        case _:
            return PurgatoryClause.ANSWERS_TRULY


def _search(history: WholeHistory) -> Searched | None:
    config = history.header.config
    assert isinstance(config, PurgatoryConfig)
    keys = {
        op.value.operation: op.value.keys
        for op in history.ops
        if isinstance(op.value, TryCompleteElseWatch)
    }
    known = all(_is_known(op, keys) for op in history.ops) and is_answered(history.ops)
    if not known or config.predicates != "recorded" or config.cancels != "operation":
        return None
    return _asked(history, keys).ask(PurgatoryModel(keys), _clause_of)


def _is_known(op: HistoryOp[object], keys: Keys) -> bool:
    """Tell whether the model covers an event; a callback may have no end."""
    match op.value:
        case OnComplete(operation=name) | OnExpiration(operation=name) | Satisfy(operation=name):
            return name in keys
        case Cancelled(cancelled=names):
            return isinstance(names, tuple)
        case _:
            return op.f in _CALLS or op.f in _WITHOUT_EFFECT


ORDERS: Orders = _search
