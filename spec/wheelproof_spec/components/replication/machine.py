"""Threads that produce, consume, replicate, expire and elect at the same time, on one broker.

The machine `replication` of `wheelproof fuzz`. The calls are recorded, and the history judge
decides whether they are correct. After each burst the gauges of both purgatories are read, and each
log, also as consumers see it. At the end of a case all requests have expired, and nothing is kept.
"""

from collections.abc import Callable
from functools import partial

from wheelproof import sync
from wheelproof.clock import ManualClock
from wheelproof.replication import ReplicaManager
from wheelproof.sync import DeferredExecutor
from wheelproof_spec.base.history.judging import LinearizationSearch
from wheelproof_spec.base.history.lines import KeptHistory
from wheelproof_spec.base.results.fuzz_report import FuzzReport
from wheelproof_spec.base.results.violation import Violation
from wheelproof_spec.base.suite import FuzzPlan
from wheelproof_spec.components.replication.cases import REPLICATION
from wheelproof_spec.components.replication.component import WHEELPROOF, MaybeShrinkInSync
from wheelproof_spec.components.replication.history import RECORDED
from wheelproof_spec.components.replication.recording import RecordedBroker
from wheelproof_spec.components.replication.reference import (
    ReferenceBroker,
    ReferenceReplicationPort,
)
from wheelproof_spec.components.replication.work import (
    BURSTS,
    FOLLOWERS,
    Consume,
    LoseAndLeadAgain,
    Produce,
    ProduceAndCall,
    Replicate,
    ReplicateAll,
    ReplicationSetup,
    ReplicationStep,
)
from wheelproof_spec.drive.work import AdvanceBy
from wheelproof_spec.fuzz.bursts import bursts_of, run_burst_fuzz, setups_of
from wheelproof_spec.fuzz.judged_bursts import JudgedBursts
from wheelproof_spec.fuzz.machine import Machine
from wheelproof_spec.fuzz.stage import Programs, RealThreads, Stage
from wheelproof_spec.fuzz.threaded_case import Burst

_TITLE = REPLICATION.definition.title()


def run_threaded_replication_fuzz(
    manager_class: type[ReplicaManager], plan: FuzzPlan
) -> FuzzReport:
    """Run bursts of threads on a broker of `manager_class`; see `run_burst_fuzz`."""
    return run_burst_fuzz(
        "replication, real threads",
        lambda case: BrokerUnderTest(
            manager_class, case.setup, RealThreads(_TITLE, case.preemption()), keep=plan.keep
        ),
        setups_of(BURSTS),
        bursts_of(BURSTS),
        plan,
    )


class BrokerUnderTest:
    """A broker that leads both partitions, and whose calls are recorded."""

    def __init__(
        self,
        manager_class: type[ReplicaManager],
        setup: ReplicationSetup,
        stage: Stage,
        *,
        keep: Callable[[KeptHistory], object] | None = None,
        search: LinearizationSearch | None = None,
    ) -> None:
        config = setup.config
        self._stage = stage
        self._bursts = JudgedBursts(
            RECORDED, config, clock="virtual", process=stage.process, search=search, keep=keep
        )
        self._executor = DeferredExecutor()
        self._broken = False
        self._now_ms = 0
        with stage.alone():
            self._clock_moves = sync.lock("clock moves")
            self._elections = sync.lock("elections")
            self._clock = ManualClock(0)
            broker = ReferenceBroker(config, self._clock, self._executor, manager_class)
            self._broker = RecordedBroker(broker, self._bursts.recorder)
            for partition in BURSTS.partitions:
                self._broker.lead(partition, FOLLOWERS)

    def programs(self, burst: Burst[ReplicationStep]) -> Programs:
        """Return the calls of a burst."""
        return [[(step, partial(self._call, step)) for step in program] for program in burst]

    def run(self, burst: Burst[ReplicationStep]) -> Violation | None:
        """Run one burst and return the violation of its history, if any."""
        programs = self.programs(burst)
        with self._stage.alone():
            violation = self._bursts.judge(lambda: self._stage.run(programs), self._read_gauges)
        self._broken = violation is not None
        return violation

    def finish(self) -> Violation | None:
        """Let all requests expire: each must be answered, and nothing may be kept."""
        if self._broken:
            return None
        last = self.programs(((AdvanceBy(jump_ms=max(BURSTS.timeouts_ms)),),))
        with self._stage.alone():
            violation = self._bursts.judge(lambda: self._stage.run(last), self._read_gauges)
        return violation or self._bursts.finish()

    def _call(self, step: ReplicationStep) -> None:
        broker = self._broker
        match step:
            case Produce():
                self._produce(step)
            case ProduceAndCall(produce=produce, then=then):
                self._produce(produce, partial(self._call_back, then))
            case MaybeShrinkInSync():
                broker.shrink()
            case Consume(partitions=partitions, max_wait_ms=max_wait_ms, min_bytes=min_bytes):
                broker.consume(partitions, max_wait_ms, min_bytes)
            case Replicate(follower=follower, partition=partition):
                broker.replicate(follower, partition, step.max_wait_ms, step.min_bytes)
            case ReplicateAll(partition=partition):
                for replica_id in FOLLOWERS * 2:
                    broker.replicate(replica_id, partition, 0)
            case AdvanceBy(jump_ms=jump_ms):
                self._advance(jump_ms)
            case LoseAndLeadAgain(partition=partition, records=records):
                with self._elections:
                    broker.lose_and_lead_again(partition, records, ())
            case _:
                raise AssertionError(step)

    def _call_back(self, step: ReplicationStep) -> None:
        """Make the call of a callback; it must not wait for a thread that waits for it."""
        if not isinstance(step, LoseAndLeadAgain):
            self._call(step)
        elif self._elections.try_acquire():
            try:
                self._broker.lose_and_lead_again(step.partition, step.records, ())
            finally:
                self._elections.release()

    def _produce(self, step: Produce, then: Callable[[], None] | None = None) -> None:
        acks, timeout_ms, records = step.required_acks, step.timeout_ms, len(step.sizes)
        self._broker.produce(step.partitions, acks, timeout_ms, records, then)

    def _advance(self, jump_ms: int) -> None:
        with self._clock_moves:
            self._now_ms += jump_ms
            self._broker.advance(self._clock, self._now_ms)
            self._executor.run_pending()

    def _read_gauges(self) -> None:
        self._broker.read_gauges()
        for partition in BURSTS.partitions:
            self._broker.read(partition)


MACHINE = Machine(
    suite=REPLICATION,
    profile=WHEELPROOF,
    sound=ReplicaManager,
    port=ReferenceReplicationPort,
    parts={"real": (run_threaded_replication_fuzz,)},
)
