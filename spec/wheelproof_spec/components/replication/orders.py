"""The model of a broker for the general search of small histories: one log, one follower.

The broker leads. An append, the first read of a fetch, the note of the follower's end, and an
answer are separate effects. Time does not pass, so no request is answered because it expired.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from wheelproof_spec.base.clause import Clause
from wheelproof_spec.base.history.judging import Orders, Searched, WholeHistory
from wheelproof_spec.base.history.lines import HistoryOp
from wheelproof_spec.components.replication.component import (
    ALL_ACKS,
    WHEELPROOF,
    AppendRecords,
    BecomeLeader,
    ErrorCode,
    FetchMessages,
    FetchResponse,
    NewRecord,
    ProduceResponse,
    ReplicationClause,
    ReplicationConfig,
)
from wheelproof_spec.history.linearizability.calls import Call, Unknown
from wheelproof_spec.history.linearizability.check import Model
from wheelproof_spec.history.orders import Question, is_answered

Request = AppendRecords | FetchMessages
Response = ProduceResponse | FetchResponse
Operation = tuple[str, Request]
Answer = Response | None

_WITHOUT_EFFECT = {"read_log", "watched", "num_delayed", "num_keys", "purge_completed"}


@dataclass(frozen=True, slots=True)
class BrokerState:
    """The log, its high watermark, where appends began, and which reads are over."""

    log: tuple[NewRecord, ...] = ()
    high_watermark: int = 0
    bases: frozenset[tuple[str, int]] = frozenset()
    read: frozenset[str] = frozenset()


class BrokerModel(Model[BrokerState, Operation, Answer]):
    """Appends, reads, notes and answers are steps; a request is several of them."""

    def initial_state(self) -> BrokerState:
        """Return the state with an empty log."""
        return BrokerState()

    def step(
        self, state: BrokerState, operation: Operation, result: Answer | Unknown
    ) -> Iterable[BrokerState]:
        """Return the possible states after an effect."""
        name, call = operation
        match name, call:
            case "append", AppendRecords():
                base = (call.request, len(state.log))
                log = state.log + call.entries[0].records
                return (replace(state, log=log, bases=state.bases | {base}),)
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
                # A fetch without a refusal was within the log already when it came.
                if beyond if name == "note" else call.request not in state.read:
                    return ()
                reached = 0 if beyond else _batch_base(state, offset)
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


class _Asked:
    """A history with each effect of a request as an operation of its own.

    An append is over when its call returns, or is answered in the call; so is the first read of a
    fetch. A fetch without an answer in its call has found too little, and is noted afterwards.
    """

    def __init__(self, history: WholeHistory) -> None:
        self.question: Question[Operation, Answer] = Question()
        self._open: set[str] = set()
        self._calls: dict[str, Request] = {}
        self._late = _answered_late(history)
        responses = [op.value for op in history.ops if isinstance(op.value, Response)]
        self._refused = {
            response.request
            for response in responses
            if isinstance(response, FetchResponse) and response.partitions[0].is_refusal
        }
        for op in history.ops:
            self.question.index = op.index
            self._tell(op)
        answered = {response.request for response in responses}
        for op in history.ops:
            # Once all calls are over, every request that can be answered has been.
            if self._calls or not isinstance(op.value, Request):
                continue
            if op.value.request not in answered:
                self.question.now(f"late {op.value.request}", ("late", op.value), None)

    def _tell(self, op: HistoryOp[object]) -> None:
        value = op.value
        if isinstance(value, AppendRecords):
            self._calls[op.process] = value
            self._begin("append", "answer", call=value)
        elif isinstance(value, FetchMessages):
            self._calls[op.process] = value
            waits = value.request in self._late and value.max_wait_ms > 0
            self._begin("read", *(["wait"] if waits else []), call=value)
            if value.replica_id is not None:
                is_first = waits or not value.max_wait_ms or value.request in self._refused
                self._begin("note after" if is_first else "note", call=value)
        elif isinstance(value, Response):
            kind = "answer" if isinstance(value, ProduceResponse) else "read"
            self._end("append", value.request)
            self._end(kind, value.request, value)
        elif op.type == "ok" and op.f in ("append_records", "fetch_messages"):
            name = self._calls.pop(op.process).request
            for kind in ("append", "wait", "note", "note after"):
                self._end(kind, name)

    def _begin(self, *kinds: str, call: Request) -> None:
        for kind in kinds:
            self._open.add(f"{kind} {call.request}")
            self.question.begin(f"{kind} {call.request}", (kind, call))

    def _end(self, kind: str, name: str, answer: Answer = None) -> None:
        if f"{kind} {name}" in self._open:
            self._open.remove(f"{kind} {name}")
            self.question.end(f"{kind} {name}", answer)


def _answered_late(history: WholeHistory) -> set[str]:
    """Return the requests that are not answered before their calls are over, if ever."""
    calls: dict[str, str] = {}
    answered: set[str] = set()
    late: set[str] = set()
    for op in history.ops:
        if isinstance(op.value, Request):
            calls[op.process] = op.value.request
        elif isinstance(op.value, Response):
            answered.add(op.value.request)
        elif op.type == "ok" and op.process in calls:
            late |= {calls.pop(op.process)} - answered
    return late


def _is_read(state: BrokerState, call: FetchMessages, result: FetchResponse) -> bool:
    """Tell whether a fetch can read this result, and is answered with it."""
    asked, answer = call.partitions[0], result.partitions[0]
    beyond = asked.fetch_offset > len(state.log)
    if answer.high_watermark != (-1 if beyond else state.high_watermark):
        return False
    if beyond:
        return answer.error is ErrorCode.OFFSET_OUT_OF_RANGE
    last = _read_end(state, asked.fetch_offset, _end(state, call), _room(call))
    found = [record.value for record in state.log[asked.fetch_offset : last]]
    if answer.error is not ErrorCode.NONE or [one.value for one in answer.records] != found:
        return False
    return _has_enough(state, call)


def _room(call: FetchMessages) -> int:
    return min(call.max_bytes, call.partitions[0].max_bytes)


def _end(state: BrokerState, call: FetchMessages) -> int:
    """Return the offset up to which the fetcher may read."""
    return state.high_watermark if call.replica_id is None else len(state.log)


def _bounds(state: BrokerState) -> list[int]:
    """Return where the batches begin, and the end of the log."""
    return sorted({*(base for _, base in state.bases), len(state.log)})


def _batch_base(state: BrokerState, offset: int) -> int:
    """Return the begin of an offset's batch; beyond the end, the offset."""
    if offset > len(state.log):
        return offset
    return max((bound for bound in _bounds(state) if bound <= offset), default=0)


def _read_end(state: BrokerState, offset: int, end: int, room: int) -> int:
    """Return the end of the whole batches that fit; the first batch is read in any case."""
    last = begin = _batch_base(state, offset)
    for bound in _bounds(state):
        if begin < bound <= end:
            size = sum(record.size for record in state.log[begin:bound])
            last = bound if size <= room or last == begin else last
    return last


def _has_enough(state: BrokerState, call: FetchMessages) -> bool:
    begin = _batch_base(state, call.partitions[0].fetch_offset)
    return _end(state, call) != begin or call.max_wait_ms == 0


def _clause_of(call: Call[Operation, Answer]) -> Clause:
    late = call.operation[0] in ("late", "wait")
    return ReplicationClause.ANSWERED_WHEN_IT_CAN_BE if late else ReplicationClause.ANSWER_IS_RIGHT


def _search(history: WholeHistory) -> Searched | None:
    config = history.header.config
    assert isinstance(config, ReplicationConfig)
    ops = history.ops
    if history.profile != WHEELPROOF:
        # Kafka reads with one high watermark and may answer with a later one.
        return None
    if history.header.clock != "virtual" or not is_answered(ops) or len(ops) < 2:
        return None
    lead = ops[0].value
    if not isinstance(lead, BecomeLeader) or not _is_led(lead, config):
        return None
    if ops[1].process != ops[0].process or not all(_is_known(op, lead) for op in ops[2:]):
        return None
    answered = [op.value.request for op in ops if isinstance(op.value, Response)]
    if len({*answered}) < len(answered):
        # No order explains two answers to one request.
        return None
    appended = [op.value.entries[0] for op in ops if isinstance(op.value, AppendRecords)]
    if sum(entry.size for entry in appended) > config.segment_bytes:
        # The records that a fetch reads depend on the segments, too.
        return None
    return _Asked(history).question.ask(BrokerModel(), _clause_of)


def _is_led(lead: BecomeLeader, config: ReplicationConfig) -> bool:
    """Tell whether the broker leads with one follower, which is in sync and stays so."""
    pair = {config.broker_id} < {*lead.replica_ids} == {*lead.in_sync_ids}
    return pair and len(lead.replica_ids) == 2 and config.min_in_sync_replicas <= 2


def _is_known(op: HistoryOp[object], lead: BecomeLeader) -> bool:
    """Tell whether the model covers an event."""
    match op.value:
        case AppendRecords(entries=entries, required_acks=acks):
            return [entry.partition for entry in entries] == [lead.partition] and acks in (
                1,
                ALL_ACKS,
            )
        case FetchMessages(partitions=(asked,), min_bytes=1, replica_id=replica):
            is_plain = asked.current_leader_epoch is None and asked.last_fetched_epoch is None
            here = asked.partition == lead.partition and asked.fetch_offset >= 0
            return here and is_plain and replica in (None, *lead.replica_ids)
        case ProduceResponse() | FetchResponse():
            return True
        case _:
            return op.type == "ok" or op.f in _WITHOUT_EFFECT


ORDERS: Orders = _search
