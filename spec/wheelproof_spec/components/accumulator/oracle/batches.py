"""Batches as the oracle keeps them: records, their bytes, attempts and ages."""

from dataclasses import dataclass, field

from wheelproof_spec.components.accumulator.component import AccumulatorConfig, Partition
from wheelproof_spec.components.accumulator.oracle.sizes import (
    EMPTY_BATCH,
    record_size,
    upper_bound,
)


@dataclass(slots=True)
class Batch:
    """A batch that has not ended, or whose memory is still kept; sizes in bytes."""

    partition: Partition
    limit: int
    created_ms: int
    last_attempt_ms: int
    written: int = EMPTY_BATCH
    records: list[str] = field(default_factory=list[str])
    attempts: int = 0
    closed: bool = False
    pooled: bool = True
    """Whether its memory is the pool's."""
    ended: bool = False

    def has_room(self, size: int) -> bool:
        """Tell whether a record of this size goes in; into an empty batch any does."""
        if self.closed:
            return False
        return not self.records or self.written + self._needed(size) <= self.limit

    def put(self, record: str, size: int) -> None:
        """Append a record of this size."""
        self.written += self._needed(size)
        self.records.append(record)

    def is_full(self) -> bool:
        """Tell whether nothing more goes in."""
        return self.closed or self.written >= self.limit

    def _needed(self, size: int) -> int:
        return record_size(len(self.records), size)


@dataclass(frozen=True, slots=True)
class Rules:
    """What the configuration says of batches."""

    config: AccumulatorConfig

    def memory_for(self, size: int) -> int:
        """Return what an append of a record of this size asks of the pool for a new batch."""
        return max(self.config.batch_size, upper_bound(size))

    def is_too_large(self, size: int) -> bool:
        """Tell whether there can never be memory for a record of this size."""
        return self.memory_for(size) > self.config.total_memory

    def is_backing_off(self, batch: Batch, now_ms: int) -> bool:
        """Tell whether it is too early for the next attempt (semantics.md 4.2)."""
        if not batch.attempts:
            return False
        doubled_ms = self.config.retry_backoff_ms << (batch.attempts - 1)
        return now_ms - batch.last_attempt_ms < min(doubled_ms, self.config.retry_backoff_max_ms)

    def has_lingered(self, batch: Batch, now_ms: int) -> bool:
        """Tell whether a batch has waited for more records long enough."""
        return now_ms - batch.last_attempt_ms >= self.config.linger_ms

    def is_late(self, batch: Batch, now_ms: int) -> bool:
        """Tell whether a batch is to expire (semantics.md 4.5)."""
        timeout_ms = self.config.delivery_timeout_ms
        return isinstance(timeout_ms, int) and now_ms - batch.created_ms >= timeout_ms
