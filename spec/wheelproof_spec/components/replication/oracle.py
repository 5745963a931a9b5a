"""The oracle's broker: what every produce and fetch request is answered, from a ledger of appends.

It looks at everything after every event: whoever can be answered by then is answered, whoever's
time is over is answered with what there is. No purgatory, no triggers, no locks. TLA+: the
properties of ProduceFetch.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from wheelproof_spec.components.replication.ledger_log import LedgerLog, LedgerRecord

NONE = "NONE"
ALL_ACKS = -1

PartitionName = str
RequestName = str


@dataclass(frozen=True, slots=True, kw_only=True)
class ProduceAnswer:
    """What a produce request is answered for one partition."""

    error: str
    base_offset: int = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchAnswer:
    """What a fetch request is answered for one partition; `diverging` is an epoch and its end."""

    error: str
    high_watermark: int = -1
    records: tuple[LedgerRecord, ...] = ()
    diverging: tuple[int, int] | None = None

    @property
    def size(self) -> int:
        """The bytes of all records."""
        return sum(record.size for record in self.records)


Answer = Mapping[PartitionName, ProduceAnswer] | Mapping[PartitionName, FetchAnswer]
"""The answer of a request, by partition."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchedPartition:
    """Where a fetch reads, and at most how many bytes; the epochs are None if it does not tell."""

    offset: int
    max_bytes: int
    current_epoch: int | None = None
    last_epoch: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchRequest:
    """A fetch of a follower, or of a consumer if `replica` is None."""

    replica: int | None
    min_bytes: int
    max_bytes: int
    partitions: Mapping[PartitionName, FetchedPartition]


@dataclass(slots=True, kw_only=True)
class _Produce:
    expires_ms: int
    answers: dict[PartitionName, ProduceAnswer]
    # What is not replicated yet: the epoch, and the offset after the last record.
    pending: dict[PartitionName, tuple[int, int]]


@dataclass(slots=True, kw_only=True)
class _Fetch:
    expires_ms: int
    request: FetchRequest


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
    """A broker on which every event is followed at once by all answers that it makes possible.

    The rules are semantics.md 2.13 to 2.15. Each event returns the answers that are due by it.
    Events are in the domain; `refuses_epoch` and `refuses_truncation` tell what is outside.
    """

    def __init__(
        self, *, broker: int, segment_bytes: int, min_in_sync: int, lag_ms: int, start_ms: int
    ) -> None:
        """Make a broker without partitions whose clock shows `start_ms` milliseconds."""
        self._broker = broker
        self._segment_bytes = segment_bytes
        self._min_in_sync = min_in_sync
        self._lag_ms = lag_ms
        self._now_ms = start_ms
        self._partitions: dict[PartitionName, _Partition] = {}
        self._waiting: dict[RequestName, _Produce | _Fetch] = {}

    @property
    def now_ms(self) -> int:
        """The time that the clock shows, in milliseconds."""
        return self._now_ms

    def waiting(self) -> frozenset[RequestName]:
        """Return the requests that have not been answered."""
        return frozenset(self._waiting)

    def last_expiry_ms(self) -> int:
        """Return when the last of the waiting requests expires, in milliseconds; now if none."""
        return max((one.expires_ms for one in self._waiting.values()), default=self._now_ms)

    def log_end(self, partition: PartitionName) -> int:
        """Return the end of a partition's log; 0 if there is no such partition."""
        known = self._partitions.get(partition)
        return 0 if known is None else known.log.end

    def refuses_epoch(self, partition: PartitionName, epoch: int) -> bool:
        """Tell whether a change of the leader comes too late."""
        known = self._partitions.get(partition)
        return known is not None and epoch <= known.epoch

    def refuses_truncation(self, partition: PartitionName, offset: int) -> bool:
        """Tell whether a log cannot be truncated there, or not by this broker."""
        known = self._partitions.get(partition)
        return known is None or known.leads or not 0 <= offset <= known.log.end

    def become_leader(
        self,
        partition: PartitionName,
        epoch: int,
        *,
        replicas: Collection[int],
        in_sync: Collection[int],
    ) -> dict[RequestName, Answer]:
        """Lead a partition; nothing is known of the other replicas, except who is in sync."""
        known = self._partition(partition)
        known.leads, known.epoch, known.epoch_start = True, epoch, known.log.end
        known.log.begin_epoch(epoch)
        known.ends = {replica: 0 for replica in replicas if replica != self._broker}
        known.caught_up_ms = dict.fromkeys(known.ends, self._now_ms)
        known.in_sync = frozenset(in_sync)
        return self._settle()

    def become_follower(self, partition: PartitionName, epoch: int) -> dict[RequestName, Answer]:
        """Follow somebody else."""
        known = self._partition(partition)
        known.leads, known.epoch = False, epoch
        known.ends, known.in_sync = {}, frozenset()
        return self._settle()

    def stop(self, partition: PartitionName) -> dict[RequestName, Answer]:
        """Forget a partition."""
        self._partitions.pop(partition, None)
        return self._settle()

    def truncate(self, partition: PartitionName, offset: int) -> dict[RequestName, Answer]:
        """Drop the log of a follower from `offset` on."""
        self._partitions[partition].log.truncate(offset)
        return self._settle()

    def shrink(self) -> dict[RequestName, Answer]:
        """Drop replicas that have been behind for too long from the in-sync sets."""
        for known in self._partitions.values():
            if known.leads:
                known.in_sync -= {
                    replica
                    for replica, end in known.ends.items()
                    if end < known.log.end
                    and self._now_ms - known.caught_up_ms[replica] > self._lag_ms
                }
        return self._settle()

    def append(
        self,
        name: RequestName,
        *,
        acks: int,
        timeout_ms: int,
        entries: Mapping[PartitionName, Sequence[int]],
    ) -> dict[RequestName, Answer]:
        """Append records of these sizes, in bytes, and answer when `acks` says so."""
        if acks not in (0, 1, ALL_ACKS):
            refused = ProduceAnswer(error="INVALID_REQUIRED_ACKS")
            return {name: dict.fromkeys(entries, refused)}
        answers = {
            partition: self._append(partition, sizes, acks) for partition, sizes in entries.items()
        }
        pending = {
            partition: (self._partitions[partition].epoch, self._partitions[partition].log.end)
            for partition, answer in answers.items()
            if answer.error == NONE
        }
        due: dict[RequestName, Answer] = {}
        if acks == ALL_ACKS and pending:
            for partition in pending:
                answers[partition] = replace(answers[partition], error="REQUEST_TIMED_OUT")
            self._waiting[name] = _Produce(
                expires_ms=self._now_ms + timeout_ms, answers=answers, pending=pending
            )
        else:
            due[name] = answers
        return {**due, **self._settle()}

    def fetch(
        self, name: RequestName, request: FetchRequest, max_wait_ms: int
    ) -> dict[RequestName, Answer]:
        """Read, and tell how far a follower has come; answer when there is enough."""
        data = self._read(request)
        if request.replica is not None:
            for partition, fetched in request.partitions.items():
                self._note_follower(partition, request.replica, fetched)
        due: dict[RequestName, Answer] = {}
        at_once = (
            max_wait_ms == 0
            or not data
            or any(one.error != NONE or one.diverging is not None for one in data.values())
            or sum(one.size for one in data.values()) >= request.min_bytes
        )
        if at_once:
            due[name] = data
        else:
            self._waiting[name] = _Fetch(expires_ms=self._now_ms + max_wait_ms, request=request)
        return {**due, **self._settle()}

    def advance_to(self, time_ms: int) -> dict[RequestName, Answer]:
        """Move the clock; whoever's time is over is answered with what there is."""
        self._now_ms = max(self._now_ms, time_ms)
        expired = [name for name, one in self._waiting.items() if one.expires_ms <= self._now_ms]
        return {name: self._answer(self._waiting.pop(name)) for name in expired}

    def _partition(self, name: PartitionName) -> _Partition:
        return self._partitions.setdefault(name, _Partition(LedgerLog(self._segment_bytes)))

    def _append(self, partition: PartitionName, sizes: Sequence[int], acks: int) -> ProduceAnswer:
        known = self._partitions.get(partition)
        if known is None:
            return ProduceAnswer(error="UNKNOWN_TOPIC_OR_PARTITION")
        if not known.leads:
            return ProduceAnswer(error="NOT_LEADER_OR_FOLLOWER")
        if acks == ALL_ACKS and len(known.in_sync) < self._min_in_sync:
            return ProduceAnswer(error="NOT_ENOUGH_REPLICAS")
        if sum(sizes) > self._segment_bytes:
            return ProduceAnswer(error="RECORD_LIST_TOO_LARGE")
        return ProduceAnswer(error=NONE, base_offset=known.log.append(sizes, known.epoch))

    def _refusal(self, partition: PartitionName, request: FetchRequest) -> str:
        """Return why a fetch is refused, before its offset is looked at."""
        known = self._partitions.get(partition)
        if known is None:
            return "UNKNOWN_TOPIC_OR_PARTITION"
        claimed = request.partitions[partition].current_epoch
        if claimed is not None and claimed != known.epoch:
            return "FENCED_LEADER_EPOCH" if claimed < known.epoch else "UNKNOWN_LEADER_EPOCH"
        if not known.leads or request.replica not in (None, *known.ends):
            return "NOT_LEADER_OR_FOLLOWER"
        return NONE

    def _read(self, request: FetchRequest) -> dict[PartitionName, FetchAnswer]:
        data: dict[PartitionName, FetchAnswer] = {}
        read = 0
        for partition, fetched in request.partitions.items():
            error = self._refusal(partition, request)
            if error != NONE:
                data[partition] = FetchAnswer(error=error)
                continue
            log = self._partitions[partition].log
            diverging = log.diverging(fetched.offset, fetched.last_epoch)
            answer = FetchAnswer(error=NONE, high_watermark=log.high_watermark, diverging=diverging)
            if diverging is None and not 0 <= fetched.offset <= log.end:
                answer = replace(answer, error="OFFSET_OUT_OF_RANGE")
            elif diverging is None:
                room = min(max(0, request.max_bytes - read), fetched.max_bytes)
                end = log.high_watermark if request.replica is None else log.end
                records = log.read(fetched.offset, end, room, at_least_one=read == 0)
                answer = replace(answer, records=records)
            data[partition] = answer
            read += answer.size
        return data

    def _note_follower(
        self, partition: PartitionName, replica: int, fetched: FetchedPartition
    ) -> None:
        request = FetchRequest(
            replica=replica, min_bytes=0, max_bytes=0, partitions={partition: fetched}
        )
        if self._refusal(partition, request) != NONE:
            return
        known = self._partitions[partition]
        log = known.log
        diverges = log.diverging(fetched.offset, fetched.last_epoch) is not None
        if diverges or not 0 <= fetched.offset <= log.end:
            return
        known.ends[replica] = fetched.offset
        if fetched.offset >= log.end:
            known.caught_up_ms[replica] = self._now_ms
        if fetched.offset >= max(log.high_watermark, known.epoch_start):
            known.in_sync |= {replica}

    def _settle(self) -> dict[RequestName, Answer]:
        """Raise the high watermarks, then answer whoever need not wait any longer."""
        for known in self._partitions.values():
            if known.leads:
                ends = [known.ends[replica] for replica in known.in_sync - {self._broker}]
                known.log.raise_high_watermark(min([known.log.end, *ends]))
        done = [name for name, one in self._waiting.items() if self._is_done(one)]
        return {name: self._answer(self._waiting.pop(name)) for name in done}

    def _is_done(self, waiting: _Produce | _Fetch) -> bool:
        if isinstance(waiting, _Fetch):
            return self._has_enough(waiting.request)
        for partition, (epoch, end) in list(waiting.pending.items()):
            error = self._outcome(partition, epoch, end)
            if error is not None:
                del waiting.pending[partition]
                waiting.answers[partition] = replace(waiting.answers[partition], error=error)
        return not waiting.pending

    def _outcome(self, partition: PartitionName, epoch: int, end: int) -> str | None:
        """Return how an append has ended; None while the replicas do not have it."""
        known = self._partitions.get(partition)
        if known is None:
            return "UNKNOWN_TOPIC_OR_PARTITION"
        if not known.leads or not known.log.holds(epoch, end):
            return "NOT_LEADER_OR_FOLLOWER"
        if known.log.high_watermark < end:
            return None
        enough = len(known.in_sync) >= self._min_in_sync
        return NONE if enough else "NOT_ENOUGH_REPLICAS_AFTER_APPEND"

    def _has_enough(self, request: FetchRequest) -> bool:
        available = 0
        for partition, fetched in request.partitions.items():
            if self._refusal(partition, request) != NONE:
                return True
            log = self._partitions[partition].log
            if log.diverging(fetched.offset, fetched.last_epoch) is not None:
                return True
            if not 0 <= fetched.offset <= log.end:
                return True
            end = log.high_watermark if request.replica is None else log.end
            if log.segment_base(fetched.offset) < log.segment_base(max(fetched.offset, end)):
                return True
            available += min(log.bytes_between(fetched.offset, end), fetched.max_bytes)
        return available >= request.min_bytes

    def _answer(self, waiting: _Produce | _Fetch) -> Answer:
        return waiting.answers if isinstance(waiting, _Produce) else self._read(waiting.request)
