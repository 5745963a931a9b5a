"""Programs that are drawn from the typed work of each component: nobody writes them one by one.

Three threads make a few calls each, at one object of the reference, in every interleaving. What
they ask for comes from the component's alphabet, `work.py`, by a seed; the judge of recorded
histories decides, and the general search, which knows the model of what an operation means.

The name of a program has its seed, so `wheelproof explore drawn/timer-17` draws it once more.
"""

from collections.abc import Mapping

from wheelproof.producer import BufferPool, RecordAccumulator
from wheelproof.replication import ReplicaManager
from wheelproof.sync import DeferredExecutor
from wheelproof.timer import SystemTimer
from wheelproof_lab.worlds.drawing import THREADS, DrawnPrograms, Enumerated, Keep, Subject
from wheelproof_spec.components.accumulator.machine import AccumulatorUnderTest
from wheelproof_spec.components.accumulator.work import PROGRAMS as ACCUMULATOR_WORK
from wheelproof_spec.components.accumulator.work import AccumulatorSetup, AccumulatorStep
from wheelproof_spec.components.buffer_pool.component import PoolConfig
from wheelproof_spec.components.buffer_pool.machine import PoolUnderTest
from wheelproof_spec.components.buffer_pool.work import PROGRAMS as POOL_WORK
from wheelproof_spec.components.buffer_pool.work import PoolStep
from wheelproof_spec.components.purgatory.machine import PurgatoryUnderTest
from wheelproof_spec.components.purgatory.port import AnyPurgatory
from wheelproof_spec.components.purgatory.work import (
    PurgatorySetup,
    PurgatoryStep,
    work_of_bursts,
)
from wheelproof_spec.components.registry import recorded
from wheelproof_spec.components.replication.machine import BrokerUnderTest
from wheelproof_spec.components.replication.work import PROGRAMS as REPLICATION_WORK
from wheelproof_spec.components.replication.work import ReplicationSetup, ReplicationStep
from wheelproof_spec.components.timer.machine import TimerUnderTest
from wheelproof_spec.components.timer.work import (
    TASKS,
    TimerBursts,
    TimerSetup,
    TimerStep,
    TimerWork,
)
from wheelproof_spec.fuzz.stage import ExploredThreads


def _timer(
    timer_class: type[SystemTimer], setup: TimerSetup, stage: ExploredThreads, keep: Keep | None
) -> Subject:
    return TimerUnderTest(
        timer_class,
        setup,
        stage,
        keep=keep,
        search=recorded("timer").search,
        executor=DeferredExecutor(),
    )


def _purgatory(
    purgatory_class: type[AnyPurgatory],
    setup: PurgatorySetup,
    stage: ExploredThreads,
    keep: Keep | None,
) -> Subject:
    return PurgatoryUnderTest(
        purgatory_class,
        None,
        setup,
        stage,
        keep=keep,
        search=recorded("purgatory").search,
        executor=DeferredExecutor(),
    )


def _broker(
    manager_class: type[ReplicaManager],
    setup: ReplicationSetup,
    stage: ExploredThreads,
    keep: Keep | None,
) -> Subject:
    return BrokerUnderTest(
        manager_class, setup, stage, keep=keep, search=recorded("replication").search
    )


def _pool(
    pool_class: type[BufferPool], config: PoolConfig, stage: ExploredThreads, keep: Keep | None
) -> Subject:
    return PoolUnderTest(
        pool_class, config, stage, keep=keep, search=recorded("buffer_pool").search
    )


def _accumulator(
    accumulator_class: type[RecordAccumulator],
    setup: AccumulatorSetup,
    stage: ExploredThreads,
    keep: Keep | None,
) -> Subject:
    return AccumulatorUnderTest(
        accumulator_class, setup, stage, keep=keep, search=recorded("accumulator").search
    )


TIMER: DrawnPrograms[type[SystemTimer], TimerSetup, TimerStep] = DrawnPrograms(
    name="timer",
    sound=SystemTimer,
    make=_timer,
    work=TimerBursts(
        within=TimerWork(max_level=1, max_wheel_size=3, max_tick_ms=1, max_start_ms=0, most=1),
        tasks=TASKS[:3],
        near=True,
        programs=True,
    ),
    callers=("add",),
    before=("add", "cancel", "advance"),
)
PURGATORY: DrawnPrograms[type[AnyPurgatory], PurgatorySetup, PurgatoryStep] = DrawnPrograms(
    name="purgatory",
    sound=AnyPurgatory,
    make=_purgatory,
    work=work_of_bursts(1, programs=True),
    callers=("watch",),
    before=("watch", "trigger", "advance"),
    most=1,
)
REPLICATION: DrawnPrograms[type[ReplicaManager], ReplicationSetup, ReplicationStep] = DrawnPrograms(
    name="replication",
    sound=ReplicaManager,
    make=_broker,
    work=REPLICATION_WORK,
    callers=("produce", "hurry", "consume", "replicate"),
    before=("produce", "hurry", "consume", "replicate", "round", "lose", "advance"),
    most=1,
)
BUFFER_POOL: DrawnPrograms[type[BufferPool], PoolConfig, PoolStep] = DrawnPrograms(
    name="buffer_pool",
    sound=BufferPool,
    make=_pool,
    work=POOL_WORK,
    callers=("allocate",),
    before=("borrow",),
)
ACCUMULATOR: DrawnPrograms[type[RecordAccumulator], AccumulatorSetup, AccumulatorStep] = (
    DrawnPrograms(
        name="accumulator",
        sound=RecordAccumulator,
        make=_accumulator,
        work=ACCUMULATOR_WORK,
        callers=("append",),
        # A callback must not wait for a flush: its own batch ends only behind it (standard 6.5.3).
        uncalled=("flush",),
        # The sender is the third thread.
        threads=THREADS - 1,
    )
)
DRAWN: Mapping[str, Enumerated] = {
    "timer": TIMER,
    "purgatory": PURGATORY,
    "replication": REPLICATION,
    "buffer_pool": BUFFER_POOL,
    "accumulator": ACCUMULATOR,
}
"""What draws the programs of each component."""
