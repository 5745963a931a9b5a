"""The oracle's broker: the answers to produce and fetch requests, from a ledger of appends.

After every call it checks all requests: a request that can be answered is answered, an expired
request is answered with what there is. It has no purgatory, no triggers and no locks. TLA+: the
properties of ProduceFetch.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from wheelproof_spec.base.calls import Advance, Reset
from wheelproof_spec.base.port import RefusedError, unexpected_refusal
from wheelproof_spec.base.results.tally import Tally
from wheelproof_spec.base.results.violation import Violation
from wheelproof_spec.components.replication.answers import Due, judge_answers
from wheelproof_spec.components.replication.component import (
    ALL_ACKS,
    KAFKA,
    AppendRecords,
    BecomeFollower,
    BecomeLeader,
    ErrorCode,
    FetchMessages,
    FetchResponse,
    MaybeShrinkInSync,
    PartitionFetchResponse,
    PartitionName,
    PartitionProduceResponse,
    PartitionRecords,
    ProduceResponse,
    ReplicationCall,
    ReplicationClause,
    ReplicationConfig,
    ReplicationObservation,
    RequestName,
    Response,
    StopReplica,
    TruncateAsFollower,
    names_twice,
)
from wheelproof_spec.components.replication.model import LedgerLog, LedgerPartition, Place


@dataclass(slots=True, kw_only=True)
class _Produce:
    expires_ms: int
    answers: dict[PartitionName, PartitionProduceResponse]
    # The partitions not replicated yet: the epoch, and the offset after the last record.
    pending: dict[PartitionName, tuple[int, int]]

    def partitions(self) -> Sequence[PartitionName]:
        return tuple(self.answers)


@dataclass(slots=True, kw_only=True)
class _Fetch:
    expires_ms: int
    request: FetchMessages
    # The place where it began in each partition when it came.
    begins: dict[PartitionName, Place]

    def partitions(self) -> Sequence[PartitionName]:
        return tuple(fetched.partition for fetched in self.request.partitions)


class ReplicationLedger:
    """A broker that gives, right after each call, all answers that the call makes possible.

    The rules are standard 5.1 - 5.5. It judges one case after another.
    """

    def __init__(self, profile: str, tally: Tally) -> None:
        """Judge by the contract `profile`, and count in `tally` what is tested."""
        self._kafka = profile == KAFKA
        self._tally, self._tests = tally, tally.tests
        self._reset(ReplicationConfig())

    @property
    def now_ms(self) -> int:
        """The time that the clock shows, in milliseconds."""
        return self._now_ms

    def last_expiry_ms(self) -> int:
        """Return when the last of the waiting requests expires, in milliseconds; now if none."""
        expiries = (waiting.expires_ms for waiting in self._waiting.values())
        return max(expiries, default=self._now_ms)

    def log_end(self, partition: PartitionName) -> int:
        """Return the end of a partition's log; 0 if there is no such partition."""
        known = self._partitions.get(partition)
        return 0 if known is None else known.log.end

    def batch_base(self, partition: PartitionName, back: int) -> int | None:
        """Return where a follower may truncate: a batch that begins `back` records before the end.

        None if the broker does not follow there, or the log has no such record.
        """
        known = self._partitions.get(partition)
        if known is None or known.leads or not 0 <= back <= known.log.end:
            return None
        return known.log.batch_base(known.log.end - back)

    def foresee(self, call: ReplicationCall) -> None:
        """Apply a call by the rules, before an implementation has answered it."""
        if isinstance(call, Reset):
            self._reset(call.config)
        elif self._problem(call) is None:
            self._due(call)

    def as_possible(self, call: ReplicationCall) -> ReplicationCall:
        """Return `call`: every call makes sense at any time."""
        return call

    def judge(self, call: ReplicationCall, seen: ReplicationObservation) -> Violation | None:
        """Return the clause that `seen`, the outcome of `call`, breaks, if any."""
        if isinstance(call, Reset):
            self._reset(call.config)
            return None
        self._tests(ReplicationClause.KEEPS_TO_ITS_DOMAIN)
        problem = self._problem(call)
        if problem is not None:
            return ReplicationClause.KEEPS_TO_ITS_DOMAIN.broken(
                "the call is refused",
                "the call was carried out",
                f"{call.name_on_the_wire()} was carried out, but is outside the domain: {problem}",
            )
        return (
            judge_answers(self._due(call), (*seen.produced, *seen.fetched), self._tally)
            or self._judge_delayed(seen.num_delayed)
            or self._judge_kept(seen.watched, seen.num_keys)
        )

    def judge_refusal(self, call: ReplicationCall, refusal: RefusedError) -> Violation | None:
        """Return what is wrong with refusing a call, if it lies within the domain."""
        self._tests(ReplicationClause.KEEPS_TO_ITS_DOMAIN)
        if self._problem(call) is not None:
            return None
        return unexpected_refusal(ReplicationClause.KEEPS_TO_ITS_DOMAIN, call, refusal)

    def _reset(self, config: ReplicationConfig) -> None:
        self._config = config
        self._now_ms = config.start_ms
        self._partitions: dict[PartitionName, LedgerPartition] = {}
        self._waiting: dict[RequestName, _Produce | _Fetch] = {}
        self._checked: set[tuple[type[_Produce | _Fetch], PartitionName]] = set()
        """The kinds of requests, by partition, that the call checks."""

    def _problem(self, call: ReplicationCall) -> str | None:
        """Return why a call lies outside the domain, or None."""
        match call:
            case BecomeLeader(replica_ids=replicas, in_sync_ids=in_sync):
                if not {self._config.broker_id} <= {*in_sync} <= {*replicas}:
                    return "who is in sync is a replica, and the leader is"
                return self._problem_of_epoch(call)
            case BecomeFollower():
                return self._problem_of_epoch(call)
            case TruncateAsFollower(partition=partition, offset=offset):
                known = self._partitions.get(partition)
                if known is None or known.leads:
                    return f"the broker does not follow {partition!r}"
                inside = 0 <= offset <= known.log.end
                return None if inside else f"the log of {partition!r} ends at {known.log.end}"
            case AppendRecords(entries=entries):
                empty = not all(entry.records for entry in entries)
                return "no records" if empty else "twice" if names_twice(entries) else None
            case FetchMessages(partitions=partitions):
                return "twice" if names_twice(partitions) else None
            case _:
                return None

    def _problem_of_epoch(self, call: BecomeLeader | BecomeFollower) -> str | None:
        known = self._partitions.get(call.partition)
        if known is None or call.leader_epoch > known.epoch:
            return None
        return f"the epoch of {call.partition!r} is {known.epoch} already"

    def _due(self, call: ReplicationCall) -> Due:
        """Apply a call of the domain, and return the answers that are due by it."""
        match call:
            case BecomeLeader():
                self._partition(call.partition).become_leader(call, self._now_ms)
                if not self._kafka:
                    self._touch(call.partition)
                self._raise_high_watermark(call.partition)
            case BecomeFollower(partition=partition, leader_epoch=epoch):
                self._partition(partition).become_follower(epoch)
                self._touch(partition)
            case StopReplica(partition=partition):
                self._partitions.pop(partition, None)
                self._touch(partition)
            case TruncateAsFollower(partition=partition, offset=offset):
                self._partitions[partition].log.truncate(offset)
            case MaybeShrinkInSync():
                for name, known in self._partitions.items():
                    if behind := known.behind(self._now_ms):
                        known.in_sync -= frozenset(behind)
                        self._raise_high_watermark(name)
            case AppendRecords():
                return {**self._append_records(call), **self._settle()}
            case FetchMessages():
                return {**self._fetch_messages(call), **self._settle()}
            case Advance(to_ms=to_ms):
                return self._advance(to_ms)
            case _:
                return {}
        return self._settle()

    def _touch(self, partition: PartitionName) -> None:
        """Record that the call checks the produces and the fetches that wait for a partition."""
        self._checked |= {(_Produce, partition), (_Fetch, partition)}

    def _judge_delayed(self, num_delayed: int | None) -> Violation | None:
        clause = ReplicationClause.DELAYED_ARE_THE_WAITING
        if num_delayed is None or not self._tests(clause):
            return None
        waiting = list(self._waiting)
        return _judge_gauge(clause, "num_delayed", waiting, num_delayed, len(waiting))

    def _judge_kept(self, watched: int | None, num_keys: int | None) -> Violation | None:
        clause = ReplicationClause.NOTHING_IS_KEPT
        if watched is None or num_keys is None or not self._tests(clause):
            return None
        watches = [
            (type(waiting), partition)
            for waiting in self._waiting.values()
            for partition in waiting.partitions()
        ]
        names = list(self._waiting)
        return _judge_gauge(clause, "watched", names, watched, len(watches)) or _judge_gauge(
            clause, "num_keys", names, num_keys, len(set(watches))
        )

    def _partition(self, name: PartitionName) -> LedgerPartition:
        log = LedgerLog(self._config.segment_bytes)
        fresh = LedgerPartition(self._config, self._kafka, log)
        return self._partitions.setdefault(name, fresh)

    def _raise_high_watermark(self, name: PartitionName) -> None:
        if self._partitions[name].raise_high_watermark(self._now_ms):
            self._touch(name)

    def _append_records(self, call: AppendRecords) -> Due:
        """Append, and answer when `acks` says so."""
        answers = {
            entry.partition: self._append(entry, call.required_acks) for entry in call.entries
        }
        pending = {
            partition: (self._partitions[partition].epoch, self._partitions[partition].log.end)
            for partition, answer in answers.items()
            if answer.error is ErrorCode.NONE
        }
        if call.required_acks != ALL_ACKS or not pending:
            return {call.request: _produced(call.request, answers)}
        for partition in pending:
            answers[partition] = replace(answers[partition], error=ErrorCode.REQUEST_TIMED_OUT)
        expires_ms = self._now_ms + call.timeout_ms
        waiting = _Produce(expires_ms=expires_ms, answers=answers, pending=pending)
        return self._wait(call.request, waiting)

    def _fetch_messages(self, call: FetchMessages) -> Due:
        """Read, and record the end of a follower; answer when there is enough."""
        response, read = self._read(call)
        at_once = (
            call.max_wait_ms == 0
            or not call.partitions
            or any(answer.is_refusal for answer in response.partitions)
            or read >= call.min_bytes
        )
        begins: dict[PartitionName, Place] = {}
        for fetched, answer in zip(call.partitions, response.partitions, strict=True):
            if not answer.is_refusal:
                name, known = fetched.partition, self._partitions[fetched.partition]
                begins[name] = known.begin(fetched.fetch_offset, call.replica_id)
                if call.replica_id is not None and known.note_follower(
                    call.replica_id, begins[name], self._now_ms
                ):
                    self._raise_high_watermark(name)
        if at_once:
            return {call.request: response}
        expires_ms = self._now_ms + call.max_wait_ms
        return self._wait(call.request, _Fetch(expires_ms=expires_ms, request=call, begins=begins))

    def _wait(self, name: RequestName, waiting: _Produce | _Fetch) -> Due:
        self._waiting[name] = waiting
        return {name: self._answer(name)} if self._is_done(waiting) else {}

    def _advance(self, to_ms: int) -> Due:
        """Move the clock; answer the expired requests with what there is."""
        self._now_ms = max(self._now_ms, to_ms)
        expired = [
            name for name, waiting in self._waiting.items() if waiting.expires_ms <= self._now_ms
        ]
        return {name: self._answer(name) for name in expired}

    def _append(self, entry: PartitionRecords, acks: int) -> PartitionProduceResponse:
        name, offset = entry.partition, -1
        known = self._partitions.get(name)
        if acks not in (0, 1, ALL_ACKS):
            error = ErrorCode.INVALID_REQUIRED_ACKS
        elif known is None:
            error = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        else:
            error = known.refusal_of_append(entry, acks)
            if error is ErrorCode.NONE:
                offset = known.log.append(entry.records, known.epoch)
                self._checked.add((_Fetch, name))
                self._raise_high_watermark(name)
        return PartitionProduceResponse(partition=name, error=error, base_offset=offset)

    def _read(self, call: FetchMessages) -> tuple[FetchResponse, int]:
        """Return an answer, and how many bytes were read for it."""
        answers: list[PartitionFetchResponse] = []
        read = 0
        for fetched in call.partitions:
            known = self._partitions.get(fetched.partition)
            if known is None:
                error, name = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, fetched.partition
                answers.append(PartitionFetchResponse(partition=name, error=error))
                continue
            room = max(0, call.max_bytes - read)
            answer, size = known.read(fetched, call.replica_id, room, at_least_one=not read)
            answers.append(answer)
            read += size
        return FetchResponse(request=call.request, partitions=tuple(answers)), read

    def _settle(self) -> Due:
        """Answer requests that need not wait longer; Kafka checks those that the call touched."""
        checked, self._checked = self._checked, set()
        done = [
            name
            for name, waiting in self._waiting.items()
            if not self._kafka
            or any((type(waiting), partition) in checked for partition in waiting.partitions())
            if self._is_done(waiting)
        ]
        return {name: self._answer(name) for name in done}

    def _is_done(self, waiting: _Produce | _Fetch) -> bool:
        if isinstance(waiting, _Fetch):
            return self._has_enough(waiting)
        for partition, (epoch, end) in list(waiting.pending.items()):
            known = self._partitions.get(partition)
            gone = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
            error = gone if known is None else known.outcome(epoch, end)
            if error is not None:
                del waiting.pending[partition]
                waiting.answers[partition] = replace(waiting.answers[partition], error=error)
        return not waiting.pending

    def _has_enough(self, waiting: _Fetch) -> bool:
        """Tell whether there is enough, or the fetch need not wait otherwise (rule 5.2)."""
        call, enough = waiting.request, 0
        for fetched in call.partitions:
            known, begin = (
                self._partitions.get(fetched.partition),
                waiting.begins[fetched.partition],
            )
            if known is None:
                return True
            available = known.available(fetched, call.replica_id, begin)
            if available is None:
                return True
            enough += available
        return enough >= call.min_bytes

    def _answer(self, name: RequestName) -> Response:
        waiting = self._waiting.pop(name)
        if isinstance(waiting, _Produce):
            return _produced(name, waiting.answers)
        return self._read(waiting.request)[0]


def _produced(
    name: RequestName, answers: dict[PartitionName, PartitionProduceResponse]
) -> ProduceResponse:
    return ProduceResponse(request=name, partitions=tuple(answers.values()))


def _judge_gauge(
    clause: ReplicationClause, gauge: str, waiting: list[str], observed: int, expected: int
) -> Violation | None:
    if observed == expected:
        return None
    why = f"{gauge} is {observed}, but must be {expected}: the requests that wait are {waiting}"
    return clause.broken(f"{gauge}: {expected}", f"{gauge}: {observed}", why)
