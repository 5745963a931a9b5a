"""The model of a timer for the general search of small histories, effect by effect (Timer.tla).

An add reads the clock and then binds its task. The submission of a task is a hidden effect. An
advance owes the tasks that were due when it began. Only histories with a virtual clock are
searched. The order of runs and the size are left out.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from wheelproof_spec.base.calls import Tick
from wheelproof_spec.base.clause import Clause
from wheelproof_spec.base.codec.vocabulary import ABSENT
from wheelproof_spec.base.contract import CONTRACTS, TimerContract
from wheelproof_spec.base.history.judging import Orders, Searched, WholeHistory
from wheelproof_spec.components.timer.component import (
    Add,
    Cancel,
    Cancelled,
    Run,
    TimerClause,
    TimerConfig,
)
from wheelproof_spec.history.linearizability.calls import UNKNOWN, Call, Unknown
from wheelproof_spec.history.linearizability.check import Model
from wheelproof_spec.history.orders import Question, is_answered

Operation = tuple[str, object]
Answer = object

_CALLS = {"add", "cancel", "tick", "advance_clock", "run"}


@dataclass(frozen=True, slots=True)
class TimerState:
    """The clock, the due time and the add of each waiting task, and the adds that advances owe."""

    now: int
    waiting: frozenset[tuple[str, int, int]] = frozenset()
    readings: frozenset[tuple[int, int]] = frozenset()
    settled: frozenset[int] = frozenset()
    """The adds that have returned."""
    owed: frozenset[tuple[int, frozenset[int]]] = frozenset()


class TimerModel(Model[TimerState, Operation, Answer]):
    """The model of one timer with its hidden effects; see the module."""

    def __init__(self, config: TimerConfig, contract: TimerContract) -> None:
        """Make the model of a timer of this configuration under `contract`."""
        self._config, self._contract = config, contract

    def initial_state(self) -> TimerState:
        """Return the state in which no task waits."""
        return TimerState(self._config.start_ms)

    def waits(self, operation: Operation) -> bool:
        """Tell whether the operation is an add, which has two effects."""
        return operation[0] == "add"

    def request(self, state: TimerState, operation: Operation, ticket: int) -> Iterable[TimerState]:
        """Return the states after an add has read the clock."""
        del operation
        return (replace(state, readings=state.readings | {(ticket, state.now)}),)

    def follow_up(
        self, state: TimerState, operation: Operation, ticket: int, result: Answer | Unknown
    ) -> Iterable[TimerState]:
        """Return the states after an add has bound its task, in place of an earlier add of it."""
        del result
        value = operation[1]
        assert isinstance(value, Add)
        read = dict(state.readings)[ticket]
        kept = frozenset(entry for entry in state.waiting if entry[0] != value.task)
        due = self._contract.due_ms(read + value.delay_ms, self._config.tick_ms)
        mine = (value.task, due, ticket)
        return (replace(state, waiting=kept | {mine}, readings=state.readings - {(ticket, read)}),)

    def step(
        self, state: TimerState, operation: Operation, result: Answer | Unknown
    ) -> Iterable[TimerState]:
        """Return the states after one of the other effects."""
        match operation:
            case "tick", Tick(to_ms=to_ms):
                return (replace(state, now=max(state.now, to_ms)),)
            case "cancel", Cancel(task=task):
                kept = frozenset(entry for entry in state.waiting if entry[0] != task)
                found = len(kept) != len(state.waiting)
                answer = result.cancelled if isinstance(result, Cancelled) else ABSENT
                told = answer is not ABSENT and result is not UNKNOWN
                return () if told and answer is not found else (replace(state, waiting=kept),)
            case "submit", Run(task=task):
                return [
                    replace(state, waiting=state.waiting - {entry})
                    for entry in state.waiting
                    if entry[0] == task and entry[1] <= state.now
                ]
            case "settle", int(ticket):
                return (replace(state, settled=state.settled | {ticket}),)
            case "begin", int(ticket):
                by = self._contract.owes_ms(state.now, self._config.tick_ms)
                due = frozenset(entry[2] for entry in state.waiting if entry[1] <= by)
                return (replace(state, owed=state.owed | {(ticket, due & state.settled)}),)
            case "end", int(ticket):
                owed = dict(state.owed)[ticket]
                return () if any(entry[2] in owed for entry in state.waiting) else (state,)
            case _:
                raise AssertionError(operation)


def _asked(history: WholeHistory) -> Question[Operation, Answer]:
    """Return the history with its hidden effects made explicit."""
    question: Question[Operation, Answer] = Question()
    runs = [op for op in history.ops if isinstance(op.value, Run) and op.type == "invoke"]
    for run in runs:
        question.begin(f"submit-{run.index}", ("submit", run.value))
    if not history.quiet:
        for op in history.ops:
            if isinstance(op.value, Add):
                question.begin(f"unseen-{op.index}", ("submit", Run(task=op.value.task)))
    begun: dict[str, int] = {}
    for op in history.ops:
        question.index = op.index
        if isinstance(op.value, Run):
            question.end(f"submit-{op.index}", None)
        elif op.f == "advance_clock":
            kind = "begin" if op.type == "invoke" else "end"
            begun[op.process] = begun.get(op.process, 0) if kind == "end" else op.index
            question.now(f"{kind}-{op.index}", (kind, begun[op.process]), None)
        elif op.type == "invoke":
            begun[op.process] = question.begin(op.process, (op.f, op.value))
        else:
            question.end(op.process, op.value)
            if op.f == "add":
                # After the add's own return, so that it does not settle before its effect.
                question.now(f"settle-{op.index}", ("settle", begun[op.process]), None)
    return question


def _clause_of(call: Call[Operation, Answer]) -> Clause:
    match call.operation[0]:
        case "submit":
            return TimerClause.NEVER_BEFORE_DUE
        case "cancel":
            return TimerClause.CANCEL_TELLS_THE_TRUTH
        case _:
            return TimerClause.NOTHING_LEFT_BEHIND


def _search(history: WholeHistory) -> Searched | None:
    config = history.header.config
    assert isinstance(config, TimerConfig)
    known = is_answered(history.ops) and {op.f for op in history.ops} <= _CALLS
    if not known or history.header.clock != "virtual":
        return None
    return _asked(history).ask(TimerModel(config, CONTRACTS[history.profile]), _clause_of)


ORDERS: Orders = _search
