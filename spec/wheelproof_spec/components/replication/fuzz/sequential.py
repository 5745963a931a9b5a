"""The sequential machine of the replica manager: one thread, beside the ledger."""

from collections.abc import Mapping
from typing import Unpack

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from wheelproof_spec.base.calls import Advance, PurgeCompleted, Reset
from wheelproof_spec.base.results.fuzz_report import FuzzReport
from wheelproof_spec.base.results.tally import Tally
from wheelproof_spec.components.replication.component import (
    WHEELPROOF,
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
    ReplicationObservation,
    ReplicationPort,
    RequestName,
    StopReplica,
    TruncateAsFollower,
)
from wheelproof_spec.components.replication.oracle.ledger import ReplicationLedger
from wheelproof_spec.engines.fuzz.driven_machine import DrivenMachine
from wheelproof_spec.engines.fuzz.engine import Recorder, run_machine
from wheelproof_spec.engines.fuzz.order import Batch

PARTITIONS = ("a", "b", "c")
"""The last one is led less often: it is unknown in most cases."""
BROKER = 1
FOLLOWERS = (2, 3)
STRANGER = 9

_partitions = st.sampled_from((PARTITIONS[0], PARTITIONS[0], *PARTITIONS))
_sizes = st.lists(st.integers(1, 40), min_size=1, max_size=4)
_limits = st.integers(0, 120)
_CHANGES = ("follow", "stop", "truncate", "lead too late")


def run_replication_fuzz(
    port: ReplicationPort,
    *,
    profile: str = WHEELPROOF,
    **batch: Unpack[Batch],
) -> FuzzReport:
    """Drive `port` through `cases` random cases and judge it by `profile`; see `run_machine`."""
    return run_machine(
        "replication, sequential",
        lambda recorder: replication_machine(port, profile, recorder),
        **batch,
    )


def replication_machine(
    port: ReplicationPort, profile: str, recorder: Recorder
) -> type[RuleBasedStateMachine]:
    """Return the state machine that drives `port`."""

    class ReplicationMachine(DrivenMachine[ReplicationCall, ReplicationObservation]):
        """Appends, fetches, changes of leaders and of the clock, in any order."""

        def __init__(self) -> None:
            self._ledger = ReplicationLedger(profile, Tally())
            super().__init__(self._ledger, port, recorder)
            self._epochs: dict[PartitionName, int] = {}

        @initialize(
            config=st.builds(
                ReplicationConfig,
                segment_bytes=st.integers(40, 160),
                min_in_sync_replicas=st.integers(1, 3),
                replica_lag_time_max_ms=st.integers(1, 50),
                start_ms=st.integers(0, 50),
            ),
            sizes=_sizes,
        )
        def reset(self, config: ReplicationConfig, sizes: list[int]) -> None:
            self.begin(Reset(config=config))
            for partition in PARTITIONS[:2]:
                self.lead(partition, set(FOLLOWERS))
            self.append(1, 1, dict.fromkeys(PARTITIONS[:2], sizes))

        @rule(partition=_partitions, in_sync=st.sets(st.sampled_from(FOLLOWERS)))
        def lead(self, partition: PartitionName, in_sync: set[int]) -> None:
            self.call(
                BecomeLeader(
                    partition=partition,
                    leader_epoch=self._next_epoch(partition),
                    replica_ids=(BROKER, *FOLLOWERS),
                    in_sync_ids=tuple(sorted({BROKER, *in_sync})),
                )
            )

        @rule(partition=_partitions, change=st.sampled_from(_CHANGES), back=st.integers(-1, 4))
        def change(self, partition: PartitionName, change: str, back: int) -> None:
            """One rule for all that ends what a leader does, so that most of a case has leaders."""
            match change:
                case "follow":
                    epoch = self._next_epoch(partition)
                    leader_id = BROKER + 1
                    self.call(
                        BecomeFollower(partition=partition, leader_epoch=epoch, leader_id=leader_id)
                    )
                case "stop":
                    self.call(StopReplica(partition=partition))
                case "truncate":
                    offset = self._ledger.batch_base(partition, back)
                    offset = -back if offset is None else offset
                    self.call(TruncateAsFollower(partition=partition, offset=offset))
                case _:
                    self.call(
                        BecomeLeader(
                            partition=partition,
                            leader_epoch=max(self._epochs.get(partition, 0), 0),
                            replica_ids=(BROKER,),
                            in_sync_ids=(BROKER,),
                        )
                    )

        @rule(
            acks=st.sampled_from((-1, -1, -1, 0, 1, 2)),
            timeout_ms=st.integers(1, 60),
            entries=st.dictionaries(_partitions, _sizes, min_size=1),
        )
        def append(
            self, acks: int, timeout_ms: int, entries: Mapping[PartitionName, list[int]]
        ) -> None:
            self.call(
                AppendRecords(
                    request=self._next_name(),
                    required_acks=acks,
                    timeout_ms=timeout_ms,
                    entries=tuple(
                        PartitionRecords(
                            partition=partition,
                            records=tuple(NewRecord(size=size) for size in sizes),
                        )
                        for partition, sizes in entries.items()
                    ),
                )
            )

        @rule(data=st.data(), max_wait_ms=st.integers(0, 60))
        def consume(self, data: st.DataObject, max_wait_ms: int) -> None:
            self._fetch(data, None, max_wait_ms)

        @rule(
            data=st.data(),
            max_wait_ms=st.integers(0, 60),
            replica=st.sampled_from((*FOLLOWERS, *FOLLOWERS, STRANGER)),
        )
        def replicate(self, data: st.DataObject, max_wait_ms: int, replica: int) -> None:
            self._fetch(data, replica, max_wait_ms)

        @rule(replica=st.sampled_from(FOLLOWERS))
        def catch_up(self, replica: int) -> None:
            """A follower has all there is, so the high watermark can rise, and consumers read."""
            self.call(
                FetchMessages(
                    request=self._next_name(),
                    replica_id=replica,
                    max_wait_ms=0,
                    min_bytes=0,
                    max_bytes=0,
                    partitions=tuple(
                        FetchPartition(
                            partition=name,
                            fetch_offset=max(self._ledger.log_end(name), 0),
                            max_bytes=0,
                        )
                        for name in PARTITIONS[:2]
                    ),
                )
            )

        @rule(keep_up=st.sampled_from((MaybeShrinkInSync(), PurgeCompleted())))
        def keep_up(self, keep_up: MaybeShrinkInSync | PurgeCompleted) -> None:
            self.call(keep_up)

        @rule(by_ms=st.integers(0, 80))
        def advance(self, by_ms: int) -> None:
            self.call(Advance(to_ms=self._ledger.now_ms + by_ms))

        def teardown(self) -> None:
            """Let everything expire: every request is answered, and nothing is kept."""
            if self.running:
                self.call(Advance(to_ms=self._ledger.last_expiry_ms()))
            if self.running:
                self.call(PurgeCompleted())

        def _fetch(self, data: st.DataObject, replica: int | None, max_wait_ms: int) -> None:
            names = data.draw(st.lists(_partitions, min_size=1, max_size=3, unique=True))
            self.call(
                FetchMessages(
                    request=self._next_name(),
                    replica_id=replica,
                    max_wait_ms=max_wait_ms,
                    min_bytes=data.draw(_limits),
                    max_bytes=data.draw(_limits),
                    partitions=tuple(self._draw_place(data, name) for name in names),
                )
            )

        def _draw_place(self, data: st.DataObject, partition: PartitionName) -> FetchPartition:
            """Draw where to read: mostly near the end, and with epochs that let the fetch wait."""
            end = self._ledger.log_end(partition)
            epoch = max(self._epochs.get(partition, 0), 0)
            return FetchPartition(
                partition=partition,
                fetch_offset=data.draw(
                    st.integers(max(-1, end - 6), end + 1) | st.sampled_from((0, end))
                ),
                max_bytes=data.draw(_limits),
                current_leader_epoch=data.draw(
                    st.sampled_from((None, None, epoch, epoch, max(epoch - 1, 0), epoch + 1))
                ),
                last_fetched_epoch=data.draw(
                    st.sampled_from((None, None, None, *range(max(epoch - 2, 0), epoch + 2)))
                ),
            )

        def _next_name(self) -> RequestName:
            return f"r{self.calls}"

        def _next_epoch(self, partition: PartitionName) -> int:
            self._epochs[partition] = self._epochs.get(partition, -1) + 1
            return self._epochs[partition]

    return ReplicationMachine
