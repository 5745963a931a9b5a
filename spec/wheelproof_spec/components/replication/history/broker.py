"""The knowledge about a broker: its partitions, its requests, its records."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from wheelproof_spec.base.history.clock import NEVER, HistoryClock
from wheelproof_spec.base.results.tally import Tally
from wheelproof_spec.base.results.violation import Violation
from wheelproof_spec.components.replication.component import (
    PartitionName,
    ReplicationClause,
    ReplicationConfig,
    RequestName,
)
from wheelproof_spec.components.replication.history.partition import PartitionHistory
from wheelproof_spec.components.replication.history.requests import Batch, Request


@dataclass(slots=True, kw_only=True)
class BrokerHistory:
    """The knowledge about a broker at a point of its history."""

    config: ReplicationConfig
    clock: HistoryClock
    tally: Tally
    as_kafka: bool
    """Whether it behaves like Kafka where the reference's design differs."""
    requests: dict[RequestName, Request] = field(default_factory=dict[str, Request])
    waiting: dict[Request, None] = field(default_factory=dict[Request, None])
    """The requests that have not been answered."""
    records: dict[str, tuple[Batch, int]] = field(default_factory=dict[str, tuple[Batch, int]])
    """The batch of each record, and its place in the batch."""
    partitions: dict[PartitionName, PartitionHistory] = field(
        default_factory=dict[str, PartitionHistory]
    )

    shrinks: int = 0
    """How many shrinks of the in-sync sets are under way."""
    shrinks_by_ms: int = -NEVER
    """The latest time that they can have read so far."""

    _touched: dict[PartitionHistory, None] = field(default_factory=dict[PartitionHistory, None])

    def partition(self, name: PartitionName) -> PartitionHistory:
        """Return the knowledge about a partition."""
        found = self.partitions.get(name)
        if found is None:
            found = self.partitions[name] = PartitionHistory(self.config, as_kafka=self.as_kafka)
            for _ in range(self.shrinks):
                found.shrink_begins(self.shrinks_by_ms)
        self._touched[found] = None
        return found

    def all_partitions(self) -> Iterable[PartitionHistory]:
        """Return all known partitions."""
        return [self.partition(name) for name in self.partitions]

    def shrink_begins(self) -> None:
        """Record that a call began that may drop replicas from all in-sync sets."""
        for partition in self.all_partitions():
            partition.shrink_begins(self.clock.high)
        self.shrinks += 1
        self.shrinks_by_ms = self.clock.high

    def shrink_ends(self, index: int) -> None:
        """Record that such a call ended."""
        self.shrinks -= 1
        for partition in self.all_partitions():
            partition.shrink_ends(index)

    def has_shrunk(self, invoked: int, index: int, by_ms: int) -> None:
        """Record that such a call was carried out: it began at `invoked`, at `by_ms` or later."""
        for partition in self.all_partitions():
            partition.has_shrunk(invoked, index, by_ms)

    def time_passes(self) -> None:
        """Record that the clock may show more: a shrink that is under way may read that."""
        if self.shrinks and self.clock.high != self.shrinks_by_ms:
            self.shrinks_by_ms = self.clock.high
            for partition in self.partitions.values():
                partition.shrinks(self.clock.high)

    @property
    def is_touched(self) -> bool:
        """Whether a partition was accessed since the last call of `take_touched`."""
        return bool(self._touched)

    def take_touched(self) -> Iterable[PartitionHistory]:
        """Return the partitions that were accessed since the last call of this method."""
        touched, self._touched = self._touched, {}
        return touched

    def begins(self, request: Request) -> None:
        """Record that a request began."""
        self.requests[request.name] = request
        self.waiting[request] = None
        for name in request.partitions:
            self.partition(name).waiting[request] = None

    def is_over(self, request: Request) -> None:
        """Record that a request waits no more."""
        self.waiting.pop(request, None)
        for name in request.partitions:
            self.partition(name).waiting.pop(request, None)

    def may_have_expired(self, request: Request) -> bool:
        """Tell whether the time of a request may be over."""
        return self.clock.high >= request.expires_low


def wrong_answer(asked: str, expected: str, observed: str, reason: str) -> Violation:
    """Return the violation of a wrong answer."""
    return ReplicationClause.ANSWER_IS_RIGHT.broken(
        f"{asked}: {expected}", f"{asked}: {observed}", reason
    )
