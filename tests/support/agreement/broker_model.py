"""The same histories for the general engine: a log, a high watermark, and who has read."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from support.agreement.small_brokers import FOLLOWER, batch_base, read_end
from support.agreement.small_histories import History
from wheelproof_spec.components.replication.component import (
    ALL_ACKS,
    AppendRecords,
    ErrorCode,
    FetchMessages,
    FetchResponse,
    ProduceResponse,
)
from wheelproof_spec.engines.history.linearizability import Model
from wheelproof_spec.engines.history.linearizability_calls import (
    Event,
    Invoked,
    Returned,
    Unknown,
)

Request = AppendRecords | FetchMessages
Response = ProduceResponse | FetchResponse
Operation = tuple[str, Request]
Answer = Response | None


@dataclass(frozen=True, slots=True)
class BrokerState:
    """The values in the log, the high watermark, where appends began, and which reads are over."""

    log: tuple[str, ...] = ()
    high_watermark: int = 0
    bases: frozenset[tuple[str, int]] = frozenset()
    read: frozenset[str] = frozenset()


class BrokerModel(Model[BrokerState, Operation, Answer]):
    """Appends, reads, notes and answers are steps; a request is several of them."""

    def initial_state(self) -> BrokerState:
        return BrokerState()

    def step(
        self, state: BrokerState, operation: Operation, result: Answer | Unknown
    ) -> Iterable[BrokerState]:
        name, call = operation
        match name, call:
            case "append", AppendRecords():
                values = tuple(record.value for record in call.entries[0].records)
                base = (call.request, len(state.log))
                return (replace(state, log=state.log + values, bases=state.bases | {base}),)
            case "answer", AppendRecords():
                return self._answer(state, call, result)
            case "late", AppendRecords():
                end = dict(state.bases)[call.request] + len(call.entries[0].records)
                due = call.required_acks != ALL_ACKS or state.high_watermark >= end
                return () if due else (state,)
            case "read", FetchMessages():
                right = isinstance(result, FetchResponse) and _is_read(state, call, result)
                return (replace(state, read=state.read | {call.request}),) if right else ()
            case "wait", FetchMessages():
                beyond = call.partitions[0].fetch_offset > len(state.log)
                waits = not beyond and not _has_enough(state, call)
                return (replace(state, read=state.read | {call.request}),) if waits else ()
            case "note" | "note after", FetchMessages():
                offset = call.partitions[0].fetch_offset
                beyond = offset > len(state.log)
                # Without a refusal it was within the log already when it came.
                if beyond if name == "note" else call.request not in state.read:
                    return ()
                reached = 0 if beyond else batch_base(_bounds(state), offset)
                return (replace(state, high_watermark=max(state.high_watermark, reached)),)
            case "late", FetchMessages():
                return () if _has_enough(state, call) else (state,)
            case _:
                raise AssertionError(operation)

    def _answer(
        self, state: BrokerState, call: AppendRecords, result: Answer | Unknown
    ) -> Iterable[BrokerState]:
        base = dict(state.bases).get(call.request)
        if base is None or not isinstance(result, ProduceResponse):
            return ()
        answer = result.partitions[0]
        end = base + len(call.entries[0].records)
        replicated = call.required_acks != ALL_ACKS or state.high_watermark >= end
        right = answer.base_offset == base and answer.error is ErrorCode.NONE and replicated
        return (state,) if right else ()


def broker_events(history: History) -> Sequence[Event[Operation, Answer]]:
    """Return the history with each step of a request as an operation of its own.

    An append is over when its call is, or when it is answered in its call; so is the first read of
    a fetch. A fetch that is not answered in its call has found too little, and is noted afterwards.
    Two answers to one request are one answer too many for any order.
    """
    events: list[Event[Operation, Answer]] = []
    calls: dict[str, Request] = {}
    open_steps: set[str] = set()
    late = _answered_late(history)
    refused = {
        op.value.request
        for op in history.ops
        if isinstance(op.value, FetchResponse) and op.value.partitions[0].is_refusal
    }
    answered: set[str] = set()

    def begin(*kinds: str, call: Request) -> None:
        for kind in kinds:
            open_steps.add(f"{kind} {call.request}")
            events.append(Invoked(f"{kind} {call.request}", (kind, call)))

    def end(kind: str, name: str, answer: Answer = None) -> None:
        if f"{kind} {name}" in open_steps:
            open_steps.remove(f"{kind} {name}")
            events.append(Returned(f"{kind} {name}", answer))

    for op in history.ops:
        value = op.value
        if isinstance(value, AppendRecords):
            calls[op.process] = value
            begin("append", "answer", call=value)
        elif isinstance(value, FetchMessages):
            calls[op.process] = value
            waits = value.request in late and value.max_wait_ms > 0
            begin("read", *(["wait"] if waits else []), call=value)
            if value.replica_id == FOLLOWER:
                is_first = waits or not value.max_wait_ms or value.request in refused
                begin("note after" if is_first else "note", call=value)
        elif isinstance(value, ProduceResponse | FetchResponse):
            name = value.request
            if name in answered:
                return [Invoked("twice", ("read", _NEVER)), Returned("twice", None)]
            answered.add(name)
            end("append", name)
            end("answer" if isinstance(value, ProduceResponse) else "read", name, value)
        elif op.type == "ok" and op.process in calls:
            name = calls.pop(op.process).request
            for kind in ("append", "wait", "note", "note after"):
                end(kind, name)
    # By the end all calls are over.
    for op in history.ops:
        if isinstance(op.value, AppendRecords | FetchMessages) and op.value.request not in answered:
            begin("late", call=op.value)
            end("late", op.value.request)
    return events


def _answered_late(history: History) -> set[str]:
    """Return the requests that are not answered before their calls are over, if ever."""
    calls: dict[str, str] = {}
    answered: set[str] = set()
    late: set[str] = set()
    for op in history.ops:
        if isinstance(op.value, AppendRecords | FetchMessages):
            calls[op.process] = op.value.request
        elif isinstance(op.value, ProduceResponse | FetchResponse):
            answered.add(op.value.request)
        elif op.type == "ok" and op.process in calls:
            late |= {calls.pop(op.process)} - answered
    return late


_NEVER = FetchMessages(request="never", max_wait_ms=0, min_bytes=0, max_bytes=0, partitions=())


def _is_read(state: BrokerState, call: FetchMessages, result: FetchResponse) -> bool:
    """Tell whether this can be read, and is worth an answer."""
    asked, answer = call.partitions[0], result.partitions[0]
    beyond = asked.fetch_offset > len(state.log)
    if answer.high_watermark != (-1 if beyond else state.high_watermark):
        return False
    if beyond:
        return answer.error is ErrorCode.OFFSET_OUT_OF_RANGE
    end = state.high_watermark if call.replica_id is None else len(state.log)
    last = read_end(_bounds(state), asked.fetch_offset, end, asked.max_bytes)
    values = state.log[asked.fetch_offset : last]
    if answer.error is not ErrorCode.NONE:
        return False
    if tuple(record.value for record in answer.records) != values:
        return False
    return _has_enough(state, call)


def _bounds(state: BrokerState) -> list[int]:
    return sorted({*(base for _, base in state.bases), len(state.log)})


def _has_enough(state: BrokerState, call: FetchMessages) -> bool:
    end = state.high_watermark if call.replica_id is None else len(state.log)
    begin = batch_base(_bounds(state), call.partitions[0].fetch_offset)
    return end != begin or call.max_wait_ms == 0
