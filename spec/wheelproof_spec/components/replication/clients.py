"""The clients of a recorded broker: they turn the steps of a burst or a load into calls.

Every request has a name of its own, every election a new epoch. A consumer reads at the end that it
sees, and each follower where its own log ends.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import count

from wheelproof import sync
from wheelproof.clock import Clock
from wheelproof.replication import ReplicaManager
from wheelproof.sync import DeferredExecutor
from wheelproof_spec.base.calls import (
    AdvanceClock,
    Close,
    NumDelayed,
    NumKeys,
    PurgeCompleted,
    Tick,
    Watched,
)
from wheelproof_spec.base.component import Call
from wheelproof_spec.components.replication.component import (
    AppendRecords,
    BecomeFollower,
    BecomeLeader,
    FetchMessages,
    FetchPartition,
    FetchResponse,
    MaybeShrinkInSync,
    NewRecord,
    PartitionName,
    PartitionRecords,
    ReadLog,
    ReplicationConfig,
    RequestName,
    Response,
    StopReplica,
    TruncateAsFollower,
)
from wheelproof_spec.components.replication.port import BrokerPort
from wheelproof_spec.components.replication.work import (
    BROKER,
    FOLLOWERS,
    AskGauges,
    Consume,
    Lead,
    LoseAndLeadAgain,
    Produce,
    Replicate,
    ReplicateAll,
    StopAndLeadAgain,
)
from wheelproof_spec.drive.work import AdvanceBy, AndCall
from wheelproof_spec.fuzz.burst import raise_it, run_submitted
from wheelproof_spec.history.recording.load_recorder import LoadRecorder, RecordedPort

_PLENTY = 1_000
_RECORD_BYTES = 10


class Clients:
    """The clients and the controller of one broker, and the end of each follower's logs."""

    def __init__(
        self,
        config: ReplicationConfig,
        recorder: LoadRecorder,
        clock: Clock,
        executor: DeferredExecutor | None = None,
        manager_class: type[ReplicaManager] = ReplicaManager,
        *,
        in_sync_again: Sequence[int] = (),
    ) -> None:
        """Make the broker; without an `executor`, whose tasks who advances runs, it has reapers.

        When a partition is lost and led again, the followers of `in_sync_again` are in sync.
        """
        self._clock_moves = sync.lock("clock moves")
        self._elections = sync.lock("elections")
        self.port = BrokerPort(config, clock, self._answered, executor, manager_class)
        self.is_closed = False
        self._broker = RecordedPort(self.port, recorder)
        self._recorder = recorder
        self._now_ms = 0
        self._executor = executor
        self._in_sync_again = in_sync_again
        self._numbers = count(1)
        self._epochs: dict[PartitionName, int] = {}
        self._replicas: dict[PartitionName, tuple[int, ...]] = {}
        self._ends: dict[tuple[int | None, PartitionName], int] = {}
        self._asked: dict[RequestName, FetchMessages] = {}
        self._then: dict[RequestName, Callable[[], None]] = {}

    def take(self, step: Call, then: Callable[[], None] | None = None) -> None:
        """Take a step; the callback of a request ends with `then`."""
        match step:
            case Produce():
                self._produce(step, then)
            case Consume(partitions=partitions, max_wait_ms=max_wait_ms, min_bytes=min_bytes):
                places = {name: self.port.high_watermark(name) for name in partitions}
                self._fetch(None, places, max_wait_ms, min_bytes, then)
            case Replicate(follower=follower, partition=partition):
                # After a refusal, from the beginning.
                places = {partition: self._ends.get((follower, partition), 0)}
                self._fetch(follower, places, step.max_wait_ms, step.min_bytes, then)
            case ReplicateAll(partition=partition):
                for follower in FOLLOWERS * 2:
                    self.take(Replicate(follower=follower, partition=partition))
            case AndCall(step=asked, then=after):
                self.take(asked, partial(self._call_back, after))
            case MaybeShrinkInSync() | PurgeCompleted():
                self._broker.perform(step)
            case AskGauges(partition=partition):
                self._broker.perform(ReadLog(partition=partition))
                self._ask_gauges()
            case Lead(partition=partition, in_sync=in_sync):
                self._replicas[partition] = (BROKER, *in_sync)
                self._lead(partition, in_sync)
            case AdvanceBy():
                with self._clock_moves:
                    self._take_alone(step)
            case LoseAndLeadAgain() | StopAndLeadAgain():
                with self._elections:
                    self._take_alone(step)
            case Close():
                # No line of a history says so.
                self.is_closed = True
                self.port.manager.close()
            case _:
                raise_it()

    def read_gauges(self) -> None:
        """Read every log, purge, and ask for the gauges."""
        for partition in self._replicas:
            self._broker.perform(ReadLog(partition=partition))
        self._broker.perform(PurgeCompleted())
        self._ask_gauges()

    def read(self, partition: PartitionName) -> None:
        """Read a partition from its beginning, as a consumer."""
        self._fetch(None, {partition: 0}, 0, 1, None)

    def _call_back(self, step: Call) -> None:
        """Take the step of a callback, which must not wait for who may be waiting for it."""
        match step:
            case AdvanceBy():
                lock = self._clock_moves
            case LoseAndLeadAgain() | StopAndLeadAgain():
                lock = self._elections
            case _:
                self.take(step)
                return
        if lock.try_acquire():
            try:
                self._take_alone(step)
            finally:
                lock.release()

    def _take_alone(self, step: AdvanceBy | LoseAndLeadAgain | StopAndLeadAgain) -> None:
        """Take a step that only one thread at a time takes."""
        match step:
            case AdvanceBy(jump_ms=jump_ms):
                assert self._executor is not None, "reapers move on by themselves"
                self._now_ms += jump_ms
                self._broker.perform(Tick(to_ms=self._now_ms))
                self._broker.perform(AdvanceClock(timeout_ms=0))
                run_submitted(self._executor)
            case LoseAndLeadAgain(partition=partition, records=records):
                epoch = self._next_epoch(partition)
                follow = BecomeFollower(
                    partition=partition, leader_epoch=epoch, leader_id=BROKER + 1
                )
                self._broker.perform(follow)
                # The rest of the batch goes, too.
                offset = self.port.batch_base(partition, records)
                self._broker.perform(TruncateAsFollower(partition=partition, offset=offset))
                self._lead(partition, self._in_sync_again)
            case StopAndLeadAgain(partition=partition):
                self._broker.perform(StopReplica(partition=partition))
                self._lead(partition, ())

    def _lead(self, partition: PartitionName, in_sync: Sequence[int]) -> None:
        lead = BecomeLeader(
            partition=partition,
            leader_epoch=self._next_epoch(partition),
            replica_ids=self._replicas[partition],
            in_sync_ids=(BROKER, *in_sync),
        )
        self._broker.perform(lead)

    def _next_epoch(self, partition: PartitionName) -> int:
        self._epochs[partition] = self._epochs.get(partition, -1) + 1
        return self._epochs[partition]

    def _produce(self, step: Produce, then: Callable[[], None] | None) -> None:
        """Append as many records as there are sizes to each partition."""
        name = f"p{next(self._numbers)}"
        entries = tuple(
            PartitionRecords(
                partition=partition,
                records=tuple(
                    NewRecord(size=_RECORD_BYTES, value=f"{name}{partition}{number}")
                    for number in range(len(step.sizes))
                ),
            )
            for partition in step.partitions
        )
        call = AppendRecords(
            request=name,
            required_acks=step.required_acks,
            timeout_ms=step.timeout_ms,
            entries=entries,
        )
        self._ask(call, then)

    def _fetch(
        self,
        replica_id: int | None,
        places: Mapping[PartitionName, int],
        max_wait_ms: int,
        min_bytes: int,
        then: Callable[[], None] | None,
    ) -> None:
        call = FetchMessages(
            request=f"f{next(self._numbers)}",
            replica_id=replica_id,
            max_wait_ms=max_wait_ms,
            min_bytes=min_bytes,
            max_bytes=_PLENTY,
            partitions=tuple(
                FetchPartition(partition=partition, fetch_offset=offset, max_bytes=_PLENTY)
                for partition, offset in places.items()
            ),
        )
        self._asked[call.request] = call
        self._ask(call, then)

    def _ask(self, call: AppendRecords | FetchMessages, then: Callable[[], None] | None) -> None:
        if then is not None:
            self._then[call.request] = then
        self._broker.perform(call)

    def _answered(self, response: Response) -> None:
        """Record a response, note what a follower has by it, and make the call of the callback."""
        self._recorder.begins(response)
        if isinstance(response, FetchResponse):
            call = self._asked.pop(response.request)
            for asked, answer in zip(call.partitions, response.partitions, strict=True):
                end = 0 if answer.is_refusal else asked.fetch_offset + len(answer.records)
                self._ends[call.replica_id, answer.partition] = end
        if response.request in self._then:
            self._then.pop(response.request)()

    def _ask_gauges(self) -> None:
        for gauge in (NumDelayed(), Watched(), NumKeys()):
            self._broker.perform(gauge)
