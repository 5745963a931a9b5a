"""The reference's ReplicaManager on a manual clock, in the words of the oracle's ledger."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from wheelproof.clock import ManualClock
from wheelproof.purgatory import DelayedOperation, DelayedOperationPurgatory
from wheelproof.replication import (
    DelayedFetch,
    DelayedProduce,
    FetchParams,
    FetchPartition,
    FetchPartitionData,
    PartitionProduceResponse,
    ReplicaManager,
    TopicPartition,
)
from wheelproof.sync import DeferredExecutor
from wheelproof.timer import SystemTimer
from wheelproof.units import Millis
from wheelproof_spec.components.replication.ledger_log import LedgerRecord
from wheelproof_spec.components.replication.oracle import (
    Answer,
    FetchAnswer,
    FetchRequest,
    PartitionName,
    ProduceAnswer,
    RequestName,
)

BROKER = 1
"""The broker under test; any other id is a replica elsewhere."""

OperationT = TypeVar("OperationT", bound=DelayedOperation)
Response = TypeVar("Response")


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerConfig:
    """How a broker under test is made; times in milliseconds."""

    segment_bytes: int = 100
    min_in_sync: int = 1
    lag_ms: int = 50
    start_ms: int = 0


class BrokerUnderTest:
    """A broker whose answers are collected by the name of the request."""

    def __init__(self, manager_class: type[ReplicaManager], config: BrokerConfig) -> None:
        """Make a broker without partitions."""
        self._clock = ManualClock(config.start_ms)
        self._executor = DeferredExecutor()
        self.produce_purgatory = self._purgatory(DelayedProduce)
        self.fetch_purgatory = self._purgatory(DelayedFetch)
        self.manager = manager_class(
            BROKER,
            produce_purgatory=self.produce_purgatory,
            fetch_purgatory=self.fetch_purgatory,
            clock=self._clock,
            min_in_sync_replicas=config.min_in_sync,
            segment_bytes=config.segment_bytes,
            replica_lag_time_max_ms=Millis(config.lag_ms),
        )
        self._answers: list[tuple[RequestName, Answer]] = []

    def take_answers(self) -> tuple[tuple[RequestName, Answer], ...]:
        """Return what has been answered since the last call."""
        taken = tuple(self._answers)
        self._answers.clear()
        return taken

    def append(
        self,
        name: RequestName,
        *,
        acks: int,
        timeout_ms: int,
        entries: Mapping[PartitionName, Sequence[int]],
    ) -> None:
        """Append records of these sizes, in bytes."""
        self.manager.append_records(
            timeout_ms=Millis(timeout_ms),
            required_acks=acks,
            entries={_key(p): [bytes(size) for size in sizes] for p, sizes in entries.items()},
            callback=self._taking(name, _produce_answer),
        )

    def fetch(self, name: RequestName, request: FetchRequest, max_wait_ms: int) -> None:
        """Fetch as a follower or a consumer."""
        self.manager.fetch_messages(
            FetchParams(
                replica_id=request.replica,
                max_wait_ms=Millis(max_wait_ms),
                min_bytes=request.min_bytes,
                max_bytes=request.max_bytes,
            ),
            {
                _key(partition): FetchPartition(
                    fetch_offset=fetched.offset,
                    max_bytes=fetched.max_bytes,
                    current_leader_epoch=fetched.current_epoch,
                    last_fetched_epoch=fetched.last_epoch,
                )
                for partition, fetched in request.partitions.items()
            },
            self._taking(name, _fetch_answer),
        )

    def become_leader(
        self, partition: PartitionName, epoch: int, replicas: Sequence[int], in_sync: Sequence[int]
    ) -> None:
        """Lead a partition."""
        self.manager.become_leader(
            _key(partition), epoch, replica_ids=replicas, in_sync_ids=in_sync
        )

    def become_follower(self, partition: PartitionName, epoch: int) -> None:
        """Follow another broker."""
        self.manager.become_follower(_key(partition), epoch, BROKER + 1)

    def stop(self, partition: PartitionName) -> None:
        """Forget a partition."""
        self.manager.stop_replica(_key(partition))

    def truncate(self, partition: PartitionName, offset: int) -> None:
        """Truncate the log of a partition that is followed."""
        self.manager.truncate_as_follower(_key(partition), offset)

    def shrink(self) -> None:
        """Drop replicas that have fallen behind."""
        self.manager.maybe_shrink_in_sync()

    def advance_to(self, time_ms: int) -> None:
        """Move the clock and expire what is due."""
        self._clock.advance_to(time_ms)
        for purgatory in (self.produce_purgatory, self.fetch_purgatory):
            purgatory.advance_clock(Millis(0))
        self._executor.run_pending()

    def num_delayed(self) -> int:
        """Return how many requests wait in the two timers."""
        return self.produce_purgatory.num_delayed() + self.fetch_purgatory.num_delayed()

    def watched_after_purge(self) -> tuple[int, int]:
        """Return the watches and the keys that are left when all that is done has been dropped."""
        for purgatory in (self.produce_purgatory, self.fetch_purgatory):
            purgatory.purge_completed()
        return (
            self.produce_purgatory.watched() + self.fetch_purgatory.watched(),
            self.produce_purgatory.num_keys() + self.fetch_purgatory.num_keys(),
        )

    def close(self) -> None:
        """Shut the broker down."""
        self.manager.shutdown()

    def _purgatory(self, operation: type[OperationT]) -> DelayedOperationPurgatory[OperationT]:
        timer = SystemTimer(operation.__name__, clock=self._clock, executor=self._executor)
        return DelayedOperationPurgatory(operation.__name__, timer, shards=2, reaper_enabled=False)

    def _taking(
        self, name: RequestName, translate: Callable[[Mapping[TopicPartition, Response]], Answer]
    ) -> Callable[[Mapping[TopicPartition, Response]], None]:
        return lambda responses: self._answers.append((name, translate(responses)))


def _key(partition: PartitionName) -> TopicPartition:
    return TopicPartition(partition, 0)


def _produce_answer(responses: Mapping[TopicPartition, PartitionProduceResponse]) -> Answer:
    return {
        key.topic: ProduceAnswer(error=response.error, base_offset=response.base_offset)
        for key, response in responses.items()
    }


def _fetch_answer(responses: Mapping[TopicPartition, FetchPartitionData]) -> Answer:
    return {
        key.topic: FetchAnswer(
            error=data.error,
            high_watermark=data.high_watermark,
            records=tuple(
                LedgerRecord(
                    offset=record.offset, epoch=record.leader_epoch, size=len(record.value)
                )
                for record in data.records
            ),
            diverging=None
            if data.diverging_epoch is None
            else (data.diverging_epoch.leader_epoch, data.diverging_epoch.end_offset),
        )
        for key, data in responses.items()
    }
