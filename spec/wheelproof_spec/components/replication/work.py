"""The work of a replica manager: what is asked of it, by one thread or by several.

A driven fetch reads near the end of a log, because it can wait there. In a burst each consumer
reads at the end that it sees, and each follower where its own log ends.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Literal

from wheelproof_spec.base.calls import Close, PurgeCompleted
from wheelproof_spec.base.component import Call
from wheelproof_spec.components.replication.component import (
    ALL_ACKS,
    MaybeShrinkInSync,
    PartitionName,
    ReplicationConfig,
)
from wheelproof_spec.drive.work import AdvanceBy, Alphabet, AndCall, Draw, Kind, always

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
_CHANGES: Sequence["Change"] = ("follow", "stop", "truncate", "lead too late")
_BACK = (0, 1, 2, 3, 4, 12, -1)
_FROM_END = (0, 0, 0, 1, -1, -2, -3, -4, -5, -6, None, None)
_EPOCHS_FROM_CURRENT = (None, None, 0, 0, -1, 1)
_MOST_BYTES = 120
_LAST_EPOCHS = 12
_MOST_RECORDS = 4
_MOST_SIZE = 40
_MOST_WAIT_MS = 60
_MOST_JUMP_MS = 80
_SEGMENT_BYTES = range(40, 161)

Change = Literal["follow", "stop", "truncate", "lead too late"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Produce(Call):
    """Append records of these sizes: the first to all of the partitions, the others to some."""

    required_acks: int
    timeout_ms: int
    partitions: tuple[PartitionName, ...]
    sizes: tuple[int, ...] = (10,)


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a fetch reads: so many records from the end of the log, or at its beginning.

    The epoch that the fetcher takes for current is so far from the current one. That of its last
    record is one of those that are near, counted round.
    """

    from_end: int | None
    max_bytes: int
    current: int | None
    last: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetch(Call):
    """Fetch as a consumer, or as a follower."""

    replica_id: int | None
    max_wait_ms: int
    min_bytes: int
    max_bytes: int
    places: Mapping[PartitionName, Place]


@dataclass(frozen=True, slots=True, kw_only=True)
class Consume(Call):
    """Fetch as a consumer that has read up to the end that consumers see."""

    partitions: tuple[PartitionName, ...]
    max_wait_ms: int
    min_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Replicate(Call):
    """Fetch what a follower lacks."""

    follower: int
    partition: PartitionName
    max_wait_ms: int = 0
    min_bytes: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplicateAll(Call):
    """Let each follower fetch twice without waiting, so that the high watermark can rise."""

    partition: PartitionName


@dataclass(frozen=True, slots=True, kw_only=True)
class Lead(Call):
    """Lead a partition, with these followers in sync."""

    partition: PartitionName
    in_sync: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeRole(Call):
    """End the leadership of a partition; or what no controller says; `back` is where to cut."""

    change: Change
    partition: PartitionName
    back: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LoseAndLeadAgain(Call):
    """Follow another broker, drop the last records, and lead again, alone in sync."""

    partition: PartitionName
    records: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StopAndLeadAgain(Call):
    """Stop a replica, and lead again, alone in sync."""

    partition: PartitionName


@dataclass(frozen=True, slots=True, kw_only=True)
class AskGauges(Call):
    """Ask how much waits in both purgatories, and read a log."""

    partition: PartitionName


@dataclass(frozen=True, slots=True, kw_only=True)
class CatchUp(Call):
    """Let a follower fetch at the end of the logs."""

    follower: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FallBehind(Call):
    """Let a follower fetch, and never reach the log end of its previous fetch."""

    follower: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Chase(Call):
    """Let an out-of-sync follower fetch at the log end of its previous fetch, then stop."""

    follower: int


ReplicationStep = (
    Produce
    | AndCall
    | Fetch
    | Consume
    | Replicate
    | ReplicateAll
    | Lead
    | ChangeRole
    | LoseAndLeadAgain
    | StopAndLeadAgain
    | CatchUp
    | FallBehind
    | Chase
    | MaybeShrinkInSync
    | PurgeCompleted
    | AdvanceBy
    | AskGauges
    | Close
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplicationSetup:
    """A broker, and the sizes of the first records of a driven case."""

    config: ReplicationConfig
    sizes: tuple[int, ...] = ()


class DrivenSteps:
    """The work of one caller, who has all roles."""

    def setup(self, draw: Draw) -> ReplicationSetup:
        """Return a broker with small segments."""
        config = ReplicationConfig(
            segment_bytes=draw.among(_SEGMENT_BYTES),
            min_in_sync_replicas=draw.among((1, 2, 3)),
            replica_lag_time_max_ms=1 + draw.below(50),
            start_ms=draw.below(51),
        )
        return ReplicationSetup(config=config, sizes=_sizes(draw))

    def kinds(self) -> Alphabet[ReplicationSetup, ReplicationStep]:
        """Return the alphabet; see `Work.kinds`."""
        return {
            "append": Kind(draw=_produce),
            "consume": Kind(draw=lambda draw, _: _fetch(draw, None)),
            "replicate": Kind(draw=lambda draw, _: _fetch(draw, draw.among(_REPLICAS))),
            "lead": Kind(
                draw=lambda draw, _: Lead(
                    partition=draw.among(_PARTITIONS), in_sync=draw.among(_IN_SYNC)
                )
            ),
            # One kind for all changes that end a leadership, so that most of a case has leaders.
            "change": Kind(
                draw=lambda draw, _: ChangeRole(
                    change=draw.among(_CHANGES),
                    partition=draw.among(_PARTITIONS),
                    back=draw.among(_BACK),
                )
            ),
            "catch_up": Kind(draw=lambda draw, _: CatchUp(follower=draw.among(FOLLOWERS))),
            "fall_behind": Kind(draw=lambda draw, _: FallBehind(follower=draw.among(FOLLOWERS))),
            "chase": Kind(draw=lambda draw, _: Chase(follower=draw.among(FOLLOWERS))),
            "keep_up": Kind(draw=_keep_up),
            "advance": Kind(draw=lambda draw, _: AdvanceBy(jump_ms=draw.below(_MOST_JUMP_MS + 1))),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class BurstSteps:
    """The work of threads that produce, consume, replicate, expire and elect.

    With `programs` they stop replicas, purge, ask and close the broker, too.
    """

    programs: bool = False
    partitions: Sequence[PartitionName] = PARTITIONS[:2]
    timeouts_ms: Sequence[int] = (1, 7, 40)

    def setup(self, draw: Draw) -> ReplicationSetup:
        """Return a broker with segments of one record, of a few, or of all."""
        segment_bytes = draw.among((24, 60, 1_000))
        in_sync = draw.among((1, 1, 2))
        return ReplicationSetup(
            config=ReplicationConfig(segment_bytes=segment_bytes, min_in_sync_replicas=in_sync)
        )

    def kinds(self) -> Alphabet[ReplicationSetup, ReplicationStep]:
        """Return the alphabet; see `Work.kinds`."""
        partitions, timeouts_ms, enough = self.partitions, self.timeouts_ms, (1, 30)
        lists = [some for count in (1, 2) for some in permutations(partitions, count)]
        kinds: dict[str, Kind[ReplicationSetup, ReplicationStep]] = {
            "produce": Kind(
                draw=lambda draw, _: Produce(
                    required_acks=ALL_ACKS,
                    timeout_ms=draw.among(timeouts_ms),
                    partitions=draw.among(lists),
                ),
                weight=2,
            ),
            "hurry": Kind(
                draw=lambda draw, _: Produce(
                    required_acks=1,
                    timeout_ms=0,
                    partitions=(draw.among(partitions),),
                    sizes=(10, 10),
                ),
                weight=1,
            ),
            "call_back": Kind(draw=lambda draw, _: _calls_back(draw, *partitions), weight=1),
            "shrink": Kind(draw=always(MaybeShrinkInSync()), weight=1),
            "consume": Kind(
                draw=lambda draw, _: Consume(
                    partitions=draw.among(lists),
                    max_wait_ms=draw.among(timeouts_ms),
                    min_bytes=draw.among(enough),
                ),
                weight=1,
            ),
            "replicate": Kind(
                draw=lambda draw, _: Replicate(
                    follower=draw.among(FOLLOWERS),
                    partition=draw.among(partitions),
                    max_wait_ms=draw.among((0, 7)),
                    min_bytes=draw.among(enough),
                ),
                weight=1,
            ),
            "round": Kind(
                draw=lambda draw, _: ReplicateAll(partition=draw.among(partitions)), weight=2
            ),
            "advance": Kind(draw=lambda draw, _: AdvanceBy(jump_ms=draw.between(1, 10)), weight=1),
            "lose": Kind(
                draw=lambda draw, _: LoseAndLeadAgain(
                    partition=draw.among(partitions), records=draw.below(3)
                ),
                weight=1,
            ),
        }
        if self.programs:
            # Callbacks are drawn otherwise.
            del kinds["call_back"]
            kinds["stop"] = Kind(
                draw=lambda draw, _: StopAndLeadAgain(partition=draw.among(partitions)), weight=1
            )
            kinds["purge"] = Kind(draw=always(PurgeCompleted()), weight=1)
            kinds["ask"] = Kind(
                draw=lambda draw, _: AskGauges(partition=draw.among(partitions)), weight=1
            )
            kinds["close"] = Kind(draw=always(Close()), weight=1)
        return kinds


BURSTS = BurstSteps()
PROGRAMS = BurstSteps(programs=True)
"""The work of programs, which a model checker explores."""


def _calls_back(draw: Draw, here: PartitionName, there: PartitionName) -> ReplicationStep:
    """Return an append to one partition, whose callback calls for the other one.

    Never the other way round: a callback runs under the lock of its request, so two requests whose
    callbacks complete each other may wait for each other for ever.
    """
    then: Sequence[ReplicationStep] = (
        Produce(required_acks=1, timeout_ms=0, partitions=(there,)),
        Replicate(follower=FOLLOWERS[0], partition=there),
        LoseAndLeadAgain(partition=there, records=1),
    )
    return AndCall(
        step=Produce(required_acks=draw.among((ALL_ACKS, 1)), timeout_ms=7, partitions=(here,)),
        then=draw.among(then),
    )


def _produce(draw: Draw, setup: ReplicationSetup) -> ReplicationStep:
    del setup
    return Produce(
        required_acks=draw.among(_ACKS),
        timeout_ms=1 + draw.below(_MOST_WAIT_MS),
        partitions=draw.among(_LISTS),
        sizes=_sizes(draw),
    )


def _keep_up(draw: Draw, setup: ReplicationSetup) -> ReplicationStep:
    del setup
    return PurgeCompleted() if draw.below(2) else MaybeShrinkInSync()


def _sizes(draw: Draw) -> tuple[int, ...]:
    count = 1 + draw.below(_MOST_RECORDS)
    return tuple(1 + draw.below(_MOST_SIZE) for _ in range(_MOST_RECORDS))[:count]


def _fetch(draw: Draw, replica_id: int | None) -> ReplicationStep:
    max_wait_ms = draw.below(_MOST_WAIT_MS + 1)
    min_bytes, max_bytes = draw.below(_MOST_BYTES + 1), draw.below(_MOST_BYTES + 1)
    partitions = draw.among(_LISTS)
    # As many numbers in each fetch: so a fetch that shrinks keeps its places.
    places = [_place(draw) for _ in PARTITIONS]
    return Fetch(
        replica_id=replica_id,
        max_wait_ms=max_wait_ms,
        min_bytes=min_bytes,
        max_bytes=max_bytes,
        places=dict(zip(partitions, places, strict=False)),
    )


def _place(draw: Draw) -> Place:
    """Return the place to read: mostly near the end, with epochs that let the fetch wait."""
    return Place(
        from_end=draw.among(_FROM_END),
        max_bytes=draw.below(_MOST_BYTES + 1),
        current=draw.among(_EPOCHS_FROM_CURRENT),
        last=draw.below(_LAST_EPOCHS),
    )
