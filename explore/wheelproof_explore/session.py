"""One exploration: the engine runs the program, each run is checked, a failure is explained."""

import hashlib
import sys
import time
from collections.abc import Callable, Generator, Iterable
from contextlib import ExitStack, contextmanager
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from wheelproof_explore.counterexamples.counterexample import (
    FailingInterleaving,
    run_of,
)
from wheelproof_explore.counterexamples.leave_out import OperationShrinker
from wheelproof_explore.counterexamples.recording import RunRecording, record
from wheelproof_explore.counterexamples.shrink import Shrinker
from wheelproof_explore.estimate import Estimate, Estimator, Progress
from wheelproof_explore.failures.failure import Failure
from wheelproof_explore.failures.problems import (
    NondeterminismError,
    OptionRejectedError,
    ProgramRejectedError,
    UnseenStateError,
)
from wheelproof_explore.fields.guarded_fields import verified_guards
from wheelproof_explore.fields.plain_fields import watched
from wheelproof_explore.instrument.accesses import NewlySharedError, Seeing
from wheelproof_explore.instrument.left_behind import LeftBehind
from wheelproof_explore.instrument.loading import instrumented, modules_seen
from wheelproof_explore.options import Engine, Options
from wheelproof_explore.patched.deaths import has_finaliser
from wheelproof_explore.patched.environment import Environment, call_of
from wheelproof_explore.patched.files import files_watched
from wheelproof_explore.patched.patching import patched_threading
from wheelproof_explore.patched.threads import RosterNeededError, keeping_roster
from wheelproof_explore.program import Program
from wheelproof_explore.program.faults import INTERRUPT
from wheelproof_explore.result import INTERRUPTED, Exploration
from wheelproof_explore.runs.canonical import ClassNames
from wheelproof_explore.runs.execution import Execution, World
from wheelproof_explore.runs.guard import forbidden_calls, watchdog
from wheelproof_explore.runs.races import Analysis
from wheelproof_explore.runtime.numbers import Actor
from wheelproof_explore.runtime.runtime import ControlledRuntime
from wheelproof_explore.strategies.bounded import BoundedStrategy
from wheelproof_explore.strategies.driver import analysed_runs
from wheelproof_explore.strategies.optimal import OptimalStrategy
from wheelproof_explore.strategies.strategy import Strategy, nondeterminism
from wheelproof_explore.substrates.substrate import SubstrateKind, open_substrate
from wheelproof_explore.tally import Tally

if TYPE_CHECKING:
    from wheelproof_explore.processes import Explorer

FIRST_REPORT_S = 2.0
"""The seconds after which an exploration counts as long: then its size is estimated."""
REPORT_EVERY_S = 5.0
PROBES = 300

_PRIMITIVES = (
    "runtime/accesses", "runtime/cells", "runtime/conditions", "runtime/locks", "runtime/model",
    "runtime/numbers", "runs/races", "runtime/read_write_lock", "runtime/thread_steps",
    "runtime/timing",
)  # fmt: skip


class NewModuleError(Exception):
    """A run loaded modules that are not instrumented yet; later runs will see their accesses."""

    def __init__(self, names: Iterable[str]) -> None:
        super().__init__(*names)
        self.names = sorted(names)


class Session:
    """Runs a program under the patches and checks that it needs, and keeps what was found."""

    def __init__(
        self,
        program: Program,
        options: Options,
        progress: Callable[[Progress], None] | None,
        seeing: Seeing,
        environment: Environment,
        *,
        roster: bool,
    ) -> None:
        self._program, self._seeing, self._roster = program, seeing, roster
        self._environment = environment
        self._options = options
        self._progress = progress
        self._loaded, self._modules = len(sys.modules), modules_seen(program.instrument)
        self.world = World(program, open_substrate(options.substrate))
        self._begin = time.monotonic()
        self._next_report = self._begin + FIRST_REPORT_S
        self._know_nothing()

    def _know_nothing(self) -> None:
        """Begin without a run; what makes steps by now stays known."""
        self.world.numbers = {}
        self._strategy: Strategy = self._options.strategy_for(self._program)
        self._names = ClassNames(self.world)
        self._tally = Tally()
        self._stopped: str | None = None
        self._counterexample: FailingInterleaving | None = None
        self._recording: RunRecording | None = None
        self._estimate: Estimate | None = None

    @contextmanager
    def contexts(self) -> Generator[None]:
        """Install, inside the block, the patches and checks that the program runs under."""
        program, options = self._program, self._options
        with ExitStack() as stack:
            stack.callback(self.world.substrate.close)
            stack.enter_context(verified_guards(program.name))
            stack.enter_context(watched(program.plain_fields))
            stack.enter_context(instrumented(program.name, program.instrument, self._seeing))
            stack.enter_context(self._environment.failing(self._seeing))
            if program.patch_threading:
                stack.enter_context(keeping_roster(kept=self._roster))
                standing = stack.enter_context(patched_threading(program.build))
                packages = (*program.instrument, *self._seeing.late)
                left_behind = LeftBehind(packages, (program.build, *standing), self._seeing)
                blind = self._seeing.blind if program.instrument else None
                files = stack.enter_context(files_watched(blind))

                def restore() -> None:
                    left_behind.restore()
                    files.undo()

                self.world.restore = restore
                stack.callback(left_behind.forget)
                stack.callback(restore)
            else:
                stack.enter_context(forbidden_calls(program.name))
            if options.substrate is SubstrateKind.GREENLET:
                stack.enter_context(watchdog(program.name, self.world.progress))
            yield

    def explore_side_by_side(self) -> None:
        """Run the engine in processes of their own."""
        options = self._options
        if options.engine is not Engine.OPTIMAL:
            raise OptionRejectedError(
                "--jobs is for the engine optimal: the others run in one process"
            )
        if self._program.instrument:
            raise OptionRejectedError(
                "code whose accesses are seen is explored in one process: omit --jobs, or see "
                "locks, queues and the like alone with --instrument none"
            )

        # An exploration in one process does not need this module.
        from wheelproof_explore.processes import explore_side_by_side

        def work(explorer: "Explorer") -> Tally:
            child = Session(
                self._program,
                options,
                None,
                self._seeing,
                self._environment,
                roster=self._roster,
            )
            child.world.numbers = explorer.numbers
            child._names = ClassNames(child.world)
            child._strategy = explorer
            with child.contexts():
                # Waiting for work counts as progress, so that the watchdog does not fire.
                while explorer.next(partial(child.world.begin_run, ())):
                    try:
                        child._explore_branch(explorer)
                    except RosterNeededError:
                        child._tally.needs_roster = True
                        explorer.end()
                    explorer.has_explored()
            child._tally.blocked = explorer.blocked_runs
            return child._tally

        self._tally, interrupted = explore_side_by_side(
            options.jobs, work, self.world.numbers, self._tell_runs
        )
        if self._tally.needs_roster:
            raise RosterNeededError(self._program.name, "asks for its threads", "")
        if interrupted:
            self._stopped = INTERRUPTED

    def _explore_branch(self, explorer: "Explorer") -> None:
        for analysis in analysed_runs(self.world, self._strategy):
            self._take_note(analysis)
            if self._is_over(explorer.count(self._tally.runs)):
                explorer.end()
            if explorer.ends():
                break

    def explore(self) -> None:
        """Run the engine to its end, again whenever a run changes what counts as a step."""
        while True:
            try:
                return self._explore()
            except NewlySharedError as error:
                if error.rewrites or self._options.jobs > 1:
                    raise
                self._know_nothing()

    def _explore(self) -> None:
        """Run the engine to its end, then simplify the failure, if there is one."""
        try:
            if self._options.jobs == 1:
                self._run_engine()
            bound = self._bound_reached(self._tally.runs)
            if self._stopped is None and bound is not None and not self._has_enough():
                self._stopped = f"the bound on {bound} was reached"
            if isinstance(self._strategy, BoundedStrategy) and self._tally.first is None:
                self._stopped = self._strategy.said(self._stopped)
            if self._tally.first is not None:
                self._explain(*self._tally.first)
        except KeyboardInterrupt:
            self._stopped = INTERRUPTED
            if self._tally.first is not None and self._counterexample is None:
                self._counterexample = run_of(self.world, self._tally.first[1])
        if self._options.record:
            steps = () if self._counterexample is None else self._counterexample.steps
            self._recording = record(self.world, tuple(step.actor for step in steps))

    def result(self, seconds: float) -> Exploration:
        """Return the result of the exploration."""
        options, tally = self._options, self._tally
        return Exploration(
            program=self._program.name,
            program_digest=self._program.digest(),
            primitives_digest=_primitives_digest(),
            engine=options.engine.value if options.strategy is None else "drawn",
            substrate=options.substrate.value,
            seed=options.seed if options.engine is Engine.SAMPLE else None,
            runs=tally.runs,
            classes=len(tally.classes),
            blocked_runs=tally.blocked + self._strategy.blocked_runs,
            failing_runs=tally.failing,
            deadlocks=tally.deadlocks,
            depth=tally.depth,
            seconds=seconds,
            cut_runs=tally.cut,
            digest=tally.digest.hex(),
            complete=self._strategy.complete,
            stopped=self._stopped,
            gap=self._never_called() or tally.gap() or self._blind(),
            faults=tuple(self._program.faults),
            unseen=_unseen(self._program, tally),
            counterexample=self._counterexample,
            recording=self._recording,
        )

    def _blind(self) -> str:
        """Return what was called that nobody could look into, as the reason why a pass is none."""
        blind = [*self._seeing.blind]
        more = f" and {len(blind) - 3} more" if len(blind) > 3 else ""
        return f"code that is not seen was called: {', '.join(blind[:3])}{more}" if blind else ""

    def _never_called(self) -> str:
        """Return which call was to fail and was made in no run."""
        for call in map(call_of, self._program.faults):
            if call not in self._tally.called:
                what = "thread of the name main" if call == INTERRUPT else f"call of {call}"
                return f"no run has a {what}, so that nothing failed there"
        return ""

    def _run_engine(self) -> None:
        try:
            for analysis in analysed_runs(self.world, self._strategy):
                self._take_note(analysis)
                if self._is_over(self._tally.runs):
                    break
                self._tell_runs(self._tally.runs)
        except UnseenStateError as error:
            self._stopped = str(error)
        except NondeterminismError:
            if not self._seeing.lost:
                raise
            self._stopped = f"a run has changed {self._lost()}"

    def _lost(self) -> str:
        return f"{' and '.join(self._seeing.lost)}, which cannot be brought back"

    def _is_over(self, runs: int) -> bool:
        return self._has_enough() or self._is_bound_reached(runs)

    def _has_enough(self) -> bool:
        """Tell whether to stop: at a failure, or if other runs may be too long as well."""
        found = self._tally.first is not None or self._tally.too_long
        return found and not self._options.keep_going

    def _is_bound_reached(self, runs: int) -> bool:
        return self._bound_reached(runs) is not None and not self._has_enough()

    def _bound_reached(self, runs: int) -> str | None:
        options = self._options
        if options.max_runs is not None and runs >= options.max_runs:
            return "runs"
        seconds = time.monotonic() - self._begin
        late = options.max_seconds is not None and seconds >= options.max_seconds
        return "seconds" if late else None

    def _tell_runs(self, runs: int) -> None:
        if self._progress is not None and time.monotonic() >= self._next_report:
            self._progress(self._how_far(runs))
            self._next_report = time.monotonic() + REPORT_EVERY_S

    def _how_far(self, runs: int) -> Progress:
        seconds = time.monotonic() - self._begin
        strategy = self._strategy
        if not isinstance(strategy, OptimalStrategy) or self._options.jobs > 1:
            return Progress(runs=runs, seconds=seconds)
        if self._estimate is None:
            estimator = Estimator(self.world)
            for _ in range(PROBES):
                estimator.probe()
            self._estimate = estimator.estimate()
        return Progress(
            runs=runs,
            seconds=seconds,
            estimate=self._estimate,
            fraction=strategy.fraction_done(),
        )

    def _take_note(self, analysis: Analysis) -> None:
        self._require_no_new_module()
        execution, every = analysis.execution, self._options.check_every
        self._tally.note(execution, self._names, complete=self._strategy.complete)
        if self._tally.first is not None:
            self._require_sure_failure(execution.runtime)
        if not execution.runtime.cut and self._tally.runs % every == 1 % every:
            self._repeat(execution)

    def _require_sure_failure(self, runtime: ControlledRuntime) -> None:
        """Raise ProgramRejectedError if the latest run may have failed by the checker's doing."""
        if self._seeing.lost:
            raise ProgramRejectedError(
                self._program.name,
                f"fails, but not from its beginning: an earlier run has changed {self._lost()}",
                "make it inside the run",
            )
        kept = next((one for one in runtime.kept_alive() if has_finaliser(one)), None)
        if kept is not None:
            raise ProgramRejectedError(
                self._program.name,
                f"fails, but perhaps since the checker kept a {type(kept).__name__} alive: it was "
                f"in a list or a dictionary that was dropped, and its finaliser did not run",
                "hold it by a name, or in an object of a class of your own",
            )

    def _require_no_new_module(self) -> None:
        """Raise NewModuleError if the last run has loaded a module that it has to be seen in."""
        if len(sys.modules) != self._loaded:
            self._loaded = len(sys.modules)
            new = modules_seen(self._program.instrument) - self._modules
            if new:
                raise NewModuleError(new)

    def _repeat(self, execution: Execution) -> None:
        """Repeat the run twice, and compare every step and all enabled steps."""
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


def _unseen(program: Program, tally: Tally) -> str:
    parts: list[str] = []
    if program.patch_threading and not program.instrument:
        parts.append("what its code reads and writes")
    if INTERRUPT in program.faults:
        # Since 3.14 Python looks for signals there (python/cpython#148874).
        entry = "" if sys.version_info < (3, 14) else ", where a with has just taken a lock"
        parts.append(f"Ctrl-C inside threading.Condition{entry}, and where nothing is called")
    if program.settings.first_in_first_out:
        parts.append("orders of turns that asyncio's own loop does not take")
    if tally.looks_at_clock:
        parts.append("time that passes by itself between two looks at a clock")
    return " and ".join(parts)


@cache
def _primitives_digest() -> str:
    folder = Path(__file__).parent
    text = "".join((folder / f"{name}.py").read_text() for name in _PRIMITIVES)
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()
