"""The same histories for the general engine: models whose effects are those of the rules."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from support.agreement.small_histories import History, Op
from wheelproof_spec.base.calls import Tick
from wheelproof_spec.base.codec.vocabulary import ABSENT
from wheelproof_spec.components.buffer_pool.component import Allocate, Allocated, Deallocate
from wheelproof_spec.components.timer.component import Add, Cancel, Cancelled, Run
from wheelproof_spec.engines.history.linearizability import Model
from wheelproof_spec.engines.history.linearizability_calls import (
    UNKNOWN,
    Event,
    Invoked,
    Returned,
    Unknown,
)

Operation = tuple[str, object]
Answer = object


@dataclass(frozen=True, slots=True)
class TimerState:
    """The clock; for each waiting task its due time, its add, and whether that has returned."""

    now: int = 0
    waiting: frozenset[tuple[str, int, int, bool]] = frozenset()
    readings: frozenset[tuple[int, int]] = frozenset()
    settled: frozenset[int] = frozenset()
    owed: frozenset[tuple[int, frozenset[int]]] = frozenset()


class TimerModel(Model[TimerState, Operation, Answer]):
    """Add reads the clock and then binds; submission is hidden; an advance owes what was due."""

    def initial_state(self) -> TimerState:
        return TimerState()

    def waits(self, operation: Operation) -> bool:
        return operation[0] == "add"

    def request(self, state: TimerState, operation: Operation, ticket: int) -> Iterable[TimerState]:
        del operation
        return (replace(state, readings=state.readings | {(ticket, state.now)}),)

    def follow_up(
        self, state: TimerState, operation: Operation, ticket: int, result: Answer | Unknown
    ) -> Iterable[TimerState]:
        del result
        value = operation[1]
        assert isinstance(value, Add)
        read = dict(state.readings)[ticket]
        kept = frozenset(one for one in state.waiting if one[0] != value.task)
        mine = (value.task, read + value.delay_ms, ticket, False)
        return (replace(state, waiting=kept | {mine}, readings=state.readings - {(ticket, read)}),)

    def step(
        self, state: TimerState, operation: Operation, result: Answer | Unknown
    ) -> Iterable[TimerState]:
        name, value = operation
        match name, value:
            case "tick", Tick(to_ms=to_ms):
                return (replace(state, now=max(state.now, to_ms)),)
            case "cancel", Cancel(task=task):
                kept = frozenset(one for one in state.waiting if one[0] != task)
                found = len(kept) != len(state.waiting)
                answer = result.cancelled if isinstance(result, Cancelled) else ABSENT
                told = answer is not ABSENT and result is not UNKNOWN
                return () if told and answer is not found else (replace(state, waiting=kept),)
            case "submit", str(task):
                due = [one for one in state.waiting if one[0] == task and one[1] <= state.now]
                return [replace(state, waiting=state.waiting - {one}) for one in due]
            case "settle", int(ticket):
                return (replace(state, settled=state.settled | {ticket}),)
            case "begin", int(ticket):
                owed = frozenset(
                    add
                    for _, due, add, _ in state.waiting
                    if due <= state.now and add in state.settled
                )
                return (replace(state, owed=state.owed | {(ticket, owed)}),)
            case "end", int(ticket):
                owed = dict(state.owed)[ticket]
                return () if any(add in owed for _, _, add, _ in state.waiting) else (state,)
            case _:
                raise AssertionError(operation)


def timer_events(history: History) -> Sequence[Event[Operation, Answer]]:
    """Return the history with what is hidden made explicit."""
    events: list[Event[Operation, Answer]] = []
    runs = [op for op in history.ops if op.f == "run"]
    for number, op in enumerate(runs):
        assert isinstance(op.value, Run)
        events.append(Invoked(f"submit-{number}", ("submit", op.value.task)))
    if not history.end.quiet:
        adds = [op.value for op in history.ops if op.f == "add" and op.type == "invoke"]
        for number, value in enumerate(adds):
            assert isinstance(value, Add)
            events.append(Invoked(f"unseen-{number}", ("submit", value.task)))
    submits = iter(range(len(runs)))
    begun: dict[str, int] = {}
    for op in history.ops:
        if op.f == "run":
            events.append(Returned(f"submit-{next(submits)}", None))
        elif op.f == "advance_clock":
            kind = "begin" if op.type == "invoke" else "end"
            if op.type == "invoke":
                begun[op.process] = op.index
            _at_once(events, f"{kind}-{op.index}", (kind, begun[op.process]))
        elif op.type == "invoke":
            begun[op.process] = len(events)
            events.append(Invoked(op.process, (op.f, op.value)))
        else:
            if op.f == "add":
                # Not before its effect: the add's own return comes first.
                events.append(Returned(op.process, None))
                _at_once(events, f"settle-{op.index}", ("settle", begun[op.process]))
            else:
                events.append(Returned(op.process, op.value))
    return events


def _at_once(events: list[Event[Operation, Answer]], process: str, operation: Operation) -> None:
    events.append(Invoked(process, operation))
    events.append(Returned(process, None))


@dataclass(frozen=True, slots=True)
class PoolState:
    """What is lent, and who waits."""

    lent: frozenset[tuple[str, int]] = frozenset()
    waiting: frozenset[int] = frozenset()


class PoolModel(Model[PoolState, Operation, Answer]):
    """Whoever asks waits; memory is exhausted if there is too little or somebody else waits."""

    def __init__(self, total: int) -> None:
        self._total = total

    def initial_state(self) -> PoolState:
        return PoolState()

    def waits(self, operation: Operation) -> bool:
        return isinstance(operation[1], Allocate)

    def request(self, state: PoolState, operation: Operation, ticket: int) -> Iterable[PoolState]:
        del operation
        return (replace(state, waiting=state.waiting | {ticket}),)

    def follow_up(
        self, state: PoolState, operation: Operation, ticket: int, result: Answer | Unknown
    ) -> Iterable[PoolState]:
        value = operation[1]
        assert isinstance(value, Allocate)
        free = self._total - sum(size for _, size in state.lent)
        others = state.waiting - {ticket}
        left = replace(state, waiting=others)
        if isinstance(result, Allocated):
            lent = state.lent | {(result.buffer, value.size)}
            return (replace(left, lent=lent),) if value.size <= free else ()
        if result is UNKNOWN:
            return (left,)
        return (left,) if others or value.size > free else ()

    def step(
        self, state: PoolState, operation: Operation, result: Answer | Unknown
    ) -> Iterable[PoolState]:
        del result
        value = operation[1]
        assert isinstance(value, Deallocate)
        kept = frozenset(one for one in state.lent if one[0] != value.buffer)
        return (replace(state, lent=kept),) if kept != state.lent else ()


def pool_events(history: History) -> Sequence[Event[Operation, Answer]]:
    """Return the history for the engine; a refusal is an answer."""
    events: list[Event[Operation, Answer]] = []
    for op in history.ops:
        if op.type == "invoke":
            events.append(Invoked(op.process, (op.f, op.value)))
        else:
            events.append(Returned(op.process, _answer(op)))
    return events


def _answer(op: Op) -> Answer:
    return "exhausted" if op.type == "fail" else op.value
