"""What the judge of an accumulator's history knows about one record and one batch."""

from dataclasses import dataclass, field

from wheelproof_spec.base.history.clock import NEVER
from wheelproof_spec.components.accumulator.calls import Partition


@dataclass(slots=True, eq=False)
class Record:
    """A record; moments are indices of lines."""

    name: str
    partition: Partition
    asked: int
    oldest_ms: int
    """When its batch was made, at the least."""
    patient_until_ms: int
    """Before that its append may not give up waiting for memory."""
    holds: int
    """The most bytes that its append can have taken from the pool."""
    returned: int | None = None
    accepted_ms: int = NEVER
    """By when it was accepted, at the latest."""
    refused: bool = False
    called_back: int | None = None
    was_split: bool = False
    """Whether the batch that its append made, if any, is not what holds it any more."""
    batch: "Batch | None" = None
    """The batch that it was drained in last."""
    place: int = 0
    """Its place in that batch."""

    @property
    def is_owed(self) -> bool:
        """Whether its callback has to come."""
        return self.returned is not None and self.called_back is None


@dataclass(slots=True, eq=False)
class Batch:
    """A batch that was drained."""

    name: str
    partition: Partition
    records: tuple[Record, ...] = ()
    in_flight: bool = True
    base: int | None = None
    """The offset of its first record, once one has been told."""
    failed: bool | None = None
    """What its records are told, once one has been."""
    ended: list[Record] = field(default_factory=list[Record])
    """Records of it that were called back while it was in flight: their memory is still held."""
