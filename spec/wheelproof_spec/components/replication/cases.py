"""The suite of `wheelproof conform`: named cases, driven cases from the work, and their judge.

A driven fetch reads near the end of a log, because it can wait there.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial

from wheelproof_spec.base.calls import Advance, PurgeCompleted, Reset
from wheelproof_spec.base.results.tally import Tally
from wheelproof_spec.base.suite import CaseSpace, Suite, any_suite
from wheelproof_spec.components.replication.component import (
    DEFINITION,
    AppendRecords,
    BecomeFollower,
    BecomeLeader,
    FetchMessages,
    FetchPartition,
    MaybeShrinkInSync,
    NewRecord,
    PartitionName,
    PartitionRecords,
    ReplicationCall,
    ReplicationLimit,
    RequestName,
    StopReplica,
    TruncateAsFollower,
)
from wheelproof_spec.components.replication.oracle import ReplicationLedger
from wheelproof_spec.components.replication.work import (
    BROKER,
    FOLLOWERS,
    PARTITIONS,
    CatchUp,
    Change,
    ChangeRole,
    Chase,
    DrivenSteps,
    FallBehind,
    Fetch,
    Lead,
    Place,
    Produce,
    ReplicationSetup,
    ReplicationStep,
)
from wheelproof_spec.drive.case_table import read_cases
from wheelproof_spec.drive.work import AdvanceBy, DrivenWork


def _drawn(profile: str, tally: Tally) -> tuple[CaseSpace[ReplicationCall], ReplicationLedger]:
    """Return the driven cases that `tally` does not skip, and their judge.

    At the end of a case requests expire.
    """
    # A second ledger follows the calls before they are answered.
    ahead = ReplicationLedger(profile, tally)
    errs = not tally.skips(ReplicationLimit.WRONG_CONTROLLER)

    def calls(
        setup: ReplicationSetup, steps: Iterable[ReplicationStep]
    ) -> Iterator[ReplicationCall]:
        walk = _Walk(setup, ahead, controller_errs=errs)
        for call in walk.through(steps):
            ahead.foresee(call)
            yield call

    return DrivenWork(DrivenSteps(), calls), ReplicationLedger(profile, tally)


class _Walk:
    """Turns steps into calls: it names requests, and keeps the time and the epochs."""

    def __init__(
        self, setup: ReplicationSetup, ahead: ReplicationLedger, *, controller_errs: bool
    ) -> None:
        self._setup = setup
        self._ahead = ahead
        self._errs = controller_errs
        self._now_ms = setup.config.start_ms
        self._half_lag_ms = setup.config.replica_lag_time_max_ms // 2
        self._epochs: dict[PartitionName, int] = {}
        self._requests = 0

    def through(self, steps: Iterable[ReplicationStep]) -> Iterator[ReplicationCall]:
        """Yield the calls; after them no request waits."""
        yield Reset(config=self._setup.config)
        for partition in PARTITIONS[:2]:
            yield self._lead(partition, FOLLOWERS)
        yield self._append(1, 1, PARTITIONS[:2], self._setup.sizes)
        for step in steps:
            yield from self._take(step)
        yield Advance(to_ms=self._ahead.last_expiry_ms())
        yield PurgeCompleted()

    def _take(self, step: ReplicationStep) -> Iterator[ReplicationCall]:
        match step:
            case Produce(partitions=partitions, sizes=sizes):
                yield self._append(step.required_acks, step.timeout_ms, partitions, sizes)
            case Fetch():
                yield self._fetch(step)
            case CatchUp(follower=follower):
                yield self._catch_up(follower)
            case FallBehind(follower=follower):
                yield from self._fall_behind(follower)
            case Chase(follower=follower):
                other = next(one for one in FOLLOWERS if one != follower)
                yield from self._chase(follower, other)
            case Lead(partition=partition, in_sync=in_sync):
                yield self._lead(partition, in_sync)
            case ChangeRole(change=change, partition=partition, back=back):
                yield from self._change(change, partition, back)
            case MaybeShrinkInSync() | PurgeCompleted():
                yield step
            case AdvanceBy(jump_ms=jump_ms):
                yield self._advance(jump_ms)
            case _:
                raise AssertionError(step)

    def _lead(self, partition: PartitionName, in_sync: tuple[int, ...]) -> ReplicationCall:
        epoch = self._next_epoch(partition)
        return _leader(partition, epoch, (BROKER, *FOLLOWERS), (BROKER, *in_sync))

    def _append(
        self, acks: int, timeout_ms: int, names: tuple[PartitionName, ...], sizes: Sequence[int]
    ) -> ReplicationCall:
        records = tuple(NewRecord(size=size) for size in sizes)
        return AppendRecords(
            request=self._next_name(),
            required_acks=acks,
            timeout_ms=timeout_ms,
            # The first record goes to all of these partitions, the others to some.
            entries=tuple(
                PartitionRecords(partition=name, records=records[: max(len(records) - place, 1)])
                for place, name in enumerate(names)
            ),
        )

    def _change(self, change: Change, name: PartitionName, back: int) -> Iterator[ReplicationCall]:
        match change:
            case "follow":
                epoch = self._next_epoch(name)
                yield BecomeFollower(partition=name, leader_epoch=epoch, leader_id=BROKER + 1)
            case "stop":
                yield StopReplica(partition=name)
            case "truncate":
                offset = self._ahead.batch_base(name, back)
                if offset is None and self._errs:
                    # Refused: the broker leads, or it is beyond the end. Never within a batch.
                    offset = 0 if back >= 0 else self._ahead.log_end(name) + 1
                if offset is not None:
                    yield TruncateAsFollower(partition=name, offset=offset)
            case _ if self._errs:
                yield _leader(name, self._epoch(name), (BROKER,), (BROKER,))
            case _:
                pass

    def _catch_up(self, follower: int) -> ReplicationCall:
        """Return a fetch at the end of the logs: then the high watermark can rise."""
        return self._follow(
            follower, {name: max(self._ahead.log_end(name), 0) for name in PARTITIONS[:2]}
        )

    def _fall_behind(self, follower: int) -> Iterator[ReplicationCall]:
        """Yield fetches of a follower that never reaches the log end of its previous fetch."""
        for _ in range(3):
            yield self._append(1, 1, PARTITIONS[:1], [1])
            yield self._follow(follower, {PARTITIONS[0]: 0})
            yield self._advance(self._half_lag_ms)
        yield MaybeShrinkInSync()

    def _chase(self, follower: int, in_sync: int) -> Iterator[ReplicationCall]:
        """Yield fetches of an out-of-sync follower at the log end of its previous fetch.

        Then it stops. It holds the high watermark back until it was caught up too long ago.
        """
        name = PARTITIONS[0]
        yield self._lead(name, (in_sync,))
        for _ in range(2):
            before = max(self._ahead.log_end(name), 0)
            yield self._append(1, 1, (name,), [1])
            yield self._catch_up(in_sync)
            yield self._follow(follower, {name: before})
        yield self._append(1, 1, (name,), [1])
        yield self._catch_up(in_sync)
        yield self._advance(2 * self._half_lag_ms + 2)
        yield self._catch_up(in_sync)
        yield self._catch_up(in_sync)

    def _follow(self, follower: int, offsets: Mapping[PartitionName, int]) -> ReplicationCall:
        return FetchMessages(
            request=self._next_name(),
            replica_id=follower,
            max_wait_ms=0,
            min_bytes=0,
            max_bytes=0,
            partitions=tuple(
                FetchPartition(partition=name, fetch_offset=offset, max_bytes=0)
                for name, offset in offsets.items()
            ),
        )

    def _advance(self, jump_ms: int) -> ReplicationCall:
        self._now_ms += jump_ms
        return Advance(to_ms=self._now_ms)

    def _fetch(self, fetch: Fetch) -> ReplicationCall:
        return FetchMessages(
            request=self._next_name(),
            replica_id=fetch.replica_id,
            max_wait_ms=fetch.max_wait_ms,
            min_bytes=fetch.min_bytes,
            max_bytes=fetch.max_bytes,
            partitions=tuple(self._place(*place) for place in fetch.places.items()),
        )

    def _place(self, partition: PartitionName, place: Place) -> FetchPartition:
        behind, current = place.from_end, place.current
        end, epoch = self._ahead.log_end(partition), self._epoch(partition)
        lasts = (None, None, None, *range(max(epoch - 2, 0), epoch + 2))
        return FetchPartition(
            partition=partition,
            fetch_offset=0 if behind is None else max(end + behind, -1),
            max_bytes=place.max_bytes,
            current_leader_epoch=None if current is None else max(epoch + current, 0),
            last_fetched_epoch=lasts[place.last % len(lasts)],
        )

    def _next_name(self) -> RequestName:
        self._requests += 1
        return f"r{self._requests}"

    def _next_epoch(self, partition: PartitionName) -> int:
        self._epochs[partition] = self._epochs.get(partition, -1) + 1
        return self._epochs[partition]

    def _epoch(self, partition: PartitionName) -> int:
        return max(self._epochs.get(partition, 0), 0)


def _leader(
    partition: PartitionName, epoch: int, replicas: tuple[int, ...], in_sync: tuple[int, ...]
) -> ReplicationCall:
    return BecomeLeader(
        partition=partition, leader_epoch=epoch, replica_ids=replicas, in_sync_ids=in_sync
    )


REPLICATION = Suite(
    definition=DEFINITION,
    judge=ReplicationLedger,
    scenarios=partial(read_cases, __file__, DEFINITION),
    drawn=_drawn,
)
SUITE = any_suite(REPLICATION)
