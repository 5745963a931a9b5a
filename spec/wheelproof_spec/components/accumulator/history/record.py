"""What the judge of an accumulator's history knows about one record and one batch."""

from dataclasses import dataclass, field

from wheelproof_spec.base.history.clock import NEVER
from wheelproof_spec.components.accumulator.calls import Partition


@dataclass(slots=True, eq=False)
class Record:
    """A record; `asked`, `returned` and `called_back` are indices of events."""

    name: str
    partition: Partition
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

    @property
    def is_owed(self) -> bool:
        """Whether it was accepted and its callback has not run yet."""
        return self.returned is not None and self.called_back is None


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
    ended: list[Record] = field(default_factory=list[Record])
    """Its records that were called back while it was in flight: their memory is still held."""
