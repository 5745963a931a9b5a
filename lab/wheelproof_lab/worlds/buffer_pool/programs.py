"""The programs of the buffer pool for the model checker."""

from collections.abc import Mapping
from dataclasses import dataclass

from wheelproof.producer import BufferPool, WaitTime, WaitTimeSensor
from wheelproof.producer.pooled_memory import PooledMemory
from wheelproof_explore.program import Faults, PlainField, Program, Scenario
from wheelproof_lab.bugs.buffer_pool import BUGS
from wheelproof_lab.worlds.buffer_pool.bench import (
    FailingSensor,
    FaultySensor,
    PatientClock,
    PoolBench,
)
from wheelproof_lab.worlds.tables import (
    Pairs,
    ProgramRow,
    act,
    faults_of,
    pairs_of,
    programs_of,
    scenario_of,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolRow(ProgramRow[PoolBench]):
    """Threads that use one pool of `total` bytes, of which `held` are on loan at the beginning.

    `metric` is whether the pool measures waits, `metric_fails` whether that may raise, `failing`
    whether memory may not be had.
    """

    total: int
    held: tuple[int, ...] = ()
    metric: bool = False
    metric_fails: bool = False
    failing: bool = False


# The poolable size is 2. A time-out of 10 may fire at any moment; without one a thread waits for
# ever.
_ROWS: Mapping[str, PoolRow] = {
    "pool-contended": PoolRow(
        summary="Two threads want the only pooled buffer, which a third one gives back.",
        total=2,
        held=(2,),
        threads={
            "first": act(PoolBench.use, 2),
            "second": act(PoolBench.use, 2),
            "holder": act(PoolBench.give_back),
        },
    ),
    "pool-handed-on": PoolRow(
        summary=(
            "The memory for two waiting threads comes back at once: the first wakes the second."
        ),
        total=3,
        held=(3,),
        threads={
            "pooled": act(PoolBench.use, 2),
            "small": act(PoolBench.use, 1),
            "holder": act(PoolBench.give_back),
        },
    ),
    "pool-accumulated": PoolRow(
        summary="A large allocation gathers what two threads give back, one after the other.",
        total=4,
        held=(2, 1),
        threads={
            "large": act(PoolBench.use, 4),
            "holder 1": act(PoolBench.give_back, 0),
            "holder 2": act(PoolBench.give_back, 1),
            "audit": act(PoolBench.audit),
        },
    ),
    "pool-timed-out": PoolRow(
        summary=(
            "Of two waiting threads one may time out, while memory comes back: the other one "
            "is served."
        ),
        total=2,
        held=(2,),
        threads={
            "hurried": act(PoolBench.use, 2, 10),
            "patient": act(PoolBench.use, 1),
            "holder": act(PoolBench.give_back),
        },
        bugs=("KAFKA-3651",),
    ),
    "pool-timed-out-with-a-part": PoolRow(
        summary=(
            "A large allocation times out with a part of its memory, which goes to the next one."
        ),
        total=3,
        held=(1, 2),
        threads={
            "hurried": act(PoolBench.use, 3, 10),
            "patient": act(PoolBench.use, 1),
            "holder": act(PoolBench.give_back, 0),
        },
        check=PoolBench.audit,
        bugs=("KAFKA-4840/no-give-back",),
    ),
    "pool-interrupted": PoolRow(
        summary="Of two waiting threads one is interrupted, while memory comes back.",
        total=2,
        held=(2,),
        idle={"victim": act(PoolBench.use, 2)},
        threads={
            "interrupter": act(PoolBench.interrupt, "victim"),
            "patient": act(PoolBench.use, 1),
            "holder": act(PoolBench.give_back),
        },
        bugs=("KAFKA-4840/no-hand-on",),
    ),
    "pool-wait-time": PoolRow(
        summary="A thread waits, and another one asks how long threads have waited.",
        total=2,
        held=(2,),
        before=(act(PoolBench.forget_waits),),
        metric=True,
        threads={
            "waiter": act(PoolBench.use, 2),
            "holder": act(PoolBench.give_back),
            "look": act(PoolBench.look),
        },
    ),
    "pool-closed": PoolRow(
        summary="The pool is closed while two threads wait, or are about to: all of them return.",
        total=2,
        held=(2,),
        threads={
            "pooled": act(PoolBench.use, 2),
            "small": act(PoolBench.use, 1),
            "closer": act(PoolBench.close),
        },
        check=PoolBench.audit,
    ),
    "pool-closed-while-given-back": PoolRow(
        summary="The pool is closed while memory comes back and a thread waits for it.",
        total=2,
        held=(2,),
        threads={
            "hurried": act(PoolBench.use, 1, 10),
            "holder": act(PoolBench.give_back),
            "closer": act(PoolBench.close),
        },
    ),
    "pool-failing": PoolRow(
        summary="The memory of a reservation may not be had: it goes to the thread that waits.",
        total=3,
        failing=True,
        threads={
            "large": act(PoolBench.use, 3),
            "small": act(PoolBench.use, 1),
            "audit": act(PoolBench.audit),
        },
        bugs=("KAFKA-4840/no-refund",),
    ),
    "pool-failing-after-a-wait": PoolRow(
        summary="The same after a wait, with a time-out beside it.",
        total=3,
        held=(3,),
        failing=True,
        threads={
            "large": act(PoolBench.use, 3),
            "small": act(PoolBench.use, 1, 10),
            "holder": act(PoolBench.give_back),
        },
    ),
    "pool-metric-fails": PoolRow(
        summary=(
            "The metric of a wait may raise, while memory comes back: the other thread is served."
        ),
        total=2,
        held=(2,),
        metric_fails=True,
        threads={
            "pooled": act(PoolBench.use, 2),
            "small": act(PoolBench.use, 1),
            "holder": act(PoolBench.give_back),
        },
    ),
    "pool-in-turn": PoolRow(
        summary="A thread waits for all there is, comes back bit by bit; a newcomer wants little.",
        total=2,
        held=(1, 1),
        threads={
            "large": act(PoolBench.use, 2),
            "newcomer": act(PoolBench.use_in_turn, 1),
            "holder": act(PoolBench.give_back),
        },
        bugs=("barging",),
    ),
    "pool-spurious": PoolRow(
        summary="A thread waits for all there is, comes back bit by bit; a newcomer wants little.",
        total=2,
        held=(1, 1),
        spurious_wakeups=1,
        threads={
            "large": act(PoolBench.use, 2),
            "newcomer": act(PoolBench.use_in_turn, 1),
            "holder": act(PoolBench.give_back),
        },
        bugs=("anyone-takes",),
    ),
    "pool-given-back-twice": PoolRow(
        summary="Two threads give back the same buffer: one of them is refused.",
        total=2,
        held=(2,),
        threads={
            "one": act(PoolBench.give_back_or_be_refused),
            "other": act(PoolBench.give_back_or_be_refused),
        },
        bugs=("given-back-twice",),
    ),
    "pool-four-threads": PoolRow(
        summary="Three sizes and a pool that one buffer fills, with a time-out.",
        total=2,
        held=(2,),
        threads={
            "hurried": act(PoolBench.use, 2, 10),
            "pooled": act(PoolBench.use, 2),
            "small": act(PoolBench.use, 1),
            "holder": act(PoolBench.give_back),
        },
    ),
}

# Every two public methods of the pool against each other; `each` is what a thread may do.
_PAIRS: Mapping[str, Pairs[PoolRow, PoolBench]] = {
    "pool": Pairs(
        row=PoolRow(
            summary="A pool of 3 bytes, 2 of them on loan",
            total=3,
            held=(2,),
            check=PoolBench.audit,
        ),
        each={
            "allocate-pooled": act(PoolBench.use, 2, 10),
            "allocate-odd": act(PoolBench.use, 1, 10),
            "allocate-all": act(PoolBench.use, 3, 10),
            "deallocate": act(PoolBench.give_back_or_be_refused),
            "close": act(PoolBench.close),
            "look": act(PoolBench.look),
            "misuse": act(PoolBench.misuse),
        },
    ),
    "idle-pool": Pairs(
        row=PoolRow(
            summary="A pool of 3 bytes, of which a buffer waits for reuse",
            total=3,
            held=(2,),
            before=(act(PoolBench.give_back),),
            check=PoolBench.audit,
        ),
        each={
            "allocate-pooled": act(PoolBench.use, 2),
            "allocate-odd": act(PoolBench.use, 1),
            "allocate-all": act(PoolBench.use, 3, 10),
            "close": act(PoolBench.close),
            "look": act(PoolBench.look),
        },
    ),
}

GUARDED = (
    PlainField(owner=PooledMemory, name="non_pooled"),
    PlainField(owner=BufferPool, name="_closed"),
)
"""The fields that the pool's lock guards and that can be replaced."""


def _build(row: PoolRow, pool_class: type[BufferPool]) -> Scenario:
    sensor: WaitTimeSensor | None = WaitTime(PatientClock()) if row.metric else None
    if row.metric_fails:
        sensor = FailingSensor()
    bench = PoolBench(pool_class, row.total, row.held, sensor)
    bench.failing = row.failing
    return scenario_of(row, bench)


_SOUND: type[BufferPool] = BufferPool


def _build_with_faults(row: PoolRow, pool_class: type[BufferPool]) -> Scenario:
    faults = Faults()
    sensor = FaultySensor(faults)
    return scenario_of(row, PoolBench(pool_class, row.total, row.held, sensor, faults))


PROGRAMS, FAILING = programs_of(
    _ROWS, _build, _SOUND, [(bug, bug.pool_class) for bug in BUGS], plain_fields=GUARDED
)


def pairs_with(pool_class: type[BufferPool]) -> tuple[Program, ...]:
    """Return the pairs for a class of pool."""
    return pairs_of(_PAIRS, _build, pool_class, plain_fields=GUARDED)


PAIRS = pairs_with(_SOUND)


def faults_with(pool_class: type[BufferPool]) -> tuple[Program, ...]:
    """Return the programs and the pairs with an allocator and a metric that raise now and then."""
    return faults_of(_ROWS, _PAIRS, _build_with_faults, pool_class, plain_fields=GUARDED)
