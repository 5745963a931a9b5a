"""Exploring a program: the engine, the checks around it, and the result."""

import hashlib
import inspect
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from enum import StrEnum
from functools import cache

from wheelproof_spec.engines.explore.counterexamples.counterexample import (
    FailingInterleaving,
    run_of,
)
from wheelproof_spec.engines.explore.counterexamples.leave_out import OperationShrinker
from wheelproof_spec.engines.explore.counterexamples.recording import RunRecording, record
from wheelproof_spec.engines.explore.counterexamples.shrink import Shrinker
from wheelproof_spec.engines.explore.estimate import Estimate, Estimator, Progress
from wheelproof_spec.engines.explore.failures.failure import Failure, FailureKind
from wheelproof_spec.engines.explore.failures.problems import NondeterminismError
from wheelproof_spec.engines.explore.fields.guarded_fields import verified_guards
from wheelproof_spec.engines.explore.fields.plain_fields import watched
from wheelproof_spec.engines.explore.patched.patching import patched_threading
from wheelproof_spec.engines.explore.patched.threads import RosterNeededError
from wheelproof_spec.engines.explore.program import Program
from wheelproof_spec.engines.explore.result import CERTIFYING_ENGINE, Exploration
from wheelproof_spec.engines.explore.runs import races
from wheelproof_spec.engines.explore.runs.canonical import ClassNames, SetDigest
from wheelproof_spec.engines.explore.runs.execution import Execution, World
from wheelproof_spec.engines.explore.runs.guard import forbidden_calls, require_assertions, watchdog
from wheelproof_spec.engines.explore.runs.races import Analysis
from wheelproof_spec.engines.explore.runs.schedule import decode
from wheelproof_spec.engines.explore.runs.sharing import Sharing
from wheelproof_spec.engines.explore.runtime import (
    accesses,
    cells,
    conditions,
    locks,
    model,
    numbers,
    read_write_lock,
    thread_steps,
    timing,
)
from wheelproof_spec.engines.explore.runtime.numbers import Actor
from wheelproof_spec.engines.explore.strategies.brute import BruteStrategy
from wheelproof_spec.engines.explore.strategies.driver import analysed_runs, nondeterminism
from wheelproof_spec.engines.explore.strategies.optimal import OptimalStrategy
from wheelproof_spec.engines.explore.strategies.replay import ReplayStrategy
from wheelproof_spec.engines.explore.strategies.sample import SampleStrategy
from wheelproof_spec.engines.explore.strategies.source import SourceStrategy
from wheelproof_spec.engines.explore.strategies.strategy import Strategy
from wheelproof_spec.engines.explore.substrates.substrate import SubstrateKind, open_substrate

SAMPLES = 10_000
CHECK_EVERY = 256
"""One run in so many is repeated to see whether the program is deterministic."""

FIRST_REPORT_S = 2.0
"""After how many seconds a run counts as a long one: then its size is estimated."""
REPORT_EVERY_S = 5.0
PROBES = 300

_PRIMITIVES = (
    accesses, cells, conditions, locks, model, numbers, races, read_write_lock, thread_steps,
    timing,
)  # fmt: skip


class Engine(StrEnum):
    """The engines there are."""

    OPTIMAL = CERTIFYING_ENGINE
    SAMPLE = "sample"
    BRUTE = "brute"
    SOURCE = "source"
    REPLAY = "replay"


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How to explore.

    `max_runs` ends the exploration early (None: never), `keep_going` does not end it at the first
    failure, `shrink` makes that one simple, `schedule` is what the engine `replay` replays,
    `check_every` see CHECK_EVERY. With `record` the result has the failing run, or an example of
    one that passes, with all its states.
    """

    engine: Engine = Engine.OPTIMAL
    substrate: SubstrateKind = SubstrateKind.GREENLET
    seed: int = 0
    max_runs: int | None = None
    keep_going: bool = False
    shrink: bool = True
    schedule: str = ""
    check_every: int = CHECK_EVERY
    record: bool = False


DEFAULT_OPTIONS = Options()


def explore(
    program: Program,
    options: Options = DEFAULT_OPTIONS,
    progress: Callable[[Progress], None] | None = None,
) -> Exploration:
    """Explore `program`; `progress` is called after two seconds, and then now and then.

    Raises ProgramRejectedError or ScheduleRejectedError for what cannot be explored. Ctrl-C ends
    the exploration early: its result is inconclusive, unless a failure had been found.
    """
    require_assertions(program.name)
    if options.engine is Engine.REPLAY:
        program, _ = decode(program, options.schedule)
    try:
        return _explore(program, options, progress, roster=False)
    except RosterNeededError:
        return _explore(program, options, progress, roster=True)


def _explore(
    program: Program,
    options: Options,
    progress: Callable[[Progress], None] | None,
    *,
    roster: bool,
) -> Exploration:
    session = _Session(program, options, progress)
    begin = time.monotonic()
    with ExitStack() as stack:
        stack.callback(session.world.substrate.close)
        stack.enter_context(verified_guards(program.name))
        stack.enter_context(watched(program.plain_fields))
        if program.patch_threading:
            stack.enter_context(patched_threading(roster=roster))
        else:
            stack.enter_context(forbidden_calls(program.name))
        if options.substrate is SubstrateKind.GREENLET:
            stack.enter_context(watchdog(program.name, session.world.progress))
        session.explore()
    return session.result(time.monotonic() - begin)


class _Session:
    def __init__(
        self, program: Program, options: Options, progress: Callable[[Progress], None] | None
    ) -> None:
        self._program = program
        self._options = options
        self._progress = progress
        self.world = World(program, open_substrate(options.substrate))
        self._strategy = _strategy(program, options)
        self._names = ClassNames(self.world)
        self._classes: set[bytes] = set()
        self._digest = SetDigest()
        self._sharing = Sharing()
        self._runs = self._failing = self._deadlocks = self._depth = 0
        self._given_up = 0
        self._why = ""
        self._too_long = self._for_graph_mode = False
        self._first: tuple[Failure, tuple[Actor, ...]] | None = None
        self._stopped: str | None = None
        self._counterexample: FailingInterleaving | None = None
        self._recording: RunRecording | None = None
        self._estimate: Estimate | None = None
        self._begin = time.monotonic()
        self._next_report = self._begin + FIRST_REPORT_S

    def explore(self) -> None:
        """Run the engine to its end, then make the failure simple, if there was one."""
        try:
            self._run_engine()
            if self._first is not None:
                self._explain(*self._first)
        except KeyboardInterrupt:
            self._stopped = "interrupted"
            if self._first is not None and self._counterexample is None:
                self._counterexample = run_of(self.world, self._first[1])
        if self._options.record:
            steps = () if self._counterexample is None else self._counterexample.steps
            self._recording = record(self.world, tuple(step.actor for step in steps))

    def result(self, seconds: float) -> Exploration:
        """Return what was found out."""
        options = self._options
        return Exploration(
            program=self._program.name,
            program_digest=self._program.digest(),
            primitives_digest=_primitives_digest(),
            engine=options.engine.value,
            substrate=options.substrate.value,
            seed=options.seed if options.engine is Engine.SAMPLE else None,
            runs=self._runs,
            classes=len(self._classes),
            blocked_runs=self._strategy.blocked_runs,
            failing_runs=self._failing,
            deadlocks=self._deadlocks,
            depth=self._depth,
            seconds=seconds,
            digest=self._digest.hex(),
            complete=self._strategy.complete,
            stopped=self._stopped,
            gap=self._gap(),
            counterexample=self._counterexample,
            recording=self._recording,
        )

    def _gap(self) -> str:
        if self._for_graph_mode and not self._given_up:
            return "its sometimes, leads_to and wakes are judged by --engine graph alone"
        if not self._given_up:
            return self._sharing.gap()
        return f"{self._given_up:,} of {self._runs:,} runs were given up: {self._why}"

    def _run_engine(self) -> None:
        options = self._options
        for analysis in analysed_runs(self.world, self._strategy):
            self._take_note(analysis)
            if self._runs % options.check_every == 1 % options.check_every:
                self._repeat(analysis.execution)
            if self._first is not None and not options.keep_going:
                return
            if self._too_long and not options.keep_going:
                # Each of the other runs may be as long, and a pass is out of reach.
                return
            if options.max_runs is not None and self._runs >= options.max_runs:
                self._stopped = "the bound on runs was reached"
                return
            if self._progress is not None and time.monotonic() >= self._next_report:
                self._progress(self._how_far())
                self._next_report = time.monotonic() + REPORT_EVERY_S

    def _how_far(self) -> Progress:
        seconds = time.monotonic() - self._begin
        strategy = self._strategy
        if not isinstance(strategy, OptimalStrategy):
            return Progress(runs=self._runs, seconds=seconds)
        if self._estimate is None:
            estimator = Estimator(self.world)
            for _ in range(PROBES):
                estimator.probe()
            self._estimate = estimator.estimate()
        return Progress(
            runs=self._runs,
            seconds=seconds,
            estimate=self._estimate,
            fraction=strategy.fraction_done(),
        )

    def _take_note(self, analysis: Analysis) -> None:
        execution = analysis.execution
        self._runs += 1
        self._depth = max(self._depth, len(execution.actors))
        failure = execution.judge()
        self._sharing.note(execution)
        scenario = execution.scenario
        self._for_graph_mode = bool(scenario.sometimes or scenario.leads_to or scenario.wakes)
        unended = "" if failure is not None else execution.unended()
        if unended:
            self._given_up += 1
            self._why = self._why or unended
            self._too_long = execution.cycle() is None and self._strategy.complete
            return
        name = self._names.name(execution)
        if name not in self._classes:
            self._classes.add(name)
            self._digest.add(name)
        if failure is not None:
            self._failing += 1
            self._deadlocks += failure.kind is FailureKind.DEADLOCK
            if self._first is None:
                self._first = failure, tuple(execution.actors)

    def _repeat(self, execution: Execution) -> None:
        """Repeat the run twice and compare every step, and everything else that was possible."""
        execution.seal()
        steps = list(zip(execution.actors, execution.accesses, strict=True))
        possible: list[list[object]] = []
        for _ in range(2):
            repeated = Execution(self.world)
            try:
                seen: list[object] = []
                for actor, touched in steps:
                    seen.append([(thread.number, others) for thread, others in repeated.enabled()])
                    if repeated.peek(actor) != touched:
                        raise nondeterminism(repeated)
                    repeated.step(actor, touched)
                possible.append(seen)
                if possible[0] != seen:
                    raise nondeterminism(repeated)
            finally:
                repeated.close()

    def _explain(self, failure: Failure, actors: tuple[Actor, ...]) -> None:
        if self._options.shrink and self._options.engine is not Engine.REPLAY:
            self.world, actors = OperationShrinker(self.world, failure).shrink(actors)
            actors = Shrinker(self.world, failure).shrink(actors)
        self._counterexample = run_of(self.world, actors)
        if self._counterexample is None:
            raise NondeterminismError(
                self._program.name,
                f"is not deterministic: a run failed, and its repetition did not: "
                f"{failure.sentence()}",
                "make nothing depend on time, randomness or what an earlier run left behind",
            )


def _strategy(program: Program, options: Options) -> Strategy:
    match options.engine:
        case Engine.OPTIMAL:
            return OptimalStrategy()
        case Engine.SAMPLE:
            return SampleStrategy(options.seed, options.max_runs or SAMPLES)
        case Engine.BRUTE:
            return BruteStrategy()
        case Engine.SOURCE:
            return SourceStrategy()
        case Engine.REPLAY:
            return ReplayStrategy(decode(program, options.schedule)[1])


@cache
def _primitives_digest() -> str:
    text = "".join(inspect.getsource(module) for module in _PRIMITIVES)
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()
