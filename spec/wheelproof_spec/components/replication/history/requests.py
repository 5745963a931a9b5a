"""The requests of a history, and the knowledge about each."""

from dataclasses import dataclass, field

from wheelproof_spec.base.history.clock import NEVER
from wheelproof_spec.components.replication.component import (
    ALL_ACKS,
    FetchMessages,
    FetchResponse,
    NewRecord,
    PartitionName,
    RequestName,
)


@dataclass(slots=True, eq=False, kw_only=True)
class Request:
    """A request: its partitions, where its call begins and ends, when its time is over, in ms."""

    name: RequestName
    partitions: tuple[PartitionName, ...]
    timeout_ms: int
    expires_low: int
    """The earliest time at which it can expire."""
    expires_high: int = NEVER
    """The latest time at which it can expire; known once its call has returned."""
    invoked: int
    returned: int | None = None
    ended: int | None = None
    """The index where the call has done all that it does at once: at its answer, or its return."""
    at_once: bool
    """Whether it is answered without waiting in any case."""
    settled_ms: int | None = None
    """The latest time of the clock when its call, and all that may answer it, were over."""


@dataclass(slots=True, eq=False, kw_only=True)
class Batch:
    """The records that a request appends to one partition."""

    request: Request
    partition: PartitionName
    records: tuple[NewRecord, ...]
    base: int | None = None
    epoch: int | None = None
    """The epoch of the leader that appended it."""
    refused: bool = False
    acknowledged: bool = False
    """Whether an answer said that the replicas have it."""
    placed: bool = False
    """Whether it is known which leader appended it."""
    cut: int = NEVER
    """The lowest offset at which the log was truncated since it was appended."""

    @property
    def next_offset(self) -> int:
        """The offset after its last record; its base has to be known."""
        assert self.base is not None
        return self.base + len(self.records)

    @property
    def size(self) -> int:
        """The size of all records in bytes."""
        return sum(record.size for record in self.records)

    def __str__(self) -> str:
        where = "" if self.base is None else f", offsets {self.base} to {self.next_offset - 1},"
        return f"the records of {self.request.name}{where}"


@dataclass(slots=True, eq=False, kw_only=True)
class Produce(Request):
    """A produce request."""

    required_acks: int
    batches: dict[PartitionName, Batch] = field(default_factory=dict[str, Batch])

    @property
    def awaits_replicas(self) -> bool:
        """Whether it is answered once the replicas have it."""
        return self.required_acks == ALL_ACKS


@dataclass(frozen=True, slots=True)
class Seen:
    """The lower bounds of a partition's high watermark and of the end of its log."""

    high_watermark: int
    end: int


@dataclass(slots=True, eq=False, kw_only=True)
class Fetch(Request):
    """A fetch request."""

    call: FetchMessages
    seen: dict[PartitionName, Seen] = field(default_factory=dict[str, Seen])
    """The lower bounds of each partition when the fetch began."""
    refused: frozenset[PartitionName] = frozenset()
    """The partitions in which its answer is a refusal."""


@dataclass(slots=True, eq=False, kw_only=True)
class Reading:
    """The answer to a fetch, to be compared with logs that may not be known yet."""

    fetch: Fetch
    response: FetchResponse
    open: int = 0
    """The number of partitions that are still to be compared."""
    has_reason: bool
    """Whether there was, or may have been, a reason to answer that is not in the logs."""
