"""Random cases of a replica manager.

A fetch reads near the end of a log, because it can wait there.
"""

import random
from collections.abc import Iterator, Mapping
from itertools import permutations

from wheelproof_spec.base.calls import Advance, PurgeCompleted, Reset
from wheelproof_spec.base.results.tally import Tally
from wheelproof_spec.base.suite import CaseSpace, DrawnCase, DrawnStep
from wheelproof_spec.components.replication.component import (
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
    ReplicationConfig,
    ReplicationLimit,
    RequestName,
    StopReplica,
    TruncateAsFollower,
)
from wheelproof_spec.components.replication.oracle import ReplicationLedger
from wheelproof_spec.drive.drawn_cases import draw_case

PARTITIONS = ("a", "b", "c")
"""The partitions; the last one is led less often, and is unknown in most cases."""
BROKER = 1
FOLLOWERS = (2, 3)
STRANGER = 9

_PARTITIONS = (PARTITIONS[0], PARTITIONS[0], *PARTITIONS)
_LISTS = (
    *((PARTITIONS[0],),) * 3,
    *(names for count in (1, 2, 3) for names in permutations(PARTITIONS, count)),
)
_IN_SYNC = ((), (2,), (3,), (2, 3))
_ACKS = (-1, -1, -1, 0, 1, 2)
_REPLICAS = (*FOLLOWERS, *FOLLOWERS, STRANGER)
_CHANGES = ("follow", "stop", "truncate", "lead too late")
_BACK = (0, 1, 2, 3, 4, 12, -1)
_FROM_END = (0, 0, 0, 1, -1, -2, -3, -4, -5, -6, None, None)
_MOST_BYTES = 120
_EPOCHS = 6
_LAST_EPOCHS = 12
_MOST_RECORDS = 4
_MOST_SIZE = 40
_MOST_WAIT_MS = 60
_MOST_JUMP_MS = 80
_PLACE = (len(_FROM_END), _MOST_BYTES + 1, _EPOCHS, _LAST_EPOCHS)
_FETCH = (_MOST_WAIT_MS + 1, _MOST_BYTES + 1, _MOST_BYTES + 1, len(_LISTS), *_PLACE * 3)
_RECORDS = (_MOST_RECORDS, *(_MOST_SIZE,) * _MOST_RECORDS)
_CONFIG = (121, 3, 50, 51, *_RECORDS)
_KINDS = {
    "append": (len(_ACKS), _MOST_WAIT_MS, len(_LISTS), *_RECORDS),
    "consume": _FETCH,
    "replicate": (len(_REPLICAS), *_FETCH),
    "lead": (len(_PARTITIONS), len(_IN_SYNC)),
    # One kind for all changes that end a leadership, so that most of a case has leaders.
    "change": (len(_CHANGES), len(_PARTITIONS), len(_BACK)),
    "catch_up": (len(FOLLOWERS),),
    "fall_behind": (len(FOLLOWERS),),
    "chase": (len(FOLLOWERS),),
    "keep_up": (2,),
    "advance": (_MOST_JUMP_MS + 1,),
}


class ReplicationCases(CaseSpace[ReplicationCall]):
    """Random cases: appends, fetches, changes of leaders and clock; at the end requests expire."""

    def __init__(self, tally: Tally, ahead: ReplicationLedger) -> None:
        """Draw what `tally` does not skip; `ahead` follows the calls before they are answered."""
        self._errs = not tally.skips(ReplicationLimit.WRONG_CONTROLLER)
        self._ahead = ahead

    def draw(self, chance: random.Random) -> DrawnCase:
        """Return a random case; see `CaseSpace.draw`."""
        return draw_case(chance, _CONFIG, _KINDS)

    def calls(self, case: DrawnCase) -> Iterator[ReplicationCall]:
        """Yield the calls of a case; see `CaseSpace.calls`."""
        for call in self._drawn(case):
            self._ahead.foresee(call)
            yield call

    def _drawn(self, case: DrawnCase) -> Iterator[ReplicationCall]:
        segment_bytes, in_sync, lag_ms, start_ms, count, *sizes = case.config
        config = ReplicationConfig(
            segment_bytes=40 + segment_bytes,
            min_in_sync_replicas=1 + in_sync,
            replica_lag_time_max_ms=1 + lag_ms,
            start_ms=start_ms,
        )
        walk = _Walk(config, self._ahead, controller_errs=self._errs)
        yield Reset(config=config)
        for partition in PARTITIONS[:2]:
            yield walk.lead(partition, FOLLOWERS)
        yield walk.append(1, 1, PARTITIONS[:2], sizes[: 1 + count])
        for step in case.steps:
            yield from walk.take(step)
        yield Advance(to_ms=self._ahead.last_expiry_ms())
        yield PurgeCompleted()


class _Walk:
    def __init__(
        self, config: ReplicationConfig, ahead: ReplicationLedger, *, controller_errs: bool
    ) -> None:
        self._ahead = ahead
        self._errs = controller_errs
        self._now_ms = config.start_ms
        self._half_lag_ms = config.replica_lag_time_max_ms // 2
        self._epochs: dict[PartitionName, int] = {}
        self._requests = 0

    def take(self, step: DrawnStep) -> Iterator[ReplicationCall]:
        match step:
            case "append", (acks, timeout, names, count, *sizes):
                yield self.append(_ACKS[acks], 1 + timeout, _LISTS[names], sizes[: 1 + count])
            case "consume", numbers:
                yield self._fetch(None, numbers)
            case "replicate", (replica, *numbers):
                yield self._fetch(_REPLICAS[replica], tuple(numbers))
            case "catch_up", (follower,):
                yield self._catch_up(FOLLOWERS[follower])
            case "fall_behind", (follower,):
                yield from self._fall_behind(FOLLOWERS[follower])
            case "chase", (follower,):
                yield from self._chase(*(FOLLOWERS[follower:] + FOLLOWERS[:follower]))
            case "lead", (place, in_sync):
                yield self.lead(_PARTITIONS[place], _IN_SYNC[in_sync])
            case "change", (change, place, back):
                yield from self._change(_CHANGES[change], _PARTITIONS[place], _BACK[back])
            case "keep_up", (purge,):
                yield PurgeCompleted() if purge else MaybeShrinkInSync()
            case "advance", (jump_ms,):
                yield self._advance(jump_ms)
            case _:
                pass

    def lead(self, partition: PartitionName, in_sync: tuple[int, ...]) -> ReplicationCall:
        epoch = self._next_epoch(partition)
        return _leader(partition, epoch, (BROKER, *FOLLOWERS), (BROKER, *in_sync))

    def append(
        self, acks: int, timeout_ms: int, names: tuple[PartitionName, ...], sizes: list[int]
    ) -> ReplicationCall:
        records = tuple(NewRecord(size=1 + size) for size in sizes)
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

    def _change(self, change: str, name: PartitionName, back: int) -> Iterator[ReplicationCall]:
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
            yield self.append(1, 1, PARTITIONS[:1], [0])
            yield self._follow(follower, {PARTITIONS[0]: 0})
            yield self._advance(self._half_lag_ms)
        yield MaybeShrinkInSync()

    def _chase(self, follower: int, in_sync: int) -> Iterator[ReplicationCall]:
        """Yield fetches of an out-of-sync follower at the log end of its previous fetch.

        Then it stops. It holds the high watermark back until it was caught up too long ago.
        """
        name = PARTITIONS[0]
        yield self.lead(name, (in_sync,))
        for _ in range(2):
            before = max(self._ahead.log_end(name), 0)
            yield self.append(1, 1, (name,), [0])
            yield self._catch_up(in_sync)
            yield self._follow(follower, {name: before})
        yield self.append(1, 1, (name,), [0])
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

    def _fetch(self, replica: int | None, numbers: tuple[int, ...]) -> ReplicationCall:
        max_wait_ms, min_bytes, max_bytes, names, *places = numbers
        rest = iter(places)
        return FetchMessages(
            request=self._next_name(),
            replica_id=replica,
            max_wait_ms=max_wait_ms,
            min_bytes=min_bytes,
            max_bytes=max_bytes,
            partitions=tuple(
                self._place(name, next(rest), next(rest), next(rest), next(rest))
                for name in _LISTS[names]
            ),
        )

    def _place(
        self, partition: PartitionName, from_end: int, max_bytes: int, current: int, last: int
    ) -> FetchPartition:
        """Return the place to read: mostly near the end, with epochs that let the fetch wait."""
        end, epoch = self._ahead.log_end(partition), self._epoch(partition)
        behind = _FROM_END[from_end]
        currents = (None, None, epoch, epoch, max(epoch - 1, 0), epoch + 1)
        lasts = (None, None, None, *range(max(epoch - 2, 0), epoch + 2))
        return FetchPartition(
            partition=partition,
            fetch_offset=0 if behind is None else max(end + behind, -1),
            max_bytes=max_bytes,
            current_leader_epoch=currents[current],
            last_fetched_epoch=lasts[last % len(lasts)],
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
