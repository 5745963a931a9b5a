"""The sequential machine of the replica manager: one thread, beside the ledger."""

from collections.abc import Callable, Mapping
from dataclasses import asdict

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from wheelproof.errors import IllegalArgumentError
from wheelproof.replication import ReplicaManager
from wheelproof_spec.base.results.fuzz_report import FuzzReport
from wheelproof_spec.base.results.violation import Violation
from wheelproof_spec.components.replication.clauses import (
    ReplicationClause,
    judge_answers,
    judge_count,
)
from wheelproof_spec.components.replication.oracle import (
    Answer,
    FetchedPartition,
    FetchRequest,
    PartitionName,
    ReplicationLedger,
    RequestName,
)
from wheelproof_spec.components.replication.reference import BROKER, BrokerConfig, BrokerUnderTest
from wheelproof_spec.engines.fuzz.engine import Recorder, run_machine

PARTITIONS = ("a", "b", "c")
"""The last one is led less often: it is unknown in most cases."""
FOLLOWERS = (2, 3)
STRANGER = 9

_partitions = st.sampled_from((PARTITIONS[0], PARTITIONS[0], *PARTITIONS))
_sizes = st.lists(st.integers(0, 40), min_size=1, max_size=4)
_limits = st.integers(0, 120)


def run_replication_fuzz(
    manager_class: type[ReplicaManager] = ReplicaManager,
    *,
    cases: int,
    seed: int,
    seconds: float | None = None,
    repeat: str = "wheelproof fuzz replication --seed {seed}",
    progress: Callable[[FuzzReport], None] | None = None,
) -> FuzzReport:
    """Drive a broker of `manager_class` beside the ledger; see `run_timer_fuzz`."""
    return run_machine(
        "replication, sequential",
        lambda recorder: replication_machine(manager_class, recorder),
        first_seed=seed,
        cases=cases,
        seconds=seconds,
        repeat=repeat,
        progress=progress,
    )


def replication_machine(
    manager_class: type[ReplicaManager], recorder: Recorder
) -> type[RuleBasedStateMachine]:
    """Return the state machine that drives a broker of `manager_class`."""

    class ReplicationMachine(RuleBasedStateMachine):
        """Appends, fetches, changes of leaders and of the clock, in any order."""

        def __init__(self) -> None:
            super().__init__()
            self._broker: BrokerUnderTest | None = None
            self._running = False
            self._requests = 0
            self._epochs: dict[PartitionName, int] = {}

        @initialize(
            config=st.builds(
                BrokerConfig,
                segment_bytes=st.integers(40, 160),
                min_in_sync=st.integers(1, 3),
                lag_ms=st.integers(1, 50),
                start_ms=st.integers(0, 50),
            )
        )
        def reset(self, config: BrokerConfig) -> None:
            recorder.begin_case()
            recorder.step(f"broker {asdict(config)}")
            self._running = True
            self._broker = BrokerUnderTest(manager_class, config)
            self._ledger = ReplicationLedger(broker=BROKER, **asdict(config))
            for partition in PARTITIONS[:2]:
                self.lead(partition, set(FOLLOWERS))

        @rule(partition=_partitions, in_sync=st.sets(st.sampled_from(FOLLOWERS)))
        def lead(self, partition: PartitionName, in_sync: set[int]) -> None:
            epoch = self._next_epoch(partition)
            members = sorted({BROKER, *in_sync})
            self._event(
                f"lead {partition} in epoch {epoch}, in sync {members}",
                lambda broker: broker.become_leader(
                    partition, epoch, [BROKER, *FOLLOWERS], members
                ),
                lambda: self._ledger.become_leader(
                    partition, epoch, replicas=[BROKER, *FOLLOWERS], in_sync=members
                ),
            )

        @rule(partition=_partitions)
        def follow(self, partition: PartitionName) -> None:
            epoch = self._next_epoch(partition)
            self._event(
                f"follow {partition} in epoch {epoch}",
                lambda broker: broker.become_follower(partition, epoch),
                lambda: self._ledger.become_follower(partition, epoch),
            )

        @rule(partition=_partitions)
        def lead_too_late(self, partition: PartitionName) -> None:
            epoch = self._epochs.get(partition, -1)
            if self._ledger.refuses_epoch(partition, epoch):
                self._refused(
                    f"lead {partition} in epoch {epoch}",
                    lambda broker: broker.become_leader(partition, epoch, [BROKER], [BROKER]),
                )

        @rule(partition=_partitions)
        def stop(self, partition: PartitionName) -> None:
            self._event(
                f"stop {partition}",
                lambda broker: broker.stop(partition),
                lambda: self._ledger.stop(partition),
            )

        @rule(partition=_partitions, back=st.integers(-1, 4))
        def truncate(self, partition: PartitionName, back: int) -> None:
            offset = self._ledger.log_end(partition) - back
            label = f"truncate {partition} to {offset}"
            if self._ledger.refuses_truncation(partition, offset):
                self._refused(label, lambda broker: broker.truncate(partition, offset))
                return
            self._event(
                label,
                lambda broker: broker.truncate(partition, offset),
                lambda: self._ledger.truncate(partition, offset),
            )

        @rule(
            acks=st.sampled_from((-1, -1, -1, 0, 1, 2)),
            timeout_ms=st.integers(1, 60),
            entries=st.dictionaries(_partitions, _sizes, min_size=1),
        )
        def append(
            self, acks: int, timeout_ms: int, entries: Mapping[PartitionName, list[int]]
        ) -> None:
            name = self._next_name()
            self._event(
                f"append {name} {entries} acks {acks} within {timeout_ms} ms",
                lambda broker: broker.append(
                    name, acks=acks, timeout_ms=timeout_ms, entries=entries
                ),
                lambda: self._ledger.append(
                    name, acks=acks, timeout_ms=timeout_ms, entries=entries
                ),
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

        @rule()
        def shrink(self) -> None:
            self._event("shrink", lambda broker: broker.shrink(), lambda: self._ledger.shrink())

        @rule(by_ms=st.integers(0, 80))
        def advance(self, by_ms: int) -> None:
            self._advance_to(self._ledger.now_ms + by_ms)

        def teardown(self) -> None:
            """Let everything expire: every request is answered, and nothing is kept."""
            if self._broker is None:
                return
            try:
                if self._running:
                    self._advance_to(self._ledger.last_expiry_ms())
                    watched, keys = self._broker.watched_after_purge()
                    clause = ReplicationClause.NOTHING_IS_KEPT
                    self._judge(judge_count(clause, 0, watched) or judge_count(clause, 0, keys))
            finally:
                self._broker.close()

        def _fetch(self, data: st.DataObject, replica: int | None, max_wait_ms: int) -> None:
            partitions = data.draw(st.lists(_partitions, min_size=1, max_size=3, unique=True))
            request = FetchRequest(
                replica=replica,
                min_bytes=data.draw(_limits),
                max_bytes=data.draw(_limits),
                partitions={name: self._draw_place(data, name) for name in partitions},
            )
            name = self._next_name()
            self._event(
                f"fetch {name} {request} within {max_wait_ms} ms",
                lambda broker: broker.fetch(name, request, max_wait_ms),
                lambda: self._ledger.fetch(name, request, max_wait_ms),
            )

        def _draw_place(self, data: st.DataObject, partition: PartitionName) -> FetchedPartition:
            """Draw where to read: mostly near the end, and with epochs that let the fetch wait."""
            end = self._ledger.log_end(partition)
            epoch = self._epochs.get(partition, 0)
            return FetchedPartition(
                offset=data.draw(st.integers(max(-1, end - 6), end + 1) | st.just(end)),
                max_bytes=data.draw(_limits),
                current_epoch=data.draw(
                    st.sampled_from((None, None, epoch, epoch, epoch - 1, epoch + 1))
                ),
                last_epoch=data.draw(
                    st.sampled_from((None, None, None, epoch - 2, epoch - 1, epoch, epoch + 1))
                ),
            )

        def _advance_to(self, time_ms: int) -> None:
            self._event(
                f"advance to {time_ms}",
                lambda broker: broker.advance_to(time_ms),
                lambda: self._ledger.advance_to(time_ms),
            )

        def _event(
            self,
            label: str,
            act: Callable[[BrokerUnderTest], None],
            expect: Callable[[], Mapping[RequestName, Answer]],
        ) -> None:
            """Let it happen to the broker and to the ledger, and compare the answers."""
            if self._broker is None:
                return
            recorder.step(label)
            act(self._broker)
            self._judge(
                judge_answers(expect(), self._broker.take_answers())
                or judge_count(
                    ReplicationClause.DELAYED_ARE_THE_WAITING,
                    len(self._ledger.waiting()),
                    self._broker.num_delayed(),
                )
            )

        def _refused(self, label: str, act: Callable[[BrokerUnderTest], None]) -> None:
            if self._broker is None:
                return
            recorder.step(label)
            try:
                act(self._broker)
            except IllegalArgumentError:
                self._judge(judge_answers({}, self._broker.take_answers()))
                return
            self._judge(
                Violation(
                    rule=ReplicationClause.REFUSES_WHAT_IS_OUTSIDE,
                    expected="IllegalArgumentError",
                    observed="no error",
                    reason=f"{label} lies outside the domain",
                )
            )

        def _judge(self, violation: Violation | None) -> None:
            self._running = violation is None
            recorder.judge(violation)

        def _next_name(self) -> RequestName:
            self._requests += 1
            return f"r{self._requests}"

        def _next_epoch(self, partition: PartitionName) -> int:
            self._epochs[partition] = self._epochs.get(partition, -1) + 1
            return self._epochs[partition]

    return ReplicationMachine
