"""The reference's ReplicaManager as `wheelproof conform` drives it: a `base.port.Port`."""

from collections.abc import Callable, Mapping
from typing import TypeVar

from wheelproof import replication
from wheelproof.clock import Clock, ManualClock
from wheelproof.errors import WheelproofError
from wheelproof.purgatory import DelayedOperation, DelayedOperationPurgatory
from wheelproof.replication import (
    DelayedFetch,
    DelayedProduce,
    FetchParams,
    FetchPartitionData,
    LogRecord,
    Partition,
    ReplicaManager,
    TopicPartition,
)
from wheelproof.sync import DeferredExecutor, Executor
from wheelproof.timer import SystemTimer
from wheelproof.units import Millis
from wheelproof_spec.base.calls import Advance, PurgeCompleted, Reset
from wheelproof_spec.base.port import RefusedError
from wheelproof_spec.components.replication.component import (
    DEFINITION,
    AppendRecords,
    BecomeFollower,
    BecomeLeader,
    Control,
    EpochEnd,
    ErrorCode,
    FetchMessages,
    FetchResponse,
    LogContent,
    MaybeShrinkInSync,
    NewRecord,
    PartitionFetchResponse,
    PartitionName,
    PartitionProduceResponse,
    ProduceResponse,
    Record,
    ReplicationCall,
    ReplicationConfig,
    ReplicationObservation,
    StopReplica,
    TruncateAsFollower,
    names_twice,
)
from wheelproof_spec.drive.driver.serve import ServedComponent, refused, served

_PADDING = b"."
_NOW = Millis(0)

OperationT = TypeVar("OperationT", bound=DelayedOperation)


class ReferenceBroker:
    """A ReplicaManager, or a subclass of it, called with the types of the wire."""

    def __init__(
        self,
        config: ReplicationConfig,
        clock: Clock,
        executor: Executor | None = None,
        manager_class: type[ReplicaManager] = ReplicaManager,
    ) -> None:
        """Make a broker without partitions.

        Requests that `expire` finds are answered on `executor`; without it, reapers do both.
        """
        produces = _purgatory(DelayedProduce, clock, executor)
        fetches = _purgatory(DelayedFetch, clock, executor)
        self._purgatories = produces, fetches
        self.manager = manager_class(
            config.broker_id,
            produce_purgatory=produces,
            fetch_purgatory=fetches,
            clock=clock,
            min_in_sync_replicas=config.min_in_sync_replicas,
            segment_bytes=config.segment_bytes,
            replica_lag_time_max_ms=Millis(config.replica_lag_time_max_ms),
        )

    def control(self, call: Control | MaybeShrinkInSync) -> None:
        """Change the leader of a partition, its log, or its in-sync set."""
        manager = self.manager
        match call:
            case BecomeLeader(partition=partition, leader_epoch=epoch):
                manager.become_leader(
                    _key(partition),
                    epoch,
                    replica_ids=call.replica_ids,
                    in_sync_ids=call.in_sync_ids,
                )
            case BecomeFollower(partition=partition, leader_epoch=epoch, leader_id=leader_id):
                manager.become_follower(_key(partition), epoch, leader_id)
            case StopReplica(partition=partition):
                manager.stop_replica(_key(partition))
            case TruncateAsFollower(partition=partition, offset=offset):
                manager.truncate_as_follower(_key(partition), offset)
            case MaybeShrinkInSync():
                manager.maybe_shrink_in_sync()

    def append_records(
        self, call: AppendRecords, answer: Callable[[ProduceResponse], None]
    ) -> None:
        """Append; `answer` is called with the response."""
        if names_twice(call.entries):
            raise RefusedError("IllegalArgument", "a partition is named twice")
        self.manager.append_records(
            timeout_ms=Millis(call.timeout_ms),
            required_acks=call.required_acks,
            entries={
                _key(entry.partition): [_value_of(record) for record in entry.records]
                for entry in call.entries
            },
            callback=lambda responses: answer(
                ProduceResponse(
                    request=call.request,
                    partitions=tuple(
                        PartitionProduceResponse(
                            partition=key.topic,
                            error=ErrorCode(response.error),
                            base_offset=response.base_offset,
                        )
                        for key, response in responses.items()
                    ),
                )
            ),
        )

    def fetch_messages(self, call: FetchMessages, answer: Callable[[FetchResponse], None]) -> None:
        """Fetch as a follower or a consumer; `answer` is called with the response."""
        if names_twice(call.partitions):
            raise RefusedError("IllegalArgument", "a partition is named twice")
        self.manager.fetch_messages(
            FetchParams(
                replica_id=call.replica_id,
                max_wait_ms=Millis(call.max_wait_ms),
                min_bytes=call.min_bytes,
                max_bytes=call.max_bytes,
            ),
            {
                _key(fetched.partition): replication.FetchPartition(
                    fetch_offset=fetched.fetch_offset,
                    max_bytes=fetched.max_bytes,
                    current_leader_epoch=fetched.current_leader_epoch,
                    last_fetched_epoch=fetched.last_fetched_epoch,
                )
                for fetched in call.partitions
            },
            lambda data: answer(_fetch_response(call.request, data)),
        )

    def expire(self) -> None:
        """Submit the requests whose time is over to the executor."""
        for purgatory in self._purgatories:
            purgatory.advance_clock(_NOW)

    def partition(self, name: PartitionName) -> Partition | None:
        """Return a partition, if the broker has it."""
        return self.manager.partition(_key(name))

    def high_watermark(self, partition: PartitionName) -> int:
        """Return up to where consumers may read; 0 if there is no such partition."""
        found = self.partition(partition)
        return 0 if found is None else found.log.high_watermark

    def batch_base(self, partition: PartitionName, back: int) -> int:
        """Return the begin of the batch that lies `back` records before the end of a log.

        0 if there is no such partition, or the log is shorter.
        """
        found = self.partition(partition)
        offset = 0 if found is None else max(found.log.log_end_offset - back, 0)
        place = found and found.log.fetch_progress(offset, up_to_high_watermark=False)
        return place.start.message_offset if place else 0

    def read_log(self, partition: PartitionName) -> LogContent:
        """Return the content of a log, from its beginning to its end."""
        found = self.partition(partition)
        records: list[Record] = []
        more = found is not None
        while found is not None and more:
            data = found.log.read(
                len(records), up_to_high_watermark=False, max_bytes=0, at_least_one=True
            )
            records += map(_record_of, data.records)
            more = bool(data.records)
        return LogContent(records=tuple(records))

    def num_delayed(self) -> int:
        """Return how many requests wait in the two timers."""
        return sum(purgatory.num_delayed() for purgatory in self._purgatories)

    def purge_completed(self) -> None:
        """Drop the done requests from the lists of both purgatories."""
        for purgatory in self._purgatories:
            purgatory.purge_completed()

    def watched(self) -> int:
        """Return how many watches both purgatories have."""
        return sum(purgatory.watched() for purgatory in self._purgatories)

    def num_keys(self) -> int:
        """Return how many keys both purgatories have."""
        return sum(purgatory.num_keys() for purgatory in self._purgatories)


class ReferenceReplicationPort:
    """A port to a broker of the reference, whose records have sizes but no content."""

    def __init__(self, manager_class: type[ReplicaManager] = ReplicaManager) -> None:
        self._manager_class = manager_class
        self._reset(ReplicationConfig())

    @property
    def manager(self) -> ReplicaManager:
        """The replica manager of the case."""
        return self._broker.manager

    def perform(self, call: ReplicationCall) -> ReplicationObservation:
        """Make `call`; see `Port.perform`."""
        if isinstance(call, Reset):
            self.close()
            self._reset(call.config)
            return ReplicationObservation()
        try:
            self._make(call)
        except WheelproofError as error:
            raise refused(error) from error
        produced, fetched = tuple(self._produced), tuple(self._fetched)
        self._produced.clear()
        self._fetched.clear()
        purged = isinstance(call, PurgeCompleted)
        return ReplicationObservation(
            produced=produced,
            fetched=fetched,
            num_delayed=self._broker.num_delayed(),
            watched=self._broker.watched() if purged else None,
            num_keys=self._broker.num_keys() if purged else None,
        )

    def close(self) -> None:
        """Shut the broker down."""
        self.manager.close()

    def _reset(self, config: ReplicationConfig) -> None:
        self._clock = ManualClock(config.start_ms)
        self._executor = DeferredExecutor()
        try:
            self._broker = ReferenceBroker(config, self._clock, self._executor, self._manager_class)
        except WheelproofError as error:
            raise refused(error) from error
        self._produced: list[ProduceResponse] = []
        self._fetched: list[FetchResponse] = []

    def _make(self, call: ReplicationCall) -> None:
        match call:
            case AppendRecords():
                self._broker.append_records(call, self._produced.append)
            case FetchMessages():
                self._broker.fetch_messages(call, self._fetched.append)
            case Advance(to_ms=to_ms):
                self._clock.advance_to(to_ms)
                self._broker.expire()
                self._executor.run_pending()
            case PurgeCompleted():
                self._broker.purge_completed()
            case Reset():
                raise AssertionError(call)
            case _:
                self._broker.control(call)


def serve() -> ServedComponent:
    """Return the reference's broker, ready to be driven."""
    return served(DEFINITION, ReferenceReplicationPort())


def _purgatory(
    operation: type[OperationT], clock: Clock, executor: Executor | None
) -> DelayedOperationPurgatory[OperationT]:
    name = operation.__name__
    timer = SystemTimer(name, clock=clock, executor=executor)
    return DelayedOperationPurgatory(name, timer, shards=2, reaper_enabled=executor is None)


def _key(partition: PartitionName) -> TopicPartition:
    return TopicPartition(partition, 0)


def _value_of(record: NewRecord) -> bytes:
    return record.value.encode().ljust(record.size, _PADDING)


def _fetch_response(
    request: str, data: Mapping[TopicPartition, FetchPartitionData]
) -> FetchResponse:
    answers = (
        PartitionFetchResponse(
            partition=key.topic,
            error=ErrorCode(answer.error),
            high_watermark=answer.high_watermark,
            records=tuple(map(_record_of, answer.records)),
            diverging_epoch=None
            if answer.diverging_epoch is None
            else EpochEnd(
                leader_epoch=answer.diverging_epoch.leader_epoch,
                end_offset=answer.diverging_epoch.end_offset,
            ),
        )
        for key, answer in data.items()
    )
    return FetchResponse(request=request, partitions=tuple(answers))


def _record_of(record: LogRecord) -> Record:
    return Record(
        offset=record.offset,
        leader_epoch=record.leader_epoch,
        size=len(record.value),
        value=record.value.rstrip(_PADDING).decode(),
    )
