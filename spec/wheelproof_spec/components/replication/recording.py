"""Calls of the reference's broker that write what they do, for the load and the machine."""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import count

from wheelproof.clock import ManualClock
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
from wheelproof_spec.components.replication.component import (
    AppendRecords,
    BecomeFollower,
    BecomeLeader,
    Control,
    FetchMessages,
    FetchPartition,
    FetchResponse,
    MaybeShrinkInSync,
    NewRecord,
    PartitionName,
    PartitionRecords,
    ProduceResponse,
    ReadLog,
    StopReplica,
    TruncateAsFollower,
)
from wheelproof_spec.components.replication.reference import ReferenceBroker
from wheelproof_spec.history.recording.load_recorder import LoadRecorder

_BROKER = 1
_PLENTY = 1_000
_RECORD_BYTES = 10


class RecordedBroker:
    """A recorded broker, and the end of each follower in each partition."""

    def __init__(self, broker: ReferenceBroker, recorder: LoadRecorder) -> None:
        self._broker = broker
        self._recorder = recorder
        self._numbers = count(1)
        self._epochs: dict[PartitionName, int] = {}
        self._replicas: dict[PartitionName, tuple[int, ...]] = {}
        self._cursors: dict[tuple[int, PartitionName], int] = {}

    def lead(self, partition: PartitionName, followers: Sequence[int]) -> None:
        """Lead a partition for the first time; all followers are in sync."""
        self._replicas[partition] = (_BROKER, *followers)
        self._lead(partition, followers)

    def lose_and_lead_again(
        self, partition: PartitionName, records: int, in_sync: Sequence[int]
    ) -> None:
        """Follow another broker, drop `records` and the rest of their batch, and lead again.

        Only one thread may call it at a time.
        """
        epoch = self._next_epoch(partition)
        self._control(
            BecomeFollower(partition=partition, leader_epoch=epoch, leader_id=_BROKER + 1)
        )
        offset = self._broker.batch_base(partition, records)
        self._control(TruncateAsFollower(partition=partition, offset=offset))
        self._lead(partition, in_sync)

    def stop_and_lead_again(self, partition: PartitionName) -> None:
        """Stop the replica, and lead again, alone; only one thread may call it at a time."""
        self._control(StopReplica(partition=partition))
        self._lead(partition, ())

    def shrink(self) -> None:
        """Drop replicas that have fallen behind."""
        self._control(MaybeShrinkInSync())

    def produce(
        self,
        partitions: Sequence[PartitionName],
        required_acks: int,
        timeout_ms: int,
        records: int = 1,
        then: Callable[[], None] | None = None,
    ) -> None:
        """Append some records to each partition; the callback ends with `then`."""
        name = f"p{next(self._numbers)}"
        call = AppendRecords(
            request=name,
            required_acks=required_acks,
            timeout_ms=timeout_ms,
            entries=tuple(
                PartitionRecords(
                    partition=partition,
                    records=tuple(
                        NewRecord(size=_RECORD_BYTES, value=f"{name}{partition}{number}")
                        for number in range(records)
                    ),
                )
                for partition in partitions
            ),
        )

        def answered(response: ProduceResponse) -> None:
            self._recorder.begins(response)
            if then is not None:
                then()

        self._recorder.do(call, lambda: self._broker.append_records(call, answered))

    def consume(
        self,
        partitions: Sequence[PartitionName],
        max_wait_ms: int,
        min_bytes: int = 1,
        then: Callable[[], None] | None = None,
    ) -> None:
        """Fetch as a consumer that has read up to the high watermark; see `produce` of `then`."""
        places = {partition: self._broker.high_watermark(partition) for partition in partitions}
        self._fetch(None, places, max_wait_ms, min_bytes, then)

    def read(self, partition: PartitionName) -> None:
        """Read a partition from its beginning, as a consumer."""
        self._fetch(None, {partition: 0}, 0)

    def replicate(
        self,
        follower: int,
        partition: PartitionName,
        max_wait_ms: int,
        min_bytes: int = 1,
        then: Callable[[], None] | None = None,
    ) -> None:
        """Fetch the records that a follower lacks; after a refusal, from the beginning."""
        offset = self._cursors.get((follower, partition), 0)
        self._fetch(follower, {partition: offset}, max_wait_ms, min_bytes, then)

    def advance(self, clock: ManualClock, now_ms: int) -> None:
        """Move the broker's clock, then expire due requests; only one thread at a time."""

        def expire() -> Advanced:
            self._broker.expire()
            return Advanced()

        self._recorder.do(Tick(to_ms=now_ms), lambda: clock.advance_to(now_ms))
        self._recorder.call(AdvanceClock(timeout_ms=0), expire)

    def read_log(self, partition: PartitionName) -> None:
        """Read a log, up to its end."""
        asked = ReadLog(partition=partition)
        self._recorder.call(asked, partial(self._broker.read_log, partition))

    def ask_gauges(self) -> None:
        """Ask for the gauges of both purgatories."""
        recorder, broker = self._recorder, self._broker
        recorder.call(NumDelayed(), lambda: Gauge(count=broker.num_delayed()))
        recorder.call(Watched(), lambda: Gauge(count=broker.watched()))
        recorder.call(NumKeys(), lambda: Gauge(count=broker.num_keys()))

    def purge_completed(self) -> None:
        """Purge."""
        self._recorder.do(PurgeCompleted(), self._broker.purge_completed)

    def close(self) -> None:
        """Close the broker; no line of a history says so."""
        self._broker.manager.close()

    def read_gauges(self) -> None:
        """Read every log, purge, and ask for the gauges."""
        for partition in self._replicas:
            self.read_log(partition)
        self.purge_completed()
        self.ask_gauges()

    def _lead(self, partition: PartitionName, in_sync: Sequence[int]) -> None:
        self._control(
            BecomeLeader(
                partition=partition,
                leader_epoch=self._next_epoch(partition),
                replica_ids=self._replicas[partition],
                in_sync_ids=(_BROKER, *in_sync),
            )
        )

    def _next_epoch(self, partition: PartitionName) -> int:
        self._epochs[partition] = self._epochs.get(partition, -1) + 1
        return self._epochs[partition]

    def _control(self, call: Control | MaybeShrinkInSync) -> None:
        self._recorder.do(call, lambda: self._broker.control(call))

    def _take(self, call: FetchMessages, response: FetchResponse) -> None:
        """Record an answer, and the end that a follower has reached by it."""
        self._recorder.begins(response)
        if call.replica_id is None:
            return
        for asked, answer in zip(call.partitions, response.partitions, strict=True):
            end = 0 if answer.is_refusal else asked.fetch_offset + len(answer.records)
            self._cursors[call.replica_id, answer.partition] = end

    def _fetch(
        self,
        replica_id: int | None,
        places: dict[PartitionName, int],
        max_wait_ms: int,
        min_bytes: int = 1,
        then: Callable[[], None] | None = None,
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

        def answered(response: FetchResponse) -> None:
            self._take(call, response)
            if then is not None:
                then()

        self._recorder.do(call, lambda: self._broker.fetch_messages(call, answered))
