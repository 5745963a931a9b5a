"""The search for a linearization of a purgatory's calls, by its specification `LedgerPurgatory`.

A call that may complete operations begins and ends with its call; each completion in it is an
effect in between, which comes before on_complete. Owed completions are judged only when the history
is quiescent. An operation may expire at any time: clocks, gauges, the order of the watches, and
mutual exclusion of attempts are left out.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from wheelproof_spec.base.clause import Clause
from wheelproof_spec.base.history.judging import Searched, WholeHistory
from wheelproof_spec.base.history.lines import HistoryOp
from wheelproof_spec.base.results.tally import Tally
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
from wheelproof_spec.components.purgatory.model import CompletingCall, LedgerPurgatory, Pending
from wheelproof_spec.history.linearizability.calls import Call, Unknown
from wheelproof_spec.history.linearizability.interleaved import Interleaved
from wheelproof_spec.history.linearizability.small_histories import Effects, is_answered

_CALLS = {
    "try_complete_else_watch",
    "check_and_complete",
    "force_complete",
    "satisfy",
    "cancel_for_key",
}
_WITHOUT_EFFECT = {"tick", "advance_clock", "watched", "num_delayed", "num_keys", "try_complete"}


@dataclass(frozen=True, slots=True)
class _Complete:
    """An operation is completed by the call of this line; without one by any call, or expires."""

    operation: str
    call: int | None


@dataclass(frozen=True, slots=True)
class _Expire:
    """An operation expires, which nothing shows."""

    operation: str


@dataclass(frozen=True, slots=True)
class _Cancel:
    """An operation is cancelled."""

    operation: str


@dataclass(frozen=True, slots=True)
class _Rest:
    """Nothing happens any more."""


@dataclass(frozen=True, slots=True)
class _Numbered:
    """A call that may complete operations, with its line."""

    line: int
    call: CompletingCall


_Effect = Satisfy | CancelForKey | OnComplete | OnExpiration | _Complete | _Expire | _Cancel | _Rest
_Operation = _Numbered | _Effect
_Answer = object
_Keys = Mapping[str, tuple[str, ...]]


class _RecordedPurgatory(Interleaved[LedgerPurgatory, _Operation, _Answer]):
    def waits(self, operation: _Operation) -> bool:
        return isinstance(operation, _Numbered)

    def is_possible(self, spec: LedgerPurgatory, operation: _Operation) -> bool:
        match operation:
            case _Complete(operation=name) | _Expire(operation=name) | _Cancel(operation=name):
                return spec.outcome(name) is None
            case _:
                return True

    def first_effect(
        self, spec: LedgerPurgatory, operation: _Operation, ticket: int
    ) -> Iterable[LedgerPurgatory]:
        del ticket
        assert isinstance(operation, _Numbered)
        call = operation.call
        if isinstance(call, TryCompleteElseWatch):
            spec.hand_in(call.operation, Pending(call.keys, conditions=(call.operation,)))
        spec.begin(operation.line, call)
        return (spec,)

    def last_effect(
        self, spec: LedgerPurgatory, operation: _Operation, ticket: int, result: _Answer | Unknown
    ) -> Iterable[LedgerPurgatory]:
        del ticket
        assert isinstance(operation, _Numbered)
        answer = result if isinstance(result, Completed | Checked) else None
        return () if spec.end(operation.line, answer) else (spec,)

    def effect(
        self, spec: LedgerPurgatory, operation: _Operation, result: _Answer | Unknown
    ) -> Iterable[LedgerPurgatory]:
        del result
        wrong: object = None
        match operation:
            case Satisfy(operation=name):
                spec.make_true(name)
            case CancelForKey(key=key):
                # Each waiting operation is cancelled, unless another call completes it.
                spec.owe_cancels(key)
            case OnComplete(operation=name):
                wrong = spec.answer(name)
            case OnExpiration(operation=name):
                wrong = not spec.notify(name)
            case _Complete(operation=name, call=call):
                return _completed(spec, name, call)
            case _Expire(operation=name):
                wrong = spec.expire(name)
            case _Cancel(operation=name):
                wrong = spec.cancel(name)
            case _Rest():
                # Whether on_expiration has to run depends on the end of on_complete (6.4.5).
                wrong = spec.owed
            case _Numbered():
                raise TypeError(f"{operation} has two effects")
        return () if wrong else (spec,)


def _completed(spec: LedgerPurgatory, name: str, call: int | None) -> Iterable[LedgerPurgatory]:
    """Complete an operation by this call; without one by any call that can, or by its expiry."""
    able = spec.able(name)
    if call is not None:
        return () if call not in able or spec.complete(name, call) else (spec,)
    found: list[LedgerPurgatory] = []
    for one in able:
        other = spec.copy()
        if other.complete(name, one) is None:
            found.append(other)
    return found if spec.expire(name) else (*found, spec)


def _effects_of(history: WholeHistory, keys: _Keys) -> Effects[_Operation, _Answer]:
    """Return the history with its hidden effects as explicit steps."""
    inside = _completions(history, keys)
    effects: Effects[_Operation, _Answer] = Effects()
    for number, (call, name) in inside.items():
        if call is None:
            effects.begin(f"complete-{number}", _Complete(name, None))
    if not history.quiet:
        for name in keys:
            effects.begin(f"unseen-{name}", _Expire(name))
    begun: dict[str, HistoryOp[object]] = {}
    for op in history.ops:
        effects.index = op.index
        if isinstance(op.value, OnComplete):
            effects.end(f"complete-{op.index}", None)
            effects.now(f"noted-{op.index}", op.value, None)
        elif isinstance(op.value, OnExpiration):
            effects.now(f"expiry-{op.index}", op.value, None)
        elif op.f in _CALLS and op.type == "invoke":
            begun[op.process] = op
            effects.begin(op.process, _operation_of(op))
            for number, (call, name) in inside.items():
                if call == op.index:
                    effects.begin(f"complete-{number}", _Complete(name, op.index))
            for name in _cancelled(history, op, keys):
                effects.begin(f"cancel-{op.index}-{name}", _Cancel(name))
        elif op.f in _CALLS:
            asked = begun[op.process]
            for name in _cancelled(history, asked, keys):
                effects.end(f"cancel-{asked.index}-{name}", None)
            effects.end(op.process, op.value)
    if history.quiet:
        effects.now("end", _Rest(), None)
    return effects


def _operation_of(op: HistoryOp[object]) -> _Operation:
    if isinstance(op.value, CompletingCall):
        return _Numbered(op.index, op.value)
    assert isinstance(op.value, Satisfy | CancelForKey)
    return op.value


def _completions(history: WholeHistory, keys: _Keys) -> dict[int, tuple[int | None, str]]:
    """Return for each on_complete event the call that it runs in, and the operation."""
    found: dict[int, tuple[int | None, str]] = {}
    open_calls: dict[str, HistoryOp[object]] = {}
    handed: set[str] = set()
    for op in history.ops:
        if isinstance(op.value, OnComplete):
            name, call = op.value.operation, open_calls.get(op.process)
            mine = call is not None and _is_inside(call.value, name, handed, keys)
            found[op.index] = (call.index if call is not None and mine else None), name
        elif op.f in _CALLS and op.type == "invoke":
            if isinstance(op.value, CompletingCall):
                open_calls[op.process] = op
            if isinstance(op.value, TryCompleteElseWatch):
                handed.add(op.value.operation)
        elif isinstance(op.value, OnExpiration):
            call = open_calls.get(op.process)
            if call is not None and isinstance(call.value, TryCompleteElseWatch):
                # What is due when it is added may expire in the thread that hands it in.
                inside = call.index, op.value.operation
                for index in [index for index, one in found.items() if one == inside]:
                    found[index] = None, op.value.operation
        elif op.f in _CALLS:
            open_calls.pop(op.process, None)
    return found


def _is_inside(call: object, name: str, handed: set[str], keys: _Keys) -> bool:
    """Tell whether a completion in the thread of a call surely is a part of the call."""
    match call:
        case CheckAndComplete(key=key):
            return name in handed and key in keys[name]
        case _:
            return _about(call) == name


def _cancelled(history: WholeHistory, begun: HistoryOp[object], keys: _Keys) -> tuple[str, ...]:
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


def _clause_of(call: Call[_Operation, _Answer]) -> Clause:
    match call.operation:
        case _Complete() | OnComplete():
            return PurgatoryClause.COMPLETES_FOR_A_REASON
        case _Cancel() | CancelForKey():
            return PurgatoryClause.CANCELS_WHO_WAITS
        case OnExpiration():
            return PurgatoryClause.EXPIRES_ONCE_AFTER_COMPLETION
        case _Rest():
            return PurgatoryClause.TRIGGER_COMPLETES
        case _Numbered(call=CheckAndComplete()):
            return PurgatoryClause.COUNTS_COMPLETED
        case _:
            return PurgatoryClause.ANSWERS_TRULY


def search(history: WholeHistory) -> Searched | None:
    """Search a history; see `RecordedComponent.search`."""
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
    purgatory = LedgerPurgatory(tally=Tally(limits=(PurgatoryClause.EXPIRES_IN_TIME,)))
    return _effects_of(history, keys).linearize(_RecordedPurgatory(purgatory), _clause_of)


def _is_known(op: HistoryOp[object], keys: _Keys) -> bool:
    """Tell whether the model covers an event; a callback may have no end."""
    match op.value:
        case OnComplete(operation=name) | OnExpiration(operation=name) | Satisfy(operation=name):
            return name in keys
        case Cancelled(cancelled=names):
            return isinstance(names, tuple)
        case _:
            return op.f in _CALLS or op.f in _WITHOUT_EFFECT
