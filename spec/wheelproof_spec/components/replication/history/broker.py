"""The knowledge about a broker: its partitions, its requests, its records."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from wheelproof_spec.base.history.clock import HistoryClock
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

    _touched: dict[PartitionHistory, None] = field(default_factory=dict[PartitionHistory, None])

    def partition(self, name: PartitionName) -> PartitionHistory:
        """Return the knowledge about a partition."""
        found = self.partitions.get(name)
        if found is None:
            found = self.partitions[name] = PartitionHistory(self.config, as_kafka=self.as_kafka)
        self._touched[found] = None
        return found

    def all_partitions(self) -> Iterable[PartitionHistory]:
        """Return all known partitions."""
        return [self.partition(name) for name in self.partitions]

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
