"""The replica manager: produce and fetch drive each other through two purgatories.

TLA+: ProduceFetch.
"""

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext, suppress
from functools import partial
from typing import ClassVar, cast

from wheelproof import sync
from wheelproof.clock import ManualClock
from wheelproof.errors import (
    IllegalArgumentError,
    PurgatoryClosedError,
    TimerClosedError,
    WheelproofError,
)
from wheelproof.purgatory import DelayedOperationPurgatory
from wheelproof.replication import (
    ALL_ACKS,
    DelayedFetch,
    DelayedProduce,
    EpochEndOffset,
    ErrorCode,
    FetchParams,
    FetchPartition,
    FetchPartitionData,
    LogRecord,
    Partition,
    PartitionProduceResponse,
    ReplicaManager,
    TopicPartition,
)
from wheelproof.replication.requests import FetchCallback
from wheelproof.units import Millis
from wheelproof_lab.worlds.purgatory.purgatory import FlagOperation, TimerOfOneList
from wheelproof_lab.worlds.tables import WRONG_NUMBERS, Act, Bench

_BROKER, _FOLLOWER = 1, 2
_NOW = Millis(0)
_SOME_TIME = Millis(10)
_ENOUGH_BYTES = 10_000
_PARTITION = TopicPartition("topic", 0)
_ANOTHER = TopicPartition("topic", 1)
_UNKNOWN = TopicPartition("topic", 2)
_NO_EPOCH, _NEWEST_EPOCH = -1, 9
_BEHIND_MS = 2
"""Longer than a replica may be behind."""
_RECORD = b"r"
_OTHER_RECORD = b"o"


class Broker(Bench):
    """A broker that leads one partition of two replicas, and the answers to its requests."""

    _timer_class: ClassVar[type[TimerOfOneList]] = TimerOfOneList

    def __init__(self, manager_class: type[ReplicaManager]) -> None:
        self._timers = self._timer_class(), self._timer_class()
        produces: DelayedOperationPurgatory[DelayedProduce] = DelayedOperationPurgatory(
            "produce", self._timers[0], shards=1, reaper_enabled=False
        )
        fetches: DelayedOperationPurgatory[DelayedFetch] = DelayedOperationPurgatory(
            "fetch", self._timers[1], shards=1, reaper_enabled=False
        )
        super().__init__()
        self.produces, self.fetches = produces, fetches
        self._clock = ManualClock()
        self._make = partial(
            manager_class,
            broker_id=_BROKER,
            produce_purgatory=produces,
            fetch_purgatory=fetches,
            clock=self._clock,
        )
        self.manager = self._make(segment_bytes=len(_RECORD), replica_lag_time_max_ms=Millis(1))
        self.led = _PARTITION
        self.lead(0, _FOLLOWER)
        # A list, since threads count at the same time.
        self._asks: list[bytes] = []
        self.produced: list[PartitionProduceResponse] = []
        self.fetched: list[FetchPartitionData] = []
        self.has_raised = False
        """Whether a callback has raised: then an expiry need not be counted (standard 6.4.5)."""

    def lead(self, epoch: int, *in_sync_followers: int) -> None:
        """Lead the partition."""
        in_sync = [_BROKER, *in_sync_followers]
        with self.surviving():
            self.manager.become_leader(
                _PARTITION, epoch, replica_ids=[_BROKER, _FOLLOWER], in_sync_ids=in_sync
            )

    def answered(self) -> None:
        """Take note that a callback has been called."""

    @property
    def asked(self) -> int:
        """How often a record was to be produced."""
        return len(self._asks)

    def surviving(self) -> AbstractContextManager[None]:
        """Return a block whose caller goes on when a callback has raised."""
        return nullcontext()

    def produce(
        self, record: bytes = _RECORD, acks: int = ALL_ACKS, *, timeout_ms: Millis = _SOME_TIME
    ) -> None:
        """Append one record."""

        def answer(responses: Mapping[TopicPartition, PartitionProduceResponse]) -> None:
            if record == _RECORD:
                self.produced.append(responses[_PARTITION])
            self.answered()

        if record == _RECORD:
            self._asks.append(record)
        with self.surviving():
            self.manager.append_records(
                timeout_ms=timeout_ms,
                required_acks=acks,
                entries={_PARTITION: [record]},
                callback=answer,
            )

    def produce_and_raise(self) -> None:
        """Append one record; the callback raises."""

        def answer(responses: object) -> None:
            raise ValueError(responses)

        with suppress(ValueError), self.surviving():
            self.manager.append_records(
                timeout_ms=_SOME_TIME,
                required_acks=1,
                entries={_PARTITION: [_RECORD]},
                callback=answer,
            )

    def produce_and_stop_another(self) -> None:
        """Append one record; the callback stops the replica of another partition."""

        def answer(responses: Mapping[TopicPartition, PartitionProduceResponse]) -> None:
            self.produced.append(responses[_PARTITION])
            self.manager.stop_replica(_ANOTHER)
            self.answered()

        self._asks.append(_RECORD)
        with self.surviving():
            self.manager.append_records(
                timeout_ms=_SOME_TIME,
                required_acks=ALL_ACKS,
                entries={_PARTITION: [_RECORD]},
                callback=answer,
            )

    def consume(self) -> None:
        """Fetch the first record as a consumer."""
        self._fetch(None, 0, _SOME_TIME, self._take)

    def replicate(self, *offsets: int) -> None:
        """Fetch as the follower, at each offset in turn."""
        for offset in offsets:
            self._fetch(_FOLLOWER, offset, _NOW, self._drop)

    def replicate_in(self, epoch: int) -> None:
        """Fetch as the follower in an epoch; raise if a record is of a later epoch."""

        def take(data: Mapping[TopicPartition, FetchPartitionData]) -> None:
            epochs = [record.leader_epoch for record in data[_PARTITION].records]
            assert all(one <= epoch for one in epochs), f"got records of epochs {epochs}"
            self.answered()

        self._fetch(_FOLLOWER, 0, _NOW, take, epoch=epoch)

    def expire_produces(self) -> None:
        """Let every produce request expire."""
        self.produces.advance_clock(_NOW)

    def expire(self) -> None:
        """Let every request expire."""
        self.expire_produces()
        self.fetches.advance_clock(_NOW)

    def lose_and_lead_again(self) -> None:
        """Follow another broker, drop the log, lead again, and write another record."""
        self.demote(1)
        self.lead(2)
        self.produce(_OTHER_RECORD, acks=1)

    def stop_and_lead_anew(self) -> None:
        """Stop the replica, lead a new one in the same epoch, and write another record."""
        epoch = self._partition().leader_epoch
        self.stop()
        self.lead(epoch)
        self.produce(_OTHER_RECORD, acks=1)

    def lead_another(self) -> None:
        """Lead another partition, alone."""
        self.manager.become_leader(_ANOTHER, 0, replica_ids=[_BROKER], in_sync_ids=[_BROKER])

    def fall_behind(self) -> None:
        """Let so much time pass that the follower, which has not fetched, is behind."""
        self._clock.advance(_BEHIND_MS)

    def fill(self) -> None:
        """Write some records, each in a segment of its own."""
        for _ in range(3):
            self.produce(_OTHER_RECORD, acks=1)

    def follow(self) -> None:
        """Follow another broker, drop the log, and take a record from that broker."""
        self.demote(1)
        self.take(1, 1)

    def demote(self, epoch: int) -> None:
        """Follow another broker, and drop the log."""
        with self.surviving():
            self.manager.become_follower(_PARTITION, epoch, _FOLLOWER)
        self.manager.truncate_as_follower(_PARTITION, 0)

    def take(self, epoch: int, high_watermark: int) -> None:
        """Take the first record, of an epoch, from the leader."""
        record = LogRecord(offset=0, batch_offset=0, leader_epoch=epoch, value=_OTHER_RECORD)
        self.manager.append_as_follower(_PARTITION, [record], high_watermark)

    def stop(self) -> None:
        """Stop the replica of the partition."""
        with self.surviving():
            self.manager.stop_replica(_PARTITION)

    def shrink(self) -> None:
        """Drop replicas that have fallen behind from the in-sync set."""
        with self.surviving():
            self.manager.maybe_shrink_in_sync()

    def shut_down(self) -> None:
        """Shut the broker down; raise unless it refuses requests and its timers time-outs."""
        self.manager.close()
        self.refuses(PurgatoryClosedError, self.produce, self.consume)
        late = FlagOperation(sync.volatile(False, "flag"))
        self.refuses(TimerClosedError, *(partial(timer.add, late) for timer in self._timers))

    def try_to(self, call: "Act[Broker]") -> None:
        """Make a call that the broker may refuse: it may be shut down, or its role changed."""
        try:
            call.on(self)()
        except WheelproofError:
            return

    def look(self) -> None:
        """Raise if a leader is not in its own in-sync set, or leads without an epoch."""
        partition = self.manager.partition(_PARTITION)
        if partition is not None and (in_sync := partition.in_sync_replica_ids):
            assert _BROKER in in_sync, f"in sync are {sorted(in_sync)}"
            assert partition.leader_epoch >= 0, "leads before the first epoch"
            assert partition.log.high_watermark >= 0

    def check_at_most_once(self) -> None:
        """Raise if a request was answered more than once."""
        assert len(self.produced) <= self.asked, f"answered {len(self.produced)} times"
        expired = self.manager.produce.expirations
        assert expired <= len(self.produced), f"{expired} expired, {len(self.produced)} answered"
        expired = self.manager.fetch.consumer_expirations
        assert expired <= len(self.fetched), f"{expired} expired, {len(self.fetched)} answered"
        assert self.manager.fetch.follower_expirations == 0, "a follower's request waited"

    def check_all_answered(self) -> None:
        """Raise unless both requests were answered in time, and nothing is left."""
        self.check_produced_once()
        assert self.produced[0].error is ErrorCode.NONE, self.produced[0].error
        assert len(self.fetched) == 1, f"fetched {len(self.fetched)} times"
        assert [record.value for record in self.fetched[0].records] == [_RECORD]
        for purgatory in (self.produces, self.fetches):
            purgatory.purge_completed()
            left = (purgatory.watched(), purgatory.num_keys(), purgatory.num_delayed())
            assert left == (0, 0, 0), f"watches, keys and time-outs left: {left}"

    def check_both_stopped(self) -> None:
        """Raise unless the produce request was answered once, and both replicas are stopped."""
        assert len(self.produced) == 1, f"answered {len(self.produced)} times"
        left = [key for key in (_PARTITION, _ANOTHER) if self.manager.partition(key)]
        assert not left, f"stopped, and still there: {left}"

    def check_one_stopped(self) -> None:
        """Raise unless the one replica is stopped, and the broker leads the other partition."""
        assert self.manager.partition(_PARTITION) is None, "stopped, and still there"
        assert self.manager.partition(_ANOTHER) is not None, "led, and not there"

    def check_consumed(self) -> None:
        """Raise unless the consumer's fetch was answered."""
        assert len(self.fetched) == 1, f"fetched {len(self.fetched)} times"

    def check_in_sync_again(self) -> None:
        """Raise unless the follower is in sync, as the new epoch says."""
        assert self._in_sync() == [_BROKER, _FOLLOWER], f"in sync are {self._in_sync()}"

    def check_answered_if_replicated(self) -> None:
        """Raise unless the produce was answered exactly if the record is replicated."""
        replicated = self._partition().log.high_watermark > 0
        assert len(self.produced) == replicated, f"answered {len(self.produced)} times"

    def check_alone(self) -> None:
        """Raise if a follower is in sync that has not fetched in this epoch."""
        assert self._in_sync() == [_BROKER], f"in sync are {self._in_sync()}"

    def misuse(self) -> None:
        """Raise unless old epochs, strange replicas, unknown partitions and sizes are refused."""
        manager, alone = self.manager, [_BROKER]
        lead = partial(manager.become_leader, replica_ids=alone)
        produce = partial(self.produce, _OTHER_RECORD, acks=1)
        self.refuses(
            IllegalArgumentError,
            # No epoch, for a partition that is there and for one that is not.
            partial(lead, _PARTITION, _NO_EPOCH, in_sync_ids=alone),
            partial(lead, _UNKNOWN, _NO_EPOCH, in_sync_ids=alone),
            partial(manager.become_follower, _PARTITION, _NO_EPOCH, _FOLLOWER),
            partial(manager.become_follower, _UNKNOWN, _NO_EPOCH, _FOLLOWER),
            # In sync without this broker, or with one that is no replica.
            partial(lead, _PARTITION, _NEWEST_EPOCH, in_sync_ids=[]),
            partial(lead, _PARTITION, _NEWEST_EPOCH, in_sync_ids=[_BROKER, _FOLLOWER]),
            partial(manager.append_as_follower, _UNKNOWN, [], 0),
            partial(manager.truncate_as_follower, _UNKNOWN, 0),
            partial(self.produce, cast(bytes, "no bytes")),
            partial(
                manager.append_records,
                timeout_ms=_SOME_TIME,
                required_acks=1,
                entries={_PARTITION: []},
                callback=self._never_answered,
            ),
        )
        for wrong in WRONG_NUMBERS:
            self.refuses(
                IllegalArgumentError,
                partial(self._make, min_in_sync_replicas=wrong),
                partial(self._make, segment_bytes=wrong),
                partial(self._make, replica_lag_time_max_ms=wrong),
                partial(self._make, broker_id=wrong),
                partial(self._fetch, None, 0, _NOW, self._take, min_bytes=wrong),
                partial(self._fetch, None, 0, _NOW, self._take, max_bytes=wrong),
                partial(self._fetch, None, 0, _NOW, self._take, partition_bytes=wrong),
                partial(produce, timeout_ms=wrong),
            )
        for no_number in WRONG_NUMBERS[1:]:
            waits = partial(self._fetch, None, 0, no_number, self._take)
            self.refuses(IllegalArgumentError, waits)

    def state(self) -> object:
        """Return what the partition is, and what was answered."""
        partition = self.manager.partition(_PARTITION)
        log = None if partition is None else (partition.leader_epoch, partition.log.log_end_offset)
        return log, self.manager.partition(_UNKNOWN), len(self.produced), len(self.fetched)

    def _check_leader(self) -> None:
        """Raise unless a leader refuses what followers are given; empty fetches are answered."""
        self.misuse_alone()
        manager, log = self.manager, self._partition().log
        end = log.log_end_offset
        record = LogRecord(offset=end, batch_offset=end, leader_epoch=0, value=_OTHER_RECORD)
        self.refuses(
            IllegalArgumentError,
            partial(self.lead, 0),
            partial(manager.become_follower, _PARTITION, 0, _FOLLOWER),
            partial(manager.append_as_follower, _PARTITION, [record], 0),
            partial(manager.truncate_as_follower, _PARTITION, 0),
        )
        assert log.log_end_offset == end, "what was refused was done"
        answers: list[int] = []
        params = FetchParams(
            replica_id=None, max_wait_ms=_SOME_TIME, min_bytes=1, max_bytes=_ENOUGH_BYTES
        )
        manager.fetch_messages(params, {}, lambda data: answers.append(len(data)))
        assert answers == [0], f"asked for no partition, and answered {answers}"

    def check_follows(self) -> None:
        """Raise unless the log has the leader's record, and what does not fit it is refused."""
        log = self._log()
        assert log == [_OTHER_RECORD], f"the log has {log}"
        assert not self._in_sync(), "a follower says who is in sync"
        ends = self._partition().log.end_offset_for_epoch(1)
        assert ends == EpochEndOffset(leader_epoch=1, end_offset=1), ends
        self.refuses(
            IllegalArgumentError,
            partial(self.take, 1, 1),
            partial(self.manager.truncate_as_follower, _PARTITION, len(log) + 1),
        )
        self.manager.truncate_as_follower(_PARTITION, 0)
        left = self._partition().log.end_offset_for_epoch(1)
        assert left is None, f"an empty log knows of an epoch: {left}"

    def check_in_sync_has_all(self) -> None:
        """Raise if the follower, which has no record, is in sync where one is replicated."""
        replicated, in_sync = self._partition().log.high_watermark, self._in_sync()
        assert not replicated or _FOLLOWER not in in_sync, f"{replicated} replicated by {in_sync}"

    def check_told_by_its_leader(self) -> None:
        """Raise if consumers read a record of epoch 2 that its leader never said is replicated."""
        epoch = self._partition().log.end_offset_for_epoch(2)
        assert not epoch or not self._log(), "replicated, by the word of another leader"

    def check_produced_once(self) -> None:
        """Raise unless the produce request was answered once, and counted if it timed out."""
        self._check_leader()
        assert len(self.produced) == 1, f"answered {len(self.produced)} times"
        timed_out = self.produced[0].error is ErrorCode.REQUEST_TIMED_OUT
        expired = self.manager.produce.expirations
        known = expired == timed_out or self.has_raised
        assert known, f"timed out: {timed_out}, counted: {expired}"

    def check_acknowledged_is_there(self) -> None:
        """Raise if the record was acknowledged and is not in the log."""
        self.check_produced_once()
        log = self._log()
        acknowledged = self.produced[0].error is ErrorCode.NONE
        assert not acknowledged or log.count(_RECORD), f"acknowledged, and the log has {log}"

    def _partition(self) -> Partition:
        partition = self.manager.partition(_PARTITION)
        assert partition is not None
        return partition

    def _in_sync(self) -> list[int]:
        return sorted(self._partition().in_sync_replica_ids)

    def _log(self) -> list[bytes]:
        """Return the records that consumers can read, a segment at a time."""
        read = partial(self._partition().log.read, up_to_high_watermark=True, max_bytes=1)
        values: list[bytes] = []
        while records := read(len(values), at_least_one=True).records:
            values += [record.value for record in records]
        return values

    def _fetch(
        self,
        replica_id: int | None,
        offset: int,
        max_wait_ms: Millis,
        take: FetchCallback,
        *,
        min_bytes: int = 1,
        max_bytes: int = _ENOUGH_BYTES,
        partition_bytes: int = _ENOUGH_BYTES,
        epoch: int | None = None,
    ) -> None:
        partition = FetchPartition(
            fetch_offset=offset, max_bytes=partition_bytes, current_leader_epoch=epoch
        )
        params = FetchParams(
            replica_id=replica_id,
            max_wait_ms=max_wait_ms,
            min_bytes=min_bytes,
            max_bytes=max_bytes,
        )
        with self.surviving():
            self.manager.fetch_messages(params, {_PARTITION: partition}, take)

    @staticmethod
    def _never_answered(responses: object) -> None:
        raise AssertionError(f"refused, and answered {responses}")

    def _drop(self, data: Mapping[TopicPartition, FetchPartitionData]) -> None:
        """Ignore the records of a follower."""
        del data
        self.answered()

    def _take(self, data: Mapping[TopicPartition, FetchPartitionData]) -> None:
        self.fetched.append(data[_PARTITION])
        self.answered()
