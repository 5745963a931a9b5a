"""What the judge of an accumulator's history knows about one record and one batch."""

from dataclasses import dataclass, field

from wheelproof_spec.base.history.clock import NEVER
from wheelproof_spec.components.accumulator.calls import Partition


@dataclass(slots=True, eq=False)
class Record:
    """A record; `asked`, `returned` and `called_back` are indices of events."""

    name: str
    partition: Partition
    size: int
    asked: int
    oldest_ms: int
    """The earliest time at which its batch can have been made."""
    patient_until_ms: int
    """The time before which its append must not give up waiting for memory."""
    holds: int
    """The most bytes that its append can have taken from the pool."""
    returned: int | None = None
    accepted_ms: int = NEVER
    """The latest time at which it can have been accepted."""
    new_batch: bool | None = None
    """Whether its append made a batch, if that is known."""
    batch_is_full: bool | None = None
    """Whether a batch was full, as the answer to its append says."""
    is_first: bool = False
    """Whether no other record of its partition can have been queued during its append."""
    left_then: int = 0
    """How many records of its partition had left the queue when its append began."""
    shut_out: bool = False
    """Whether its append had no memory for a batch of its own when close returned."""
    is_in_domain: bool = True
    """Whether its append had a time that may be asked for."""
    refused: bool = False
    called_back: int | None = None
    may_be_queued: bool = True
    """Whether it may stand in a queue: it has not ended, and is not known to be in flight."""
    was_split: bool = False
    """Whether a split has moved it out of the batch that its append made, if any."""
    batch: "Batch | None" = None
    """The batch in which it was drained last."""
    place: int = 0
    """Its place in that batch."""
    order: tuple[int, int] | None = None
    """Its place in the order of its partition's queue, as the first drain of it shows."""

    @property
    def is_owed(self) -> bool:
        """Whether it was accepted and its callback has not run yet."""
        return self.returned is not None and self.called_back is None

    @property
    def was_never_drained(self) -> bool:
        """Whether it was accepted, and no drain has taken it."""
        return self.is_owed and self.batch is None and not self.was_split


@dataclass(slots=True, eq=False)
class Batch:
    """A batch that was drained."""

    name: str
    partition: Partition
    records: tuple[Record, ...] = ()
    in_flight: bool = True
    answered: bool = False
    """Whether its response has come."""
    base: int | None = None
    """The offset of its first record, once a callback has shown it."""
    failed: bool | None = None
    """Whether its records have failed, once one of them was told."""
    error: str | None = None
    """Why its records have failed, once one of them was told."""
    ended: list[Record] = field(default_factory=list[Record])
    """Its records that were called back while it was in flight: their memory is still held."""
