"""The search for a linearization of a timer's calls, by its sequential specification `HeapTimer`.

`TimerModel` is for programs of the model checker. The clock moves only by advances, so an add reads
it and binds its task in one effect.

`search` is for small recorded histories with a virtual clock. There an add reads the clock and then
binds its task, at two moments of its call, and is settled when it has returned. The submission of a
task is a hidden effect: it comes before the run. An advance begins and ends with its call. Where
the order of runs is promised, tasks are submitted in it; that they begin in the order of their
submissions is left out. The size is left out if a task is added again: an add takes its older entry
out of a bucket before it puts the new one into another, and between the two the size may miss it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from wheelproof_spec.base.calls import Advance, AdvanceClock, Tick
from wheelproof_spec.base.clause import Clause
from wheelproof_spec.base.codec.vocabulary import ABSENT
from wheelproof_spec.base.contract import FiringOrder, contract_of
from wheelproof_spec.base.history.judging import Searched, WholeHistory
from wheelproof_spec.base.history.lines import HistoryOp
from wheelproof_spec.base.results.tally import Tally
from wheelproof_spec.base.results.verdicts import Verdict
from wheelproof_spec.base.results.violation import Violation
from wheelproof_spec.components.timer.component import (
    Add,
    Cancel,
    Cancelled,
    Run,
    Size,
    TimerClause,
    TimerConfig,
    WaitingTasks,
)
from wheelproof_spec.components.timer.model import HeapTimer, timer_of
from wheelproof_spec.history.linearizability.calls import Call, Unknown
from wheelproof_spec.history.linearizability.interleaved import Interleaved
from wheelproof_spec.history.linearizability.small_histories import Effects

_CALLS = {"add", "cancel", "tick", "advance_clock", "run", "size"}


@dataclass(frozen=True, slots=True)
class _Settle:
    """An add has returned."""

    add: int


@dataclass(frozen=True, slots=True)
class _Begin:
    """An advance begins."""

    advance: int


@dataclass(frozen=True, slots=True)
class _End:
    """An advance ends."""

    advance: int


_Operation = Add | Cancel | Tick | Run | Size | _Settle | _Begin | _End
_Answer = int | None
"""What a cancel or a size answered."""


TimerOperation = Add | Cancel | Advance | Size | Run


class TimerModel(Interleaved[HeapTimer, TimerOperation, int | None]):
    """The model of a timer whose clock moves only by advances.

    A `Run` is the submission of a task, and no call. The answers are those of cancel and size.
    """

    def waits(self, operation: TimerOperation) -> bool:
        """Tell whether the operation is an add or an advance: these have two effects."""
        return isinstance(operation, Add | Advance)

    def effect(
        self, spec: HeapTimer, operation: TimerOperation, result: int | Unknown | None
    ) -> Iterable[HeapTimer]:
        """Make a cancel, a size or a submission; see `Interleaved`."""
        seen = None if isinstance(result, Unknown) else result
        match operation:
            case Cancel(task=task):
                broken = spec.judge_cancel(task, spec.cancel(task), seen)
            case Size():
                broken = spec.judge_size(spec.sizes(), seen)
            case Run(task=task):
                broken = spec.submit(task)
            case Add() | Advance():
                raise TypeError(f"{operation} has two effects")
        return () if broken else (spec,)

    def first_effect(
        self, spec: HeapTimer, operation: TimerOperation, ticket: int
    ) -> Iterable[HeapTimer]:
        """Let an add bind its task, or an advance begin; see `Interleaved`."""
        if isinstance(operation, Advance):
            spec.move_clock(operation.to_ms)
            spec.begin_advance(ticket)
        elif isinstance(operation, Add):
            spec.read_clock(ticket)
            spec.bind(operation.task, operation.delay_ms, ticket)
        return (spec,)

    def last_effect(
        self,
        spec: HeapTimer,
        operation: TimerOperation,
        ticket: int,
        result: int | Unknown | None,
    ) -> Iterable[HeapTimer]:
        """Let an add return, or an advance end; see `Interleaved`."""
        del result
        if isinstance(operation, Advance):
            return () if spec.end_advance(ticket) else (spec,)
        spec.settle(ticket)
        return (spec,)


class _RecordedTimer(Interleaved[HeapTimer, _Operation, _Answer]):
    def waits(self, operation: _Operation) -> bool:
        return isinstance(operation, Add)

    def is_possible(self, spec: HeapTimer, operation: _Operation) -> bool:
        return not isinstance(operation, Run) or spec.forbids_run(operation.task) is None

    def first_effect(
        self, spec: HeapTimer, operation: _Operation, ticket: int
    ) -> Iterable[HeapTimer]:
        del operation
        spec.read_clock(ticket)
        return (spec,)

    def last_effect(
        self, spec: HeapTimer, operation: _Operation, ticket: int, result: _Answer | Unknown
    ) -> Iterable[HeapTimer]:
        del result
        assert isinstance(operation, Add)
        spec.bind(operation.task, operation.delay_ms, ticket)
        return (spec,)

    def effect(
        self, spec: HeapTimer, operation: _Operation, result: _Answer | Unknown
    ) -> Iterable[HeapTimer]:
        broken: Violation | None = None
        match operation:
            case Tick(to_ms=to_ms):
                spec.move_clock(to_ms)
            case Cancel(task=task):
                seen = None if isinstance(result, Unknown) else result
                broken = spec.judge_cancel(task, spec.cancel(task), seen)
            case Size():
                seen = None if isinstance(result, Unknown) else result
                broken = spec.judge_size(spec.sizes(), seen)
            case Run(task=task):
                broken = spec.submit(task)
            case _Settle(add):
                spec.settle(add)
            case _Begin(advance):
                spec.begin_advance(advance)
            case _End(advance):
                broken = spec.end_advance(advance)
            case Add():
                raise TypeError(f"{operation} has two effects")
        return () if broken else (spec,)


def _submissions(history: WholeHistory) -> Mapping[int, Sequence[HistoryOp[object]]]:
    """Return the runs by the call that begins before their submission; -1 if none has to.

    If tasks run inline, the call that submitted one has not returned when the run begins. So the
    submission comes after the begin of one of the calls that are under way then.
    """
    config = history.header.config
    assert isinstance(config, TimerConfig)
    found: dict[int, list[HistoryOp[object]]] = {}
    under_way: dict[str, int] = {}
    for op in history.ops:
        if isinstance(op.value, Run):
            first = min(under_way.values(), default=-1) if config.runs == "inline" else -1
            found.setdefault(first, []).append(op)
        elif op.f in ("add", "advance_clock"):
            if op.type == "invoke":
                under_way[op.process] = op.index
            elif op.type != "info":
                # A call whose outcome is unknown may go on.
                del under_way[op.process]
    return found


def _endings(history: WholeHistory) -> Mapping[int, str]:
    """Return how each call that has ended did so: `ok`, `fail` or `info`."""
    found: dict[int, str] = {}
    begun: dict[str, int] = {}
    for op in history.ops:
        if isinstance(op.value, Run):
            continue
        if op.type == "invoke":
            begun[op.process] = op.index
        else:
            found[begun[op.process]] = op.type
    return found


def _effects_of(history: WholeHistory, endings: Mapping[int, str]) -> Effects[_Operation, _Answer]:
    """Return the history with its hidden effects made explicit.

    A call that was refused had no effect. One of unknown answer never returns: it may take effect
    at any time, or never.
    """
    effects: Effects[_Operation, _Answer] = Effects()
    submissions = _submissions(history)

    def may_submit(call: int) -> None:
        for run in submissions.get(call, ()):
            assert isinstance(run.value, Run)
            effects.begin(f"submit-{run.index}", run.value)

    may_submit(-1)
    for op in history.ops:
        if isinstance(op.value, Add) and (not history.quiet or endings.get(op.index) == "info"):
            effects.begin(f"unseen-{op.index}", Run(task=op.value.task))
    call: dict[str, int] = {}
    ticket: dict[str, int] = {}
    for op in history.ops:
        effects.index = op.index
        if isinstance(op.value, Run):
            effects.end(f"submit-{op.index}", None)
        elif op.type == "invoke":
            call[op.process] = op.index
            if endings.get(op.index) == "fail":
                pass
            elif isinstance(op.value, AdvanceClock):
                effects.now(f"begin-{op.index}", _Begin(op.index), None)
            else:
                assert isinstance(op.value, Add | Cancel | Tick | Size)
                ticket[op.process] = effects.begin(f"call-{op.index}", op.value)
            may_submit(op.index)
        elif op.type == "ok" and op.f == "advance_clock":
            effects.now(f"end-{op.index}", _End(call[op.process]), None)
        elif op.type == "ok":
            effects.end(f"call-{call[op.process]}", _answer_of(op.value))
            if op.f == "add":
                # After the add's own return, so that it does not settle before its effect.
                effects.now(f"settle-{op.index}", _Settle(ticket[op.process]), None)
    return effects


def _answer_of(value: object) -> _Answer:
    """Return what a cancel or a size answered, if it did."""
    if isinstance(value, Cancelled) and isinstance(value.cancelled, bool):
        return value.cancelled
    if isinstance(value, WaitingTasks):
        return value.size
    return None


def _clause_of(call: Call[_Operation, _Answer]) -> Clause:
    match call.operation:
        case Run():
            return TimerClause.NEVER_BEFORE_DUE
        case Cancel():
            return TimerClause.CANCEL_TELLS_THE_TRUTH
        case Size():
            return TimerClause.SIZE_COUNTS_WAITING
        case _:
            return TimerClause.NOTHING_LEFT_BEHIND


def _adds_again(history: WholeHistory, endings: Mapping[int, str]) -> bool:
    """Tell whether a task is added more than once."""
    added = [
        op.value.task
        for op in history.ops
        if isinstance(op.value, Add) and op.type == "invoke" and endings.get(op.index) != "fail"
    ]
    return len(added) > len(set(added))


def _judges_order(history: WholeHistory, config: TimerConfig) -> bool:
    """Tell whether the order of runs is judged; see `TimerConfig.run_order`."""
    if config.run_order != ABSENT:
        return config.run_order == "promised"
    runners = {op.process for op in history.ops if isinstance(op.value, Run)}
    return history.quiet and len(runners) <= 1


def search(history: WholeHistory) -> Searched | None:
    """Search a history; see `RecordedComponent.search`."""
    config = history.header.config
    assert isinstance(config, TimerConfig)
    calls = {op.f for op in history.ops}
    if not calls <= _CALLS or history.header.clock != "virtual":
        return None
    endings = _endings(history)
    has_size = "size" in calls
    if has_size and _adds_again(history, endings):
        return None
    # If no size is asked for, it does not matter which entries a cancel leaves behind.
    tally = Tally(limits=() if has_size else (TimerClause.SIZE_COUNTS_WAITING,))
    contract = contract_of(history.profile)
    effects = _effects_of(history, endings)
    in_order: Searched | None = None
    if contract.order is not FiringOrder.ANY and _judges_order(history, config):
        ordered = _RecordedTimer(timer_of(config, contract, tally))
        in_order = effects.linearize(ordered, lambda _: TimerClause.RUNS_IN_ORDER)
        if in_order.verdict is Verdict.PASS:
            # An order of effects with all runs in order explains the history without that clause.
            return in_order
    unordered = timer_of(config, replace(contract, order=FiringOrder.ANY), tally)
    found = effects.linearize(_RecordedTimer(unordered), _clause_of)
    return found if in_order is None or found.violation else in_order
