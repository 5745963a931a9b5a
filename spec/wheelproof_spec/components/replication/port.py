"""The port of a broker: each typed call is the call of one method of a ReplicaManager.

Whoever calls the reference's broker, or a variant of it, does it here: driven cases, bursts of
threads, loads. Any number of threads may call at the same time. A response is told when it comes,
on the thread that answers the request: a driver answers with it, `Clients` records it.

>>> from wheelproof.sync import DeferredExecutor
>>> from wheelproof_spec.components.replication.component import PartitionRecords
>>> told: list[Response] = []
>>> broker = BrokerPort(ReplicationConfig(), ManualClock(0), told.append, DeferredExecutor())
>>> alone = BecomeLeader(partition="a", leader_epoch=0, replica_ids=(1,), in_sync_ids=(1,))
>>> broker.perform(alone)
Nothing()
>>> sent = PartitionRecords(partition="a", records=(NewRecord(size=3),))
>>> append = AppendRecords(request="p", required_acks=1, timeout_ms=0, entries=(sent,))
>>> broker.perform(append)
Nothing()
>>> [(response.request, response.partitions[0].error.value) for response in told]
[('p', 'NONE')]
"""

from collections.abc import Callable, Mapping
from typing import TypeVar

from wheelproof import replication
from wheelproof.clock import Clock, ManualClock
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
from wheelproof.sync import Executor
from wheelproof.timer import SystemTimer
from wheelproof.units import Millis
from wheelproof_spec.base.calls import (
    AdvanceClock,
    Advanced,
    Gauge,
    NumDelayed,
    NumKeys,
    PurgeCompleted,
    Tick,
    Watched,
)
from wheelproof_spec.base.codec.vocabulary import Nothing
from wheelproof_spec.base.port import RefusedError
from wheelproof_spec.components.replication.component import (
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
    ReadLog,
    Record,
    ReplicationConfig,
    Response,
    StopReplica,
    TruncateAsFollower,
    names_twice,
)

_PADDING = b"."
_NOW = Millis(0)

OperationT = TypeVar("OperationT", bound=DelayedOperation)
BrokerRequest = (
    Control
    | MaybeShrinkInSync
    | AppendRecords
    | FetchMessages
    | ReadLog
    | NumDelayed
    | Watched
    | NumKeys
    | PurgeCompleted
    | Tick
    | AdvanceClock
)
"""A call of one method of a broker, of its purgatories, or of the clock."""
BrokerAnswer = LogContent | Gauge | Advanced | Nothing


class BrokerPort:
    """A ReplicaManager, or a subclass of it. `answered` gets the response to each request."""

    def __init__(
        self,
        config: ReplicationConfig,
        clock: Clock,
        answered: Callable[[Response], None],
        executor: Executor | None = None,
        manager_class: type[ReplicaManager] = ReplicaManager,
    ) -> None:
        """Make a broker without partitions.

        Requests that are due when somebody advances are answered on `executor`; without it, reapers
        do both.
        """
        produces = _purgatory(DelayedProduce, clock, executor)
        fetches = _purgatory(DelayedFetch, clock, executor)
        self._purgatories = produces, fetches
        self._clock = clock
        self._answered = answered
        self.manager = manager_class(
            config.broker_id,
            produce_purgatory=produces,
            fetch_purgatory=fetches,
            clock=clock,
            min_in_sync_replicas=config.min_in_sync_replicas,
            segment_bytes=config.segment_bytes,
            replica_lag_time_max_ms=Millis(config.replica_lag_time_max_ms),
        )

    def perform(self, call: BrokerRequest) -> BrokerAnswer:
        """Make `call` and return its answer; raises what the method raises.

        Raises RefusedError for a request that names a partition twice.
        """
        match call:
            case AppendRecords():
                self._append_records(call)
                return Nothing()
            case FetchMessages():
                self._fetch_messages(call)
                return Nothing()
            case ReadLog(partition=partition):
                return self._read_log(partition)
            case NumDelayed():
                return Gauge(count=sum(one.num_delayed() for one in self._purgatories))
            case Watched():
                return Gauge(count=sum(one.watched() for one in self._purgatories))
            case NumKeys():
                return Gauge(count=sum(one.num_keys() for one in self._purgatories))
            case PurgeCompleted():
                for purgatory in self._purgatories:
                    purgatory.purge_completed()
                return Nothing()
            case Tick(to_ms=to_ms):
                assert isinstance(self._clock, ManualClock), "nobody moves the clock of the system"
                self._clock.advance_to(to_ms)
                return Nothing()
            case AdvanceClock():
                for purgatory in self._purgatories:
                    purgatory.advance_clock(_NOW)
                return Advanced()
            case _:
                self._control(call)
                return Nothing()

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

    def partition(self, name: PartitionName) -> Partition | None:
        """Return a partition, if the broker has it."""
        return self.manager.partition(_key(name))

    def _control(self, call: Control | MaybeShrinkInSync) -> None:
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

    def _append_records(self, call: AppendRecords) -> None:
        if names_twice(call.entries):
            raise RefusedError("IllegalArgument", "a partition is named twice")
        self.manager.append_records(
            timeout_ms=Millis(call.timeout_ms),
            required_acks=call.required_acks,
            entries={
                _key(entry.partition): [_value_of(record) for record in entry.records]
                for entry in call.entries
            },
            callback=lambda responses: self._answered(
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

    def _fetch_messages(self, call: FetchMessages) -> None:
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
            lambda data: self._answered(_fetch_response(call.request, data)),
        )

    def _read_log(self, partition: PartitionName) -> LogContent:
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
