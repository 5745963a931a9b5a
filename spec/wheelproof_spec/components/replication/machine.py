"""Threads that produce, consume, replicate, expire and elect at the same time, on one broker.

The machine `replication` of `wheelproof fuzz`. The calls are recorded, and the history judge
decides whether they are correct. After each burst the gauges of both purgatories are read, and each
log, also as consumers see it. At the end of a case all requests have expired, and nothing is kept.
"""

from collections.abc import Callable
from functools import partial

from wheelproof.clock import ManualClock
from wheelproof.replication import ReplicaManager
from wheelproof.sync import DeferredExecutor
from wheelproof_spec.base.component import Call
from wheelproof_spec.base.history.judging import LinearizationSearch
from wheelproof_spec.base.history.lines import KeptHistory
from wheelproof_spec.base.results.fuzz_report import FuzzReport
from wheelproof_spec.base.results.violation import Violation
from wheelproof_spec.base.suite import FuzzPlan
from wheelproof_spec.components.replication.cases import REPLICATION
from wheelproof_spec.components.replication.clients import Clients
from wheelproof_spec.components.replication.component import WHEELPROOF, ReplicationClause
from wheelproof_spec.components.replication.history import RECORDED
from wheelproof_spec.components.replication.reference import ReferenceReplicationPort
from wheelproof_spec.components.replication.work import (
    BURSTS,
    FOLLOWERS,
    Lead,
    ReplicationSetup,
)
from wheelproof_spec.drive.work import AdvanceBy
from wheelproof_spec.fuzz.burst import surviving
from wheelproof_spec.fuzz.bursts import bursts_of, run_burst_fuzz, setups_of
from wheelproof_spec.fuzz.judged_bursts import JudgedBursts
from wheelproof_spec.fuzz.machine import Machine
from wheelproof_spec.fuzz.stage import Programs, RealThreads, Stage
from wheelproof_spec.fuzz.threaded_case import Burst

_TITLE = REPLICATION.definition.title()
_OPEN_ONCE_CLOSED = (
    ReplicationClause.ANSWERED_WHEN_IT_CAN_BE,
    ReplicationClause.DELAYED_ARE_THE_WAITING,
    ReplicationClause.NOTHING_IS_KEPT,
)


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
        self._broken = False
        with stage.alone():
            self._clients = Clients(
                config, self._bursts.recorder, ManualClock(0), DeferredExecutor(), manager_class
            )
            for partition in BURSTS.partitions:
                self._clients.take(Lead(partition=partition, in_sync=FOLLOWERS))

    def programs(self, burst: Burst[Call]) -> Programs:
        """Return the calls of a burst."""
        return [
            [(step, surviving(partial(self._clients.take, step))) for step in program]
            for program in burst
        ]

    def run(self, burst: Burst[Call]) -> Violation | None:
        """Run one burst and return the violation of its history, if any."""
        programs = self.programs(burst)
        with self._stage.alone():
            violation = self._bursts.judge(lambda: self._stage.run(programs), self._read_gauges)
        violation = self._counted(violation)
        self._broken = violation is not None
        return violation

    def finish(self) -> Violation | None:
        """Let all requests expire: each must be answered, and nothing may be kept."""
        if self._broken:
            return None
        last = self.programs(((AdvanceBy(jump_ms=max(BURSTS.timeouts_ms)),),))
        with self._stage.alone():
            violation = self._bursts.judge(lambda: self._stage.run(last), self._read_gauges)
        return self._counted(violation or self._bursts.finish())

    def _counted(self, violation: Violation | None) -> Violation | None:
        """Return the violation, unless it is that a closed broker does not answer what waits.

        No line of a history says that a broker was closed.
        """
        is_open = (
            self._clients.is_closed
            and violation is not None
            and violation.rule in _OPEN_ONCE_CLOSED
        )
        return None if is_open else violation

    def _read_gauges(self) -> None:
        self._clients.read_gauges()
        for partition in BURSTS.partitions:
            self._clients.read(partition)


MACHINE = Machine(
    suite=REPLICATION,
    profile=WHEELPROOF,
    sound=ReplicaManager,
    port=ReferenceReplicationPort,
    parts={"real": (run_threaded_replication_fuzz,)},
)
