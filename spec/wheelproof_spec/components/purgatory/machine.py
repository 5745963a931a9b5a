"""Threads that hand in operations, trigger, cancel, purge and advance a purgatory at the same time.

The machine `purgatory` of `wheelproof fuzz`. The calls are recorded, and the history judge decides
whether the history is correct. After each burst all submitted expiries have run, and the gauges are
read. At the end of a case all time-outs are over, and a purge leaves nothing behind.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from itertools import count

from wheelproof import sync
from wheelproof.clock import ManualClock
from wheelproof.purgatory import (
    BlockingDiscipline,
    CompletionDiscipline,
    ExclusiveDiscipline,
    MonitorDiscipline,
    PendingFlagDiscipline,
    TryLockOnceDiscipline,
)
from wheelproof.sync import DeferredExecutor
from wheelproof.timer import SystemTimer
from wheelproof_spec.base.calls import (
    AdvanceClock,
    NumDelayed,
    NumKeys,
    PurgeCompleted,
    Tick,
    Watched,
)
from wheelproof_spec.base.codec.vocabulary import ABSENT
from wheelproof_spec.base.component import Call
from wheelproof_spec.base.history.judging import LinearizationSearch
from wheelproof_spec.base.history.lines import KeptHistory
from wheelproof_spec.base.results.fuzz_report import FuzzReport
from wheelproof_spec.base.results.violation import Violation
from wheelproof_spec.base.suite import FuzzPlan
from wheelproof_spec.components.purgatory.cases import PURGATORY
from wheelproof_spec.components.purgatory.component import (
    PREDICATES_TOO,
    WHEELPROOF,
    AskGauges,
    AwaitSubmitted,
    CancelForKey,
    CheckAndComplete,
    ForceComplete,
    OperationId,
    PurgatoryConfig,
    Satisfy,
    Shutdown,
    TryCompleteElseWatch,
)
from wheelproof_spec.components.purgatory.history import RECORDED
from wheelproof_spec.components.purgatory.port import AnyPurgatory, PurgatoryPort
from wheelproof_spec.components.purgatory.reference import PurgatoryVariant, ReferencePurgatoryPort
from wheelproof_spec.components.purgatory.work import (
    LONGEST_DELAY_MS,
    ForceOne,
    HandIn,
    PurgatorySetup,
    SatisfyAndCheck,
    work_of_bursts,
)
from wheelproof_spec.drive.work import AdvanceBy, AndCall, Raise
from wheelproof_spec.fuzz.burst import await_submitted, raise_it, run_submitted, surviving
from wheelproof_spec.fuzz.bursts import bursts_of, run_burst_fuzz, setups_of
from wheelproof_spec.fuzz.judged_bursts import JudgedBursts
from wheelproof_spec.fuzz.machine import Machine
from wheelproof_spec.fuzz.stage import Programs, RealThreads, Stage
from wheelproof_spec.fuzz.threaded_case import Burst
from wheelproof_spec.history.recording.load_recorder import RecordedPort
from wheelproof_spec.history.run import EVERY_CALL_RETURNS


@dataclass(frozen=True, slots=True)
class Claimed:
    """A discipline, and the claims that hold with it."""

    discipline: type[CompletionDiscipline]
    claims: PurgatoryConfig


_OVERLAPPING = replace(PREDICATES_TOO, attempts=ABSENT)

DISCIPLINES = (
    Claimed(ExclusiveDiscipline, PREDICATES_TOO),
    Claimed(BlockingDiscipline, _OVERLAPPING),
    Claimed(PendingFlagDiscipline, _OVERLAPPING),
    Claimed(TryLockOnceDiscipline, replace(_OVERLAPPING, triggers="may_be_missed")),
    Claimed(MonitorDiscipline, _OVERLAPPING),
)


MakeDiscipline = Callable[[], CompletionDiscipline]

_SHARDS = 2
_TITLE = PURGATORY.definition.title()


def run_threaded_purgatory_fuzz(variant: PurgatoryVariant, plan: FuzzPlan) -> FuzzReport:
    """Run bursts of threads on the purgatory of `variant`; see `run_burst_fuzz`.

    The reference itself is drawn with one of the five disciplines, and judged by its claims.
    """
    discipline = None if variant == PurgatoryVariant() else variant.discipline
    work = work_of_bursts(len(DISCIPLINES) if discipline is None else 1)
    return run_burst_fuzz(
        "purgatory, real threads",
        lambda case: PurgatoryUnderTest(
            variant.purgatory_class,
            discipline,
            case.setup,
            RealThreads(_TITLE, case.preemption()),
            keep=plan.keep,
        ),
        setups_of(work),
        bursts_of(work),
        plan,
    )


class PurgatoryUnderTest:
    """A purgatory whose calls are recorded."""

    def __init__(
        self,
        purgatory_class: type[AnyPurgatory],
        discipline: MakeDiscipline | None,
        setup: PurgatorySetup,
        stage: Stage,
        *,
        keep: Callable[[KeptHistory], object] | None = None,
        search: LinearizationSearch | None = None,
        executor: DeferredExecutor | None = None,
    ) -> None:
        """Make it; without an `executor`, whose tasks who advances runs, it has a thread."""
        drawn, asked = DISCIPLINES[setup.discipline], setup.config
        config = replace(
            drawn.claims,
            tick_ms=asked.tick_ms,
            wheel_size=asked.wheel_size,
            purge_interval=asked.purge_interval,
        )
        self._names = count(1)
        self._made: list[OperationId] = []
        self._now_ms = 0
        self._broken = False
        self._stage = stage
        self._bursts = JudgedBursts(
            RECORDED,
            config,
            clock="virtual",
            profile=WHEELPROOF,
            process=stage.process,
            search=search,
            keep=keep,
        )
        self._deferred = executor
        with stage.alone():
            clock = ManualClock(0)
            self._clock_moves = sync.lock("clock moves")
            self._executor = executor or sync.single_thread_executor("purgatory under test")
            timer = SystemTimer(
                "under test",
                tick_ms=config.tick_ms,
                wheel_size=config.wheel_size,
                clock=clock,
                executor=self._executor,
            )
            purgatory = purgatory_class(
                "under test",
                timer,
                purge_interval=config.purge_interval,
                shards=_SHARDS,
                reaper_enabled=False,
            )
        recorder = self._bursts.recorder
        self._port = PurgatoryPort(
            purgatory,
            recorder,
            clock=clock,
            discipline=drawn.discipline if discipline is None else discipline,
        )
        self._purgatory = RecordedPort(self._port, recorder)

    def programs(self, burst: Burst[Call]) -> Programs:
        """Return the calls of a burst."""
        return [
            [(step, surviving(partial(self._call, step))) for step in program] for program in burst
        ]

    def run(self, burst: Burst[Call]) -> Violation | None:
        """Run one burst and return the violation of its history, if any."""
        programs = self.programs(burst)
        violation = self._bursts.judge(lambda: self._stage.run(programs), self._settle)
        self._broken = violation is not None
        return violation

    def finish(self) -> Violation | None:
        """Let all operations expire, then purge: nothing may be left."""
        if self._broken:
            # A thread may be stuck in the purgatory.
            self._executor.shutdown()
            return None
        last = self.programs(((AdvanceBy(jump_ms=LONGEST_DELAY_MS + 1),),))
        violation = self._bursts.judge(lambda: self._stage.run(last), self._purge)
        violation = violation or self._bursts.finish()
        end_it = self._executor.shutdown if violation else self._port.purgatory.close
        end_it()
        return violation

    def _call(self, step: Call) -> None:
        purgatory = self._purgatory
        match step:
            case HandIn():
                self._hand_in(step)
            case AndCall(step=HandIn() as hand_in, then=then):
                self._hand_in(hand_in, partial(self._call, then))
            case SatisfyAndCheck(last=last, key=key):
                for name in self._made[-last:]:
                    purgatory.perform(Satisfy(operation=name))
                purgatory.perform(CheckAndComplete(key=key))
            case CheckAndComplete() | CancelForKey() | PurgeCompleted() | Shutdown():
                purgatory.perform(step)
            case ForceOne(operation=number):
                if made := self._made:
                    purgatory.perform(ForceComplete(operation=made[number % len(made)]))
            case AdvanceBy(jump_ms=jump_ms):
                self._advance(jump_ms)
            case AskGauges():
                self._ask()
            case Raise():
                raise_it()
            case _:
                raise AssertionError(step)

    def _hand_in(self, step: HandIn, then: Callable[[], object] | None = None) -> None:
        """Hand in a new operation; other threads may complete it while it is handed in."""
        name = f"op{next(self._names)}"
        asked = TryCompleteElseWatch(operation=name, delay_ms=step.delay_ms, keys=step.keys)
        self._port.prepare(asked, then=then)
        self._made.append(name)
        if not step.conditions:
            self._purgatory.perform(Satisfy(operation=name))
        self._purgatory.perform(asked)

    def _advance(self, jump_ms: int) -> None:
        with self._clock_moves:
            self._now_ms += jump_ms
            self._purgatory.perform(Tick(to_ms=self._now_ms))
        self._purgatory.perform(AdvanceClock(timeout_ms=0))
        if self._deferred is not None:
            run_submitted(self._deferred)

    def _await_submitted(self) -> None:
        if self._deferred is None:
            await_submitted(self._executor, EVERY_CALL_RETURNS)

    def _settle(self) -> None:
        self._bursts.recorder.do(AwaitSubmitted(), self._await_submitted)
        self._ask()

    def _ask(self) -> None:
        for gauge in (Watched(), NumDelayed(), NumKeys()):
            self._purgatory.perform(gauge)

    def _purge(self) -> None:
        self._settle()
        self._call(PurgeCompleted())
        self._settle()


MACHINE = Machine(
    suite=PURGATORY,
    profile=WHEELPROOF,
    sound=PurgatoryVariant(),
    port=lambda variant: ReferencePurgatoryPort(
        variant.purgatory_class, variant.discipline, variant.holds
    ),
    parts={"real": (run_threaded_purgatory_fuzz,)},
)
