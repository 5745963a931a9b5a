"""Requests of a history: what was asked, and what is known of it by now."""

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
    """The earliest that its time can be over."""
    expires_high: int = NEVER
    """The latest, known once its call has returned."""
    invoked: int
    returned: int | None = None
    ended: int | None = None
    """Where all that its call does at once is done: its answer in the call, or its return."""
    at_once: bool
    """Whether it is answered without waiting, whatever it finds."""
    settled_ms: int | None = None
    """What the clock may have shown when its call returned, once nobody is answering it."""


@dataclass(slots=True, eq=False, kw_only=True)
class Batch:
    """What a request appends to one partition."""

    request: Request
    partition: PartitionName
    records: tuple[NewRecord, ...]
    base: int | None = None
    epoch: int | None = None
    """The epoch of the leader that appended it."""
    refused: bool = False
    acknowledged: bool = False
    """Whether its replicas were said to have it."""
    placed: bool = False
    """Whether it is known which leader appended it."""
    cut: int = NEVER
    """Where the log was truncated since it was appended."""

    @property
    def next_offset(self) -> int:
        """The offset after its last record; its base has to be known."""
        assert self.base is not None
        return self.base + len(self.records)

    @property
    def size(self) -> int:
        """The bytes of all records."""
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
    """What a partition's high watermark and the end of its log have reached for sure."""

    high_watermark: int
    end: int


@dataclass(slots=True, eq=False, kw_only=True)
class Fetch(Request):
    """A fetch request."""

    call: FetchMessages
    seen: dict[PartitionName, Seen] = field(default_factory=dict[str, Seen])
    """What there was for sure when it came."""
    refused: frozenset[PartitionName] = frozenset()
    """Where its answer says that it has to do something else first."""


@dataclass(slots=True, eq=False, kw_only=True)
class Reading:
    """The answer of a fetch, to be compared with logs that are perhaps not known yet."""

    fetch: Fetch
    response: FetchResponse
    open: int = 0
    """How many partitions are still to be compared."""
    has_reason: bool
    """Whether there was a reason to answer, or may have been, that does not lie in the logs."""
