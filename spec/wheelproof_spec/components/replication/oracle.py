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
    KAFKA,
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
from wheelproof_spec.components.replication.ledger_log import LedgerLog, Place

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
    # Where it was found to begin when it came.
    begins: dict[PartitionName, Place]

    def partitions(self) -> Sequence[PartitionName]:
        return tuple(fetched.partition for fetched in self.request.partitions)


@dataclass(slots=True)
class _Follower:
    """What the leader knows of a follower; `end` is -1 before it has fetched."""

    caught_up_ms: int | None
    end: Place = Place(-1, -1)
    fetched_ms: int | None = None
    leader_end: int = 0

    def fetches(self, begin: Place, leader_end: int, now_ms: int) -> None:
        """Note a fetch; one that has all that there was at the one before was caught up then."""
        if begin.offset >= leader_end:
            self.caught_up_ms = now_ms
        elif begin.offset >= self.leader_end and self.fetched_ms is not None:
            self.caught_up_ms = max(self.fetched_ms, self.caught_up_ms or 0)
        self.end, self.fetched_ms = begin, now_ms
        self.leader_end = max(self.leader_end, leader_end)

    def is_caught_up(self, leader_end: int, now_ms: int, lag_ms: int) -> bool:
        """Tell whether it has everything, or had a short time ago."""
        if self.end.offset == leader_end:
            return True
        return self.caught_up_ms is not None and now_ms - self.caught_up_ms <= lag_ms


@dataclass(slots=True)
class _Partition:
    log: LedgerLog
    leads: bool = False
    epoch: int = -1
    epoch_start: int = 0
    followers: dict[int, _Follower] = field(default_factory=dict[int, _Follower])
    in_sync: frozenset[int] = frozenset()


class ReplicationLedger:
    """A broker on which every call is followed at once by all answers that it makes possible.

    The rules are semantics.md 2.13 to 2.16. Follows one case after another.
    """

    def __init__(self, profile: str, tally: Tally) -> None:
        """Judge by the contract `profile`, and count in `tally` what is tested."""
        self._kafka = profile == KAFKA
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

    def batch_base(self, partition: PartitionName, back: int) -> int | None:
        """Return where a follower may truncate: a batch that begins `back` records before the end.

        None where it does not follow, or has no such record.
        """
        known = self._partitions.get(partition)
        if known is None or known.leads or not 0 <= back <= known.log.end:
            return None
        return known.log.batch_base(known.log.end - back)

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
        self._checked: set[tuple[type[_Produce | _Fetch], PartitionName]] = set()
        """Whose requests are looked at by the call."""

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
                known.followers, known.in_sync = {}, frozenset()
                self._touch(partition)
            case StopReplica(partition=partition):
                self._partitions.pop(partition, None)
                self._touch(partition)
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

    def _touch(self, partition: PartitionName) -> None:
        """Note that whoever waits for a partition is looked at, on both sides."""
        self._checked |= {(_Produce, partition), (_Fetch, partition)}

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
        """Lead: of the other replicas is known who is in sync, and to who led before also more."""
        known = self._partition(call.partition)
        before = known.followers
        others, in_sync = {*call.replica_ids} - {self._config.broker_id}, {*call.in_sync_ids}
        known.followers = {
            replica: _Follower(self._now_ms if replica in in_sync else None) for replica in others
        }
        if known.leads:
            for replica, follower in known.followers.items():
                follower.fetched_ms, follower.leader_end = follower.caught_up_ms, known.log.end
                follower.end = before[replica].end if replica in before else follower.end
        known.leads, known.epoch, known.epoch_start = True, call.leader_epoch, known.log.end
        known.log.begin_epoch(call.leader_epoch)
        known.in_sync = frozenset(call.in_sync_ids)
        if not self._kafka:
            self._touch(call.partition)
        self._raise_high_watermark(call.partition)

    def _shrink(self) -> None:
        for name, known in self._partitions.items():
            behind = {
                replica
                for replica in known.in_sync - {self._config.broker_id}
                if not self._is_caught_up(known, known.followers[replica])
            }
            if behind:
                known.in_sync -= behind
                self._raise_high_watermark(name)

    def _is_caught_up(self, known: _Partition, follower: _Follower) -> bool:
        lag_ms = self._config.replica_lag_time_max_ms
        return follower.is_caught_up(known.log.end, self._now_ms, lag_ms)

    def _least_in_sync(self, known: _Partition) -> int:
        """Return how many have to be in sync: all replicas, if there are too few of them."""
        return min(self._config.min_in_sync_replicas, 1 + len(known.followers))

    def _raise_high_watermark(self, name: PartitionName) -> None:
        """Raise it to where everybody is who is in sync, or was caught up a short time ago.

        With too few of them in sync it stays where it is.
        """
        known = self._partitions[name]
        if len(known.in_sync) < self._least_in_sync(known):
            return
        place = known.log.place(known.log.end)
        for replica, follower in known.followers.items():
            counts = replica in known.in_sync or self._is_caught_up(known, follower)
            if counts and follower.end.offset < place.offset:
                place = follower.end
        if known.log.raise_high_watermark(place):
            self._touch(name)

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
        waiting = _Produce(expires_ms=expires_ms, answers=answers, pending=pending)
        return self._wait(call.request, waiting)

    def _fetch_messages(self, call: FetchMessages) -> _Due:
        """Read, and tell how far a follower has come; answer when there is enough."""
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
                log, offset = self._partitions[fetched.partition].log, fetched.fetch_offset
                end = self._end(log, call.replica_id)
                begins[fetched.partition] = end if offset == end.offset else log.place(offset)
                if call.replica_id is not None:
                    self._note_follower(call.replica_id, fetched, begins[fetched.partition])
        if at_once:
            return {call.request: response}
        expires_ms = self._now_ms + call.max_wait_ms
        return self._wait(call.request, _Fetch(expires_ms=expires_ms, request=call, begins=begins))

    def _wait(self, name: RequestName, waiting: _Produce | _Fetch) -> _Due:
        self._waiting[name] = waiting
        return {name: self._answer(name)} if self._is_done(waiting) else {}

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
            self._checked.add((_Fetch, entry.partition))
            self._raise_high_watermark(entry.partition)
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
        if acks == ALL_ACKS and len(known.in_sync) < self._least_in_sync(known):
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
        if not known.leads:
            return ErrorCode.NOT_LEADER_OR_FOLLOWER
        if replica is None or replica in known.followers:
            return ErrorCode.NONE
        # A replica that knows this leader, and that it does not know, has newer metadata.
        knows = claimed is not None
        return ErrorCode.UNKNOWN_LEADER_EPOCH if knows else ErrorCode.NOT_LEADER_OR_FOLLOWER

    def _end(self, log: LedgerLog, replica: int | None) -> Place:
        """Return up to where may be read; Kafka takes the high watermark where it was noted."""
        if replica is not None:
            return log.place(log.end)
        return log.high if self._kafka else log.place(log.high_watermark)

    def _read(self, call: FetchMessages) -> tuple[FetchResponse, int]:
        """Return an answer, and how many bytes were read for it."""
        answers: list[PartitionFetchResponse] = []
        read = 0
        for fetched in call.partitions:
            answer, size = self._read_partition(call, fetched, read)
            answers.append(answer)
            read += size
        return FetchResponse(request=call.request, partitions=tuple(answers)), read

    def _read_partition(
        self, call: FetchMessages, fetched: FetchPartition, read: int
    ) -> tuple[PartitionFetchResponse, int]:
        """Read in one partition for a request that has `read` so many bytes from others."""
        partition, offset = fetched.partition, fetched.fetch_offset
        error = self._refusal_of_fetch(fetched, call.replica_id)
        if error is not ErrorCode.NONE:
            return PartitionFetchResponse(partition=partition, error=error), 0
        log = self._partitions[partition].log
        answer = PartitionFetchResponse(
            partition=partition, error=error, high_watermark=log.high_watermark
        )
        if offset >= 0 and log.knows(fetched.last_fetched_epoch):
            diverging = log.diverging(offset, fetched.last_fetched_epoch)
            if diverging is not None:
                return replace(answer, diverging_epoch=diverging), 0
            if offset <= log.end:
                room = min(max(0, call.max_bytes - read), fetched.max_bytes)
                end = self._end(log, call.replica_id).offset
                first = read == 0
                size = log.bytes_read(offset, end, room, at_least_one=first)
                records = log.read(offset, end, room, at_least_one=first)
                return replace(answer, records=records), size
        return PartitionFetchResponse(partition=partition, error=ErrorCode.OFFSET_OUT_OF_RANGE), 0

    def _note_follower(self, replica: int, fetched: FetchPartition, begin: Place) -> None:
        known = self._partitions[fetched.partition]
        follower = known.followers[replica]
        moved = follower.end.offset != begin.offset
        follower.fetches(begin, known.log.end, self._now_ms)
        joins = begin.offset >= max(known.log.high_watermark, known.epoch_start)
        if joins and replica not in known.in_sync:
            known.in_sync |= {replica}
            moved = True
        if moved:
            self._raise_high_watermark(fetched.partition)

    def _settle(self) -> _Due:
        """Answer whoever need not wait any longer; Kafka looks at whom the call has touched."""
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
        if not known.leads or not (self._kafka or known.log.holds(epoch, end)):
            return ErrorCode.NOT_LEADER_OR_FOLLOWER
        if known.log.high_watermark < end:
            return None
        if len(known.in_sync) < self._least_in_sync(known):
            return ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND
        return ErrorCode.NONE

    def _has_enough(self, waiting: _Fetch) -> bool:
        """Tell whether there is enough, or the fetcher has to do something else (rule 2.14)."""
        call, available = waiting.request, 0
        for fetched in call.partitions:
            if self._refusal_of_fetch(fetched, call.replica_id) is not ErrorCode.NONE:
                return True
            log, offset = self._partitions[fetched.partition].log, fetched.fetch_offset
            end = self._end(log, call.replica_id)
            begin = waiting.begins[fetched.partition]
            if begin.offset > end.offset:
                return True
            if not self._kafka:
                begin = log.place(offset)
            if begin.offset < end.offset:
                if begin.segment < end.segment:
                    return True
                available += min(log.bytes_between(begin.offset, end.offset), fetched.max_bytes)
            last = fetched.last_fetched_epoch
            if not log.knows(last) or log.diverging(offset, last) is not None:
                return True
        return available >= call.min_bytes

    def _answer(self, name: RequestName) -> Response:
        waiting = self._waiting.pop(name)
        if isinstance(waiting, _Produce):
            return _produced(name, waiting.answers)
        return self._read(waiting.request)[0]


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
