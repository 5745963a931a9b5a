"""Programs that are drawn from the typed work of a component: nobody writes them one by one.

Three threads make a few calls each, at one object of the reference, in every interleaving. What
they ask for comes from the component's alphabet, `work.py`, by a seed; the judge of recorded
histories decides, and the general search, which knows the model of what an operation means.

The name of a program has its seed, so `wheelproof explore drawn/timer-17` draws it once more.
"""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Generic, Never, Protocol, TypeVar

from wheelproof.producer import BufferPool, RecordAccumulator
from wheelproof.replication import ReplicaManager
from wheelproof.sync import DeferredExecutor
from wheelproof.timer import SystemTimer
from wheelproof_explore.program import Action, Program, Scenario
from wheelproof_lab.worlds.making import discarding
from wheelproof_spec.base.calls import AdvanceClock
from wheelproof_spec.base.component import Call
from wheelproof_spec.base.results.violation import Violation
from wheelproof_spec.components.accumulator.machine import AccumulatorUnderTest
from wheelproof_spec.components.accumulator.work import BURSTS as ACCUMULATOR_WORK
from wheelproof_spec.components.accumulator.work import AccumulatorSetup, AccumulatorStep
from wheelproof_spec.components.buffer_pool.component import PoolConfig
from wheelproof_spec.components.buffer_pool.machine import PoolUnderTest
from wheelproof_spec.components.buffer_pool.work import BURSTS as POOL_WORK
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
from wheelproof_spec.components.replication.work import BURSTS as REPLICATION_WORK
from wheelproof_spec.components.replication.work import ReplicationSetup, ReplicationStep
from wheelproof_spec.components.timer.machine import TimerUnderTest
from wheelproof_spec.components.timer.work import (
    TASKS,
    TimerBursts,
    TimerSetup,
    TimerStep,
    TimerWork,
)
from wheelproof_spec.drive.work import Draw, SeededDraw, SetupT, StepT, Work, shown
from wheelproof_spec.fuzz.stage import ExploredThreads, Programs
from wheelproof_spec.fuzz.threaded_case import Burst

PREFIX = "drawn/"
THREADS = 3

_MOST_CALLS = 2
_MOST_WEIGHT = 4
"""What is rare in a load is not so rare here: a close, a purge, a cancel."""
_StepT_contra = TypeVar("_StepT_contra", bound=Call, contravariant=True)


class Subject(Protocol[_StepT_contra]):
    """An object of the reference whose calls are recorded."""

    def programs(self, burst: Burst[_StepT_contra]) -> Programs:
        """Return the calls of each thread."""
        ...

    def run(self, burst: Burst[_StepT_contra]) -> Violation | None:
        """Make the calls of a burst, and return the violation of the history so far."""
        ...

    def finish(self) -> Violation | None:
        """End the history, and return its violation."""
        ...


KindT = TypeVar("KindT")
Make = Callable[[KindT, SetupT, ExploredThreads], Subject[StepT]]
DrawBurst = Callable[[Draw, SetupT], Burst[StepT]]


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnPrograms(Generic[KindT, SetupT, StepT]):
    """The programs of a component.

    `make` makes an object of `sound`, or of a faulty kind. `before` are calls before the threads
    start, one after the other; `threads` those of the threads.
    """

    name: str
    sound: KindT
    make: Make[KindT, SetupT, StepT]
    work: Work[SetupT, StepT]
    threads: DrawBurst[SetupT, StepT]
    before: DrawBurst[SetupT, StepT]

    def program(self, seed: int, kind: KindT | None = None) -> Program:
        """Return the program of a seed, for the reference or for a faulty kind."""
        draw = SeededDraw(random.Random(f"{self.name} {seed}"))
        setup = self.work.setup(draw)
        before, threads = self.before(draw, setup), self.threads(draw, setup)
        told = " | ".join(", ".join(map(shown, program)) for program in threads)
        first = ", ".join(shown(step) for program in before for step in program)
        make = partial(self.make, self.sound if kind is None else kind, setup)
        return Program(
            name=f"{PREFIX}{self.name}-{seed}",
            summary=f"{first}; then {told}" if first else told,
            build=partial(_build, make, before, threads),
        )


def _build(
    make: Callable[[ExploredThreads], Subject[StepT]], before: Burst[StepT], threads: Burst[StepT]
) -> Scenario:
    subject = make(ExploredThreads())
    if before:
        _require_none(subject.run(before))
    programs = subject.programs(threads)
    bodies = {f"t{number}": _actions(program) for number, program in enumerate(programs)}
    return Scenario(threads=bodies, check=partial(_check, subject))


def _check(subject: Subject[StepT]) -> None:
    _require_none(subject.run(()))
    _require_none(subject.finish())


def _require_none(violation: Violation | None) -> None:
    assert violation is None, str(violation)


def _actions(program: Sequence[tuple[Call, Callable[[], object]]]) -> list[Action]:
    return [discarding(call) for _, call in program]


def _any_of(
    work: Work[SetupT, StepT], threads: int, *, most: int = _MOST_CALLS
) -> DrawBurst[SetupT, StepT]:
    """Return what draws so many threads of one or a few calls, whatever the alphabet has."""

    def draw_burst(draw: Draw, setup: SetupT) -> Burst[StepT]:
        # The model checker cannot interrupt these threads.
        kinds = [kind for name, kind in work.kinds().items() if name != "interrupt"]
        weighted = [kind for kind in kinds for _ in range(min(kind.weight, _MOST_WEIGHT))]

        def program() -> tuple[StepT, ...]:
            count = draw.between(1, most)
            return tuple(draw.among(weighted).in_a_burst(draw, setup) for _ in range(count))

        return tuple(program() for _ in range(threads))

    return draw_burst


def _nothing(draw: Draw, setup: object) -> Burst[Never]:
    del draw, setup
    return ()


_TIMER_WORK = TimerBursts(
    within=TimerWork(max_level=1, max_wheel_size=3, max_tick_ms=1, max_start_ms=0, most=1),
    tasks=TASKS[:3],
    near=True,
)


def _timer_threads(draw: Draw, setup: TimerSetup) -> Burst[TimerStep]:
    """Return two threads that add and cancel, and one that advances: only one moves the clock."""
    callers = _any_of(_TIMER_WORK, THREADS - 1)(draw, setup)
    move = _TIMER_WORK.kinds()["move_clock"].in_a_burst(draw, setup)
    return (*callers, (move, AdvanceClock(timeout_ms=0)))


_PURGATORY_WORK = work_of_bursts(1)


def _timer(
    timer_class: type[SystemTimer], setup: TimerSetup, stage: ExploredThreads
) -> Subject[TimerStep]:
    return TimerUnderTest(timer_class, setup, stage, search=recorded("timer").search)


def _purgatory(
    purgatory_class: type[AnyPurgatory], setup: PurgatorySetup, stage: ExploredThreads
) -> Subject[PurgatoryStep]:
    return PurgatoryUnderTest(
        purgatory_class,
        None,
        setup,
        stage,
        search=recorded("purgatory").search,
        executor=DeferredExecutor(),
    )


def _broker(
    manager_class: type[ReplicaManager], setup: ReplicationSetup, stage: ExploredThreads
) -> Subject[ReplicationStep]:
    return BrokerUnderTest(manager_class, setup, stage, search=recorded("replication").search)


def _pool(
    pool_class: type[BufferPool], config: PoolConfig, stage: ExploredThreads
) -> Subject[PoolStep]:
    return PoolUnderTest(pool_class, config, stage, search=recorded("buffer_pool").search)


def _accumulator(
    accumulator_class: type[RecordAccumulator], setup: AccumulatorSetup, stage: ExploredThreads
) -> Subject[AccumulatorStep]:
    return AccumulatorUnderTest(
        accumulator_class, setup, stage, search=recorded("accumulator").search
    )


TIMER = DrawnPrograms(
    name="timer",
    sound=SystemTimer,
    make=_timer,
    work=_TIMER_WORK,
    threads=_timer_threads,
    before=_any_of(_TIMER_WORK, 1),
)
PURGATORY = DrawnPrograms(
    name="purgatory",
    sound=AnyPurgatory,
    make=_purgatory,
    work=_PURGATORY_WORK,
    threads=_any_of(_PURGATORY_WORK, THREADS, most=1),
    before=_any_of(_PURGATORY_WORK, 1),
)
REPLICATION = DrawnPrograms(
    name="replication",
    sound=ReplicaManager,
    make=_broker,
    work=REPLICATION_WORK,
    threads=_any_of(REPLICATION_WORK, THREADS, most=1),
    before=_any_of(REPLICATION_WORK, 1),
)
BUFFER_POOL = DrawnPrograms(
    name="buffer_pool",
    sound=BufferPool,
    make=_pool,
    work=POOL_WORK,
    threads=_any_of(POOL_WORK, THREADS),
    before=_nothing,
)
ACCUMULATOR = DrawnPrograms(
    name="accumulator",
    sound=RecordAccumulator,
    make=_accumulator,
    work=ACCUMULATOR_WORK,
    # The sender is the third thread.
    threads=_any_of(ACCUMULATOR_WORK, THREADS - 1),
    before=_nothing,
)
DRAWN: Mapping[str, Callable[[int], Program]] = {
    "timer": TIMER.program,
    "purgatory": PURGATORY.program,
    "replication": REPLICATION.program,
    "buffer_pool": BUFFER_POOL.program,
    "accumulator": ACCUMULATOR.program,
}
"""What draws the program of a seed, for each component."""
