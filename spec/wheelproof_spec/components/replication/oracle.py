"""The oracle's broker: what every produce and fetch request is answered, from a ledger of appends.

It looks at everything after every call: whoever can be answered by then is answered, whoever's
time is over is answered with what there is. No purgatory, no triggers, no locks. TLA+: the
properties of ProduceFetch.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from wheelproof_spec.base.calls import Advance, Reset
from wheelproof_spec.base.codec.vocabulary import Wire
from wheelproof_spec.base.codec.writer import format_line
from wheelproof_spec.base.port import RefusedError, unexpected_refusal
from wheelproof_spec.base.results.tally import Tally
from wheelproof_spec.base.results.violation import Violation
from wheelproof_spec.components.replication.component import (
    ALL_ACKS,
    AppendRecords,
    BecomeFollower,
    BecomeLeader,
    ErrorCode,
    FetchMessages,
    FetchPartition,
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
from wheelproof_spec.components.replication.ledger_log import LedgerLog

_Due = dict[RequestName, Response]


@dataclass(slots=True, kw_only=True)
class _Produce:
    expires_ms: int
    answers: dict[PartitionName, PartitionProduceResponse]
    # What is not replicated yet: the epoch, and the offset after the last record.
    pending: dict[PartitionName, tuple[int, int]]

    def partitions(self) -> Sequence[PartitionName]:
        return tuple(self.answers)


@dataclass(slots=True, kw_only=True)
class _Fetch:
    expires_ms: int
    request: FetchMessages

    def partitions(self) -> Sequence[PartitionName]:
        return tuple(fetched.partition for fetched in self.request.partitions)


@dataclass(slots=True)
class _Partition:
    log: LedgerLog
    leads: bool = False
    epoch: int = -1
    epoch_start: int = 0
    ends: dict[int, int] = field(default_factory=dict[int, int])
    caught_up_ms: dict[int, int] = field(default_factory=dict[int, int])
    in_sync: frozenset[int] = frozenset()


class ReplicationLedger:
    """A broker on which every call is followed at once by all answers that it makes possible.

    The rules are semantics.md 2.13 to 2.16. Follows one case after another.
    """

    def __init__(self, profile: str, tally: Tally) -> None:
        """Judge by the contract `profile`, and count in `tally` what is tested."""
        del profile
        self._tests = tally.tests
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

    def as_possible(self, call: ReplicationCall) -> ReplicationCall:
        """Return `call`: every one makes sense at any time."""
        return call

    def judge(self, call: ReplicationCall, seen: ReplicationObservation) -> Violation | None:
        """Return the clause that `seen`, the outcome of `call`, breaks, if any."""
        if isinstance(call, Reset):
            self._reset(call.config)
            return None
        self._tests(ReplicationClause.KEEPS_TO_ITS_DOMAIN)
        problem = self._problem(call)
        if problem is not None:
            return Violation(
                rule=ReplicationClause.KEEPS_TO_ITS_DOMAIN,
                expected="the call is refused",
                observed="it was carried out",
                reason=problem,
            )
        return (
            self._judge_answers(self._due(call), (*seen.produced, *seen.fetched))
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
        self._partitions: dict[PartitionName, _Partition] = {}
        self._waiting: dict[RequestName, _Produce | _Fetch] = {}

    def _problem(self, call: ReplicationCall) -> str | None:
        """Return why a call lies outside the domain, if it does."""
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

    def _due(self, call: ReplicationCall) -> _Due:
        """Let a call of the domain happen, and return whom it lets be answered."""
        match call:
            case BecomeLeader():
                self._become_leader(call)
            case BecomeFollower(partition=partition, leader_epoch=epoch):
                known = self._partition(partition)
                known.leads, known.epoch = False, epoch
                known.ends, known.in_sync = {}, frozenset()
            case StopReplica(partition=partition):
                self._partitions.pop(partition, None)
            case TruncateAsFollower(partition=partition, offset=offset):
                self._partitions[partition].log.truncate(offset)
            case MaybeShrinkInSync():
                self._shrink()
            case AppendRecords():
                return {**self._append_records(call), **self._settle()}
            case FetchMessages():
                return {**self._fetch_messages(call), **self._settle()}
            case Advance(to_ms=to_ms):
                return self._advance(to_ms)
            case _:
                return {}
        return self._settle()

    def _judge_answers(self, due: _Due, seen: Sequence[Response]) -> Violation | None:
        answered: set[RequestName] = set()
        for response in seen:
            name = response.request
            self._tests(ReplicationClause.ANSWERED_AT_MOST_ONCE)
            self._tests(ReplicationClause.NOT_ANSWERED_BEFORE)
            self._tests(ReplicationClause.ANSWER_IS_RIGHT)
            if name in answered:
                clause = ReplicationClause.ANSWERED_AT_MOST_ONCE
                return _violation(clause, name, "one answer", "another one")
            answered.add(name)
            if name not in due:
                clause = ReplicationClause.NOT_ANSWERED_BEFORE
                return _violation(clause, name, "no answer yet", _shown(response))
            if _sorted(response) != _sorted(due[name]):
                clause = ReplicationClause.ANSWER_IS_RIGHT
                return _violation(clause, name, _shown(due[name]), _shown(response))
        self._tests(ReplicationClause.ANSWERED_WHEN_IT_CAN_BE, len(due))
        for name, response in due.items():
            if name not in answered:
                clause = ReplicationClause.ANSWERED_WHEN_IT_CAN_BE
                return _violation(clause, name, _shown(response), "no answer")
        return None

    def _judge_delayed(self, num_delayed: int | None) -> Violation | None:
        clause = ReplicationClause.DELAYED_ARE_THE_WAITING
        if num_delayed is None or not self._tests(clause):
            return None
        waiting = list(self._waiting)
        return _judge_gauge(clause, f"{len(waiting)} wait: {waiting}", num_delayed, len(waiting))

    def _judge_kept(self, watched: int | None, num_keys: int | None) -> Violation | None:
        clause = ReplicationClause.NOTHING_IS_KEPT
        if watched is None or num_keys is None or not self._tests(clause):
            return None
        watches = [
            (type(waiting), partition)
            for waiting in self._waiting.values()
            for partition in waiting.partitions()
        ]
        reason = f"these wait: {list(self._waiting)}"
        return _judge_gauge(clause, reason, watched, len(watches)) or _judge_gauge(
            clause, reason, num_keys, len(set(watches))
        )

    def _partition(self, name: PartitionName) -> _Partition:
        fresh = _Partition(LedgerLog(self._config.segment_bytes))
        return self._partitions.setdefault(name, fresh)

    def _become_leader(self, call: BecomeLeader) -> None:
        """Lead: nothing is known of the other replicas, except who is in sync."""
        known = self._partition(call.partition)
        known.leads, known.epoch, known.epoch_start = True, call.leader_epoch, known.log.end
        known.log.begin_epoch(call.leader_epoch)
        known.ends = dict.fromkeys({*call.replica_ids} - {self._config.broker_id}, 0)
        known.caught_up_ms = dict.fromkeys(known.ends, self._now_ms)
        known.in_sync = frozenset(call.in_sync_ids)

    def _shrink(self) -> None:
        for known in self._partitions.values():
            known.in_sync -= {
                replica
                for replica, end in known.ends.items()
                if end < known.log.end
                and self._now_ms - known.caught_up_ms[replica]
                > self._config.replica_lag_time_max_ms
            }

    def _append_records(self, call: AppendRecords) -> _Due:
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
        self._waiting[call.request] = _Produce(
            expires_ms=expires_ms, answers=answers, pending=pending
        )
        return {}

    def _fetch_messages(self, call: FetchMessages) -> _Due:
        """Read, and tell how far a follower has come; answer when there is enough."""
        response = self._read(call)
        if call.replica_id is not None:
            for fetched in call.partitions:
                self._note_follower(call.replica_id, fetched)
        at_once = (
            call.max_wait_ms == 0
            or not call.partitions
            or any(answer.is_refusal for answer in response.partitions)
            or sum(answer.size for answer in response.partitions) >= call.min_bytes
        )
        if at_once:
            return {call.request: response}
        self._waiting[call.request] = _Fetch(
            expires_ms=self._now_ms + call.max_wait_ms, request=call
        )
        return {}

    def _advance(self, to_ms: int) -> _Due:
        """Move the clock; whoever's time is over is answered with what there is."""
        self._now_ms = max(self._now_ms, to_ms)
        expired = [
            name for name, waiting in self._waiting.items() if waiting.expires_ms <= self._now_ms
        ]
        return {name: self._answer(name) for name in expired}

    def _append(self, entry: PartitionRecords, acks: int) -> PartitionProduceResponse:
        known = self._partitions.get(entry.partition)
        error = self._refusal_of_append(known, entry, acks)
        offset = -1
        if known is not None and error is ErrorCode.NONE:
            offset = known.log.append(entry.records, known.epoch)
        return PartitionProduceResponse(partition=entry.partition, error=error, base_offset=offset)

    def _refusal_of_append(
        self, known: _Partition | None, entry: PartitionRecords, acks: int
    ) -> ErrorCode:
        if acks not in (0, 1, ALL_ACKS):
            return ErrorCode.INVALID_REQUIRED_ACKS
        if known is None:
            return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        if not known.leads:
            return ErrorCode.NOT_LEADER_OR_FOLLOWER
        if acks == ALL_ACKS and len(known.in_sync) < self._config.min_in_sync_replicas:
            return ErrorCode.NOT_ENOUGH_REPLICAS
        if entry.size > self._config.segment_bytes:
            return ErrorCode.RECORD_LIST_TOO_LARGE
        return ErrorCode.NONE

    def _refusal_of_fetch(self, fetched: FetchPartition, replica: int | None) -> ErrorCode:
        """Return why a fetch is refused, before its offset is looked at."""
        known = self._partitions.get(fetched.partition)
        if known is None:
            return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        claimed = fetched.current_leader_epoch
        if claimed is not None and claimed < known.epoch:
            return ErrorCode.FENCED_LEADER_EPOCH
        if claimed is not None and claimed > known.epoch:
            return ErrorCode.UNKNOWN_LEADER_EPOCH
        if not known.leads or replica not in (None, *known.ends):
            return ErrorCode.NOT_LEADER_OR_FOLLOWER
        return ErrorCode.NONE

    def _read(self, call: FetchMessages) -> FetchResponse:
        answers: list[PartitionFetchResponse] = []
        read = 0
        for fetched in call.partitions:
            answers.append(self._read_partition(call, fetched, read))
            read += answers[-1].size
        return FetchResponse(request=call.request, partitions=tuple(answers))

    def _read_partition(
        self, call: FetchMessages, fetched: FetchPartition, read: int
    ) -> PartitionFetchResponse:
        """Read in one partition for a request that has `read` so many bytes from others."""
        partition, offset = fetched.partition, fetched.fetch_offset
        error = self._refusal_of_fetch(fetched, call.replica_id)
        if error is not ErrorCode.NONE:
            return PartitionFetchResponse(partition=partition, error=error)
        log = self._partitions[partition].log
        answer = PartitionFetchResponse(
            partition=partition, error=error, high_watermark=log.high_watermark
        )
        diverging = log.diverging(offset, fetched.last_fetched_epoch)
        if diverging is not None:
            return replace(answer, diverging_epoch=diverging)
        if not 0 <= offset <= log.end:
            return replace(answer, error=ErrorCode.OFFSET_OUT_OF_RANGE)
        room = min(max(0, call.max_bytes - read), fetched.max_bytes)
        end = log.high_watermark if call.replica_id is None else log.end
        return replace(answer, records=log.read(offset, end, room, at_least_one=read == 0))

    def _note_follower(self, replica: int, fetched: FetchPartition) -> None:
        if self._makes_no_sense(fetched, replica):
            return
        known, offset = self._partitions[fetched.partition], fetched.fetch_offset
        known.ends[replica] = offset
        if offset >= known.log.end:
            known.caught_up_ms[replica] = self._now_ms
        if offset >= max(known.log.high_watermark, known.epoch_start):
            known.in_sync |= {replica}

    def _settle(self) -> _Due:
        """Raise the high watermarks, then answer whoever need not wait any longer."""
        for known in self._partitions.values():
            if known.leads:
                others = known.in_sync - {self._config.broker_id}
                ends = [known.ends[replica] for replica in others]
                known.log.raise_high_watermark(min([known.log.end, *ends]))
        done = [name for name, waiting in self._waiting.items() if self._is_done(waiting)]
        return {name: self._answer(name) for name in done}

    def _is_done(self, waiting: _Produce | _Fetch) -> bool:
        if isinstance(waiting, _Fetch):
            return self._has_enough(waiting.request)
        for partition, (epoch, end) in list(waiting.pending.items()):
            error = self._outcome(partition, epoch, end)
            if error is not None:
                del waiting.pending[partition]
                waiting.answers[partition] = replace(waiting.answers[partition], error=error)
        return not waiting.pending

    def _outcome(self, partition: PartitionName, epoch: int, end: int) -> ErrorCode | None:
        """Return how an append has ended; None while the replicas do not have it."""
        known = self._partitions.get(partition)
        if known is None:
            return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        if not known.leads or not known.log.holds(epoch, end):
            return ErrorCode.NOT_LEADER_OR_FOLLOWER
        if known.log.high_watermark < end:
            return None
        if len(known.in_sync) < self._config.min_in_sync_replicas:
            return ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND
        return ErrorCode.NONE

    def _makes_no_sense(self, fetched: FetchPartition, replica: int | None) -> bool:
        """Tell whether it makes no sense to wait: the fetcher has to do something else first."""
        if self._refusal_of_fetch(fetched, replica) is not ErrorCode.NONE:
            return True
        log, offset = self._partitions[fetched.partition].log, fetched.fetch_offset
        diverges = log.diverging(offset, fetched.last_fetched_epoch) is not None
        return diverges or not 0 <= offset <= log.end

    def _has_enough(self, call: FetchMessages) -> bool:
        available = 0
        for fetched in call.partitions:
            if self._makes_no_sense(fetched, call.replica_id):
                return True
            log, offset = self._partitions[fetched.partition].log, fetched.fetch_offset
            end = log.high_watermark if call.replica_id is None else log.end
            if log.segment_base(offset) < log.segment_base(max(offset, end)):
                return True
            available += min(log.bytes_between(offset, end), fetched.max_bytes)
        return available >= call.min_bytes

    def _answer(self, name: RequestName) -> Response:
        waiting = self._waiting.pop(name)
        if isinstance(waiting, _Produce):
            return _produced(name, waiting.answers)
        return self._read(waiting.request)


def _produced(
    name: RequestName, answers: dict[PartitionName, PartitionProduceResponse]
) -> ProduceResponse:
    return ProduceResponse(request=name, partitions=tuple(answers.values()))


def _sorted(response: Response) -> list[PartitionProduceResponse | PartitionFetchResponse]:
    return sorted(response.partitions, key=lambda answer: answer.partition)


def _shown(response: Response) -> str:
    return format_line(response, Wire.DRIVEN).decode().rstrip()


def _violation(
    clause: ReplicationClause, name: RequestName, expected: str, observed: str
) -> Violation:
    return Violation(
        rule=clause,
        expected=f"{name}: {expected}",
        observed=f"{name}: {observed}",
        reason="the ledger of appends and replica offsets says otherwise",
    )


def _judge_gauge(
    clause: ReplicationClause, reason: str, observed: int, expected: int
) -> Violation | None:
    if observed == expected:
        return None
    return Violation(rule=clause, expected=str(expected), observed=str(observed), reason=reason)
