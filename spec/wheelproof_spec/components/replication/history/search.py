"""The search for a linearization of a broker's requests, by its model `LedgerPartition`.

It covers one log, one follower that stays in sync, and a broker that leads. An append, the first
read of a fetch, the note of the follower's end, and an answer are separate effects. Time does not
pass, so no request is answered because it expired.
"""

from collections.abc import Collection, Hashable, Iterable
from typing import Self

from wheelproof_spec.base.clause import Clause
from wheelproof_spec.base.history.judging import Searched, WholeHistory
from wheelproof_spec.base.history.lines import HistoryOp
from wheelproof_spec.components.replication.component import (
    ALL_ACKS,
    WHEELPROOF,
    AppendRecords,
    BecomeLeader,
    ErrorCode,
    FetchMessages,
    FetchResponse,
    ProduceResponse,
    ReplicationClause,
    ReplicationConfig,
)
from wheelproof_spec.components.replication.model import LedgerLog, LedgerPartition
from wheelproof_spec.history.linearizability.calls import Call, Unknown
from wheelproof_spec.history.linearizability.interleaved import Interleaved
from wheelproof_spec.history.linearizability.small_histories import Effects, is_answered

Request = AppendRecords | FetchMessages
Response = ProduceResponse | FetchResponse
Operation = tuple[str, Request]
Answer = Response | None

_WITHOUT_EFFECT = {"read_log", "watched", "num_delayed", "num_keys", "purge_completed"}
_NOW_MS = 0


class _Broker:
    """A partition, where each append began, and which fetches have read."""

    __slots__ = ("bases", "partition", "read")

    def __init__(
        self,
        partition: LedgerPartition,
        bases: dict[str, int] | None = None,
        read: frozenset[str] = frozenset(),
    ) -> None:
        self.partition = partition
        self.bases = bases or {}
        self.read = read

    def copy(self) -> Self:
        return type(self)(self.partition.copy(), self.bases.copy(), self.read)

    def key(self) -> Hashable:
        return self.partition.key(), frozenset(self.bases.items()), self.read

    def append(self, call: AppendRecords) -> None:
        partition = self.partition
        self.bases[call.request] = partition.log.append(call.entries[0].records, partition.epoch)
        partition.raise_high_watermark(_NOW_MS)

    def is_done(self, call: AppendRecords) -> bool:
        """Tell whether an append can be answered without an error."""
        if call.required_acks != ALL_ACKS:
            return True
        end = self.bases[call.request] + len(call.entries[0].records)
        return self.partition.outcome(self.partition.epoch, end) is ErrorCode.NONE

    def is_refused(self, call: FetchMessages) -> bool:
        """Tell whether a fetch asks for what is beyond the end of the log."""
        return call.partitions[0].fetch_offset > self.partition.log.end

    def has_enough(self, call: FetchMessages) -> bool:
        """Tell whether a fetch need not wait."""
        asked, replica = call.partitions[0], call.replica_id
        if self.is_refused(call):
            return True
        begin = self.partition.begin(asked.fetch_offset, replica)
        available = self.partition.available(asked, replica, begin)
        return call.max_wait_ms == 0 or available is None or available >= call.min_bytes

    def note(self, call: FetchMessages) -> None:
        """Note the end of the follower that has fetched; a refusal tells none."""
        asked, replica = call.partitions[0], call.replica_id
        assert replica is not None
        if not self.is_refused(call):
            begin = self.partition.begin(asked.fetch_offset, replica)
            self.partition.note_follower(replica, begin, _NOW_MS)
            self.partition.raise_high_watermark(_NOW_MS)


class _RecordedBroker(Interleaved[_Broker, Operation, Answer]):
    def effect(
        self, spec: _Broker, operation: Operation, result: Answer | Unknown
    ) -> Iterable[_Broker]:
        match operation:
            case "append", AppendRecords() as call:
                spec.append(call)
                possible = True
            case "answer", AppendRecords() as call:
                possible = isinstance(result, ProduceResponse) and _is_right(spec, call, result)
            case "read", FetchMessages() as call:
                possible = isinstance(result, FetchResponse) and _is_read(spec, call, result)
                spec.read |= {call.request}
            case "wait", FetchMessages() as call:
                possible = not spec.is_refused(call) and not spec.has_enough(call)
                spec.read |= {call.request}
            case "note", FetchMessages() as call:
                # A fetch without a refusal was within the log already when it came.
                possible = not spec.is_refused(call)
                spec.note(call)
            case "note after", FetchMessages() as call:
                possible = call.request in spec.read
                spec.note(call)
            case "late", AppendRecords() as call:
                possible = not spec.is_done(call)
            case "late", FetchMessages() as call:
                possible = not spec.has_enough(call)
            case _:
                raise AssertionError(operation)
        return (spec,) if possible else ()


def _is_right(spec: _Broker, call: AppendRecords, result: ProduceResponse) -> bool:
    """Tell whether an append can be answered like this."""
    answer = result.partitions[0]
    base = spec.bases.get(call.request)
    return answer.base_offset == base and answer.error is ErrorCode.NONE and spec.is_done(call)


def _is_read(spec: _Broker, call: FetchMessages, result: FetchResponse) -> bool:
    """Tell whether a fetch can read this result, and is answered with it."""
    asked, answer = call.partitions[0], result.partitions[0]
    right, _ = spec.partition.read(asked, call.replica_id, call.max_bytes, at_least_one=True)
    if (answer.error, answer.high_watermark) != (right.error, right.high_watermark):
        return False
    if [one.value for one in answer.records] != [one.value for one in right.records]:
        return False
    return right.is_refusal or spec.has_enough(call)


class _EffectsOf:
    """A history with each effect of a request as an operation of its own.

    An append is over when its call returns, or is answered in the call; so is the first read of a
    fetch. A fetch without an answer in its call has found too little, and is noted afterwards.
    """

    def __init__(self, history: WholeHistory) -> None:
        self.effects: Effects[Operation, Answer] = Effects()
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
            self.effects.index = op.index
            self._tell(op)
        answered = {response.request for response in responses}
        for op in history.ops:
            # Once all calls are over, every request that can be answered has been.
            if self._calls or not isinstance(op.value, Request):
                continue
            if op.value.request not in answered:
                self.effects.now(f"late {op.value.request}", ("late", op.value), None)

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
            self.effects.begin(f"{kind} {call.request}", (kind, call))

    def _end(self, kind: str, name: str, answer: Answer = None) -> None:
        if f"{kind} {name}" in self._open:
            self._open.remove(f"{kind} {name}")
            self.effects.end(f"{kind} {name}", answer)


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


def _clause_of(call: Call[Operation, Answer]) -> Clause:
    late = call.operation[0] in ("late", "wait")
    return ReplicationClause.ANSWERED_WHEN_IT_CAN_BE if late else ReplicationClause.ANSWER_IS_RIGHT


def search(history: WholeHistory) -> Searched | None:
    """Search a history; see `RecordedComponent.search`."""
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
    followers = {*lead.replica_ids} - {config.broker_id}
    if ops[1].process != ops[0].process or not all(
        _is_known(op, lead, followers) for op in ops[2:]
    ):
        return None
    answered = [op.value.request for op in ops if isinstance(op.value, Response)]
    if len({*answered}) < len(answered):
        # No order explains two answers to one request.
        return None
    appended = [op.value.entries[0] for op in ops if isinstance(op.value, AppendRecords)]
    if sum(entry.size for entry in appended) > config.segment_bytes:
        # The records that a fetch reads depend on the segments, too.
        return None
    partition = LedgerPartition(config, as_kafka=False, log=LedgerLog(config.segment_bytes))
    partition.become_leader(lead, _NOW_MS)
    broker = _RecordedBroker(_Broker(partition))
    return _EffectsOf(history).effects.linearize(broker, _clause_of)


def _is_led(lead: BecomeLeader, config: ReplicationConfig) -> bool:
    """Tell whether the broker leads with one follower, which is in sync and stays so."""
    pair = {config.broker_id} < {*lead.replica_ids} == {*lead.in_sync_ids}
    return pair and len(lead.replica_ids) == 2 and config.min_in_sync_replicas <= 2


def _is_known(op: HistoryOp[object], lead: BecomeLeader, followers: Collection[int]) -> bool:
    """Tell whether the search covers an event."""
    match op.value:
        case AppendRecords(entries=entries, required_acks=acks):
            return [entry.partition for entry in entries] == [lead.partition] and acks in (
                1,
                ALL_ACKS,
            )
        case FetchMessages(partitions=(asked,), min_bytes=1, replica_id=replica):
            is_plain = asked.current_leader_epoch is None and asked.last_fetched_epoch is None
            here = asked.partition == lead.partition and asked.fetch_offset >= 0
            return here and is_plain and replica in (None, *followers)
        case ProduceResponse() | FetchResponse():
            return True
        case _:
            return op.type == "ok" or op.f in _WITHOUT_EFFECT
