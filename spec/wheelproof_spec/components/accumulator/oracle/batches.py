"""Batches as the oracle keeps them: records, their bytes, attempts and ages.

An answer is None if it is not known: whether a record fits, if the implementation does not declare
Kafka's sizes; what holds at the exact millisecond of a deadline, if its time is not exact.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Self

from wheelproof_spec.base.results.tally import Tally
from wheelproof_spec.components.accumulator.calls import NEVER_MS, Append, Partition
from wheelproof_spec.components.accumulator.component import (
    AccumulatorCapability,
    AccumulatorConfig,
)
from wheelproof_spec.components.accumulator.oracle.records import (
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
    """Whether its memory belongs to the pool."""
    ended: bool = False
    measured: bool = True
    """Whether its size is computed as in Kafka."""
    values: int = 0
    """The bytes of the values of its records: a lower bound of its size."""
    told_full: bool | None = None
    """Whether the implementation called it full, if its size is not known."""

    @property
    def least(self) -> int:
        """The fewest bytes that it takes in a request."""
        return self.written if self.measured else self.values

    @property
    def most(self) -> int:
        """The most bytes that it takes in a request."""
        return self.written if self.measured else self.limit

    def has_room(self, size: int) -> bool | None:
        """Tell whether a record of this size fits; any record fits into an empty batch."""
        if self.closed:
            return False
        if not self.measured:
            return None if self.values + size <= self.limit else False
        return not self.records or self.written + self._needed(size) <= self.limit

    def put(self, record: str, size: int) -> None:
        """Append a record of this size."""
        self.written += self._needed(size)
        self.values += size
        self.records.append(record)

    def is_full(self) -> bool | None:
        """Tell whether no further record fits; None if that is not known."""
        if not self.measured:
            return True if self.closed else self.told_full
        return self.closed or self.written >= self.limit

    def _needed(self, size: int) -> int:
        return record_size(len(self.records), size)


@dataclass(frozen=True, slots=True)
class PendingAppend:
    """An append that waits, until its deadline or the latest time that its clock allows."""

    call: Append
    deadline_ms: int
    latest_ms: int
    may_fail: bool


@dataclass(slots=True)
class PendingFlush:
    """A flush that waits."""

    awaited: set[str]
    """The records accepted before it that have not been called back."""
    companions: set[str] = field(default_factory=set[str])
    """The records added later to the same batches; after a split they may end later, too."""


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules about batches that follow from the configuration."""

    config: AccumulatorConfig
    measured: bool = True
    """Whether the sizes of batches are computed as in Kafka."""
    leave_open: Callable[[], object] | None = None
    """Called if an event is due at this exact millisecond but need not have happened yet."""
    drains_what_is_ready: bool = False
    """Whether a drain itself leaves what lingers, since nobody asks what is ready."""
    leave_waiting: Callable[[], object] | None = None
    """Called if an append may wait until the full batch of its partition is drained."""

    @classmethod
    def of(cls, config: AccumulatorConfig, tally: Tally) -> Self:
        """Return the rules for an implementation without the capabilities that `tally` skips."""
        time, many = AccumulatorCapability.EXACT_TIME, AccumulatorCapability.MANY_BATCHES
        return cls(
            config=config,
            measured=not tally.skips(AccumulatorCapability.KAFKA_SIZES),
            leave_open=partial(tally.tests, time) if tally.skips(time) else None,
            drains_what_is_ready=tally.skips(AccumulatorCapability.READY),
            leave_waiting=partial(tally.tests, many) if tally.skips(many) else None,
        )

    def memory_for(self, size: int) -> int:
        """Return the bytes that an append of this size requests from the pool for a new batch."""
        return max(self.config.batch_size, upper_bound(size))

    def is_too_large(self, size: int) -> bool:
        """Tell whether there can never be memory for a record of this size."""
        return self.memory_for(size) > self.config.total_memory

    def is_backing_off(self, batch: Batch, now_ms: int) -> bool | None:
        """Tell whether it is too early for the next attempt (standard 4.2)."""
        if not batch.attempts:
            return False
        over = self._is_over(now_ms - batch.last_attempt_ms, self._backoff_ms(batch))
        return None if over is None else not over

    def time_left_ms(self, batch: Batch, now_ms: int) -> int | None:
        """Return how long a batch that is not ready waits for its next attempt or more records."""
        backing_off = self.is_backing_off(batch, now_ms)
        to_wait_ms = self._backoff_ms(batch) if backing_off else self.config.linger_ms
        return None if backing_off is None else batch.last_attempt_ms + to_wait_ms - now_ms

    def has_lingered(self, batch: Batch, now_ms: int) -> bool | None:
        """Tell whether a batch has waited for more records long enough."""
        return self._is_over(now_ms - batch.last_attempt_ms, self.config.linger_ms)

    def is_late(self, batch: Batch, now_ms: int) -> bool | None:
        """Tell whether a batch is to expire (standard 4.5)."""
        timeout_ms = self.config.delivery_timeout_ms
        if not isinstance(timeout_ms, int):
            return False
        return self._is_over(now_ms - batch.created_ms, timeout_ms)

    def expires_ms(self, batch: Batch) -> int:
        """Return when a batch expires."""
        timeout_ms = self.config.delivery_timeout_ms
        return batch.created_ms + timeout_ms if isinstance(timeout_ms, int) else NEVER_MS

    def _backoff_ms(self, batch: Batch) -> int:
        doubled_ms = self.config.retry_backoff_ms << (batch.attempts - 1)
        return min(doubled_ms, self.config.retry_backoff_max_ms)

    def _is_over(self, passed_ms: int, wait_ms: int) -> bool | None:
        if passed_ms == wait_ms > 0 and self.leave_open is not None:
            self.leave_open()
            return None
        return passed_ms >= wait_ms
