"""Every engine, run on a component as it is in this process, within a budget.

Each engine takes a `Task`. The reference may have been altered before this module was loaded.
The unaltered reference is correct, so any failure that an engine finds counts.
"""

import contextlib
import io
import random
import re
import runpy
import shlex
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import count, zip_longest
from pathlib import Path

from wheelproof_explore.explorer import explore
from wheelproof_explore.options import Engine, Options
from wheelproof_explore.program import Program
from wheelproof_explore.verdicts import Verdict as ExploreVerdict
from wheelproof_lab.bugs.known_bug import KnownBug
from wheelproof_lab.checkout import required_checkout
from wheelproof_lab.detect.mutation.budget import Budget, used_s
from wheelproof_lab.detect.mutation.cells import NOTHING_THERE, End, Found
from wheelproof_lab.detect.mutation.reached import Reached
from wheelproof_lab.graph.all_comparisons import COMPARISONS
from wheelproof_lab.prove.all_proofs import PROOFS
from wheelproof_lab.worlds.all_programs import FAILING, FAULTS, PAIRS, PASSING, SIGNALS
from wheelproof_lab.worlds.drawn import DRAWN
from wheelproof_spec.app.recorded import judge_lines
from wheelproof_spec.app.verbs.record import record_history
from wheelproof_spec.base.errors import WheelproofSpecError
from wheelproof_spec.base.results.verdicts import CheckResult, Verdict
from wheelproof_spec.base.suite import FuzzPlan
from wheelproof_spec.components.registry import loads, machines, suites
from wheelproof_spec.history.recording.callers import Callers

FOLDERS = {"buffer_pool": "producer", "accumulator": "producer"}
"""The folder of a component, in the reference and in `tla`, if it is not the component's name."""
_CALLERS, _CALLS = 6, 240
_STUCK_AFTER_S, _ANSWER_S = 40.0, 10.0
"""The limits of a load and of an answer: each takes under a second, even on a busy machine."""
_CASES, _SEEDS = 20, 1 << 20
"""The cases of a batch, each with its own seed; the distance between the seeds of two cells."""
_DRAWN = 40
"""How many of the drawn programs an engine takes: with more, no budget comes to a second round."""
_SHRINK_S = 2.0
_LONGEST_STORY = 4_000
_ROUNDS: tuple[tuple[Engine, int | None], ...] = (
    (Engine.SAMPLE, 1),
    (Engine.SAMPLE, 4),
    (Engine.OPTIMAL, 100),
    (Engine.SAMPLE, 60),
    (Engine.OPTIMAL, 1_500),
    (Engine.SAMPLE, 1_000),
    (Engine.OPTIMAL, None),
)
"""How each program is explored (engine, most runs), per round.

The first rounds are short: one run of each program shows which of them call what was altered.
"""
_DRAWN_ROUNDS: tuple[tuple[Engine, int | None], ...] = (
    (Engine.SAMPLE, 1),
    (Engine.SAMPLE, 10),
    (Engine.SAMPLE, 100),
    (Engine.OPTIMAL, None),
)
"""The same for the programs that are drawn: there are many, so a round gives each little."""
_SIGNAL_ROUNDS: tuple[tuple[Engine, int | None], ...] = (
    (Engine.SAMPLE, 2),
    (Engine.BOUNDED, 40),
    (Engine.BOUNDED, 400),
    (Engine.OPTIMAL, None),
)
"""The same where a signal ends a call: the third round comes to every place of the call once."""
_MADE: tuple[Engine, int | None] = (Engine.OPTIMAL, 20_000)
"""How the program that was made for a bug is explored, before all others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """What an engine looks at, for how many seconds, and with which seed.

    `bug` is the known bug that was brought back, if any; `serve` the command that serves the
    reference, altered in the same way, as a driver. `graphs` is the folder with TLC's graphs;
    `failing` is where a recorded history that fails is kept: threads do not repeat a schedule.
    `reached` watches the altered function; `source` is its text, followed by that of its class.
    """

    component: str
    seconds: float
    seed: int
    bug: KnownBug | None
    serve: tuple[str, ...]
    graphs: Path
    failing: Path
    reached: Reached = field(default_factory=Reached)
    source: str = ""

    def budget(self, clock: Callable[[], float] = used_s) -> Budget:
        """Return the budget, which begins now, on a clock of CPU time."""
        return Budget(self.seconds, clock)


def driven(task: Task) -> Found:
    """Drive the reference call by call through the protocol: the named cases, then drawn ones."""
    from wheelproof_spec.drive.conformance import conform
    from wheelproof_spec.drive.driver.process import DriverLimits
    from wheelproof_spec.drive.plan import ConformancePlan

    limits = DriverLimits(timeout_s=_ANSWER_S)
    plan = ConformancePlan(
        driver=shlex.join(task.serve),
        cases=100,
        seed=task.seed,
        limits=limits,
        # The smallest case of a known bug is shown; for a mutant the first failure is enough.
        first_failure=task.bug is None,
    )
    result = conform(suites()[task.component], plan, [])
    for failure in result.failures:
        story = "\n".join((failure.case, str(failure.violation), *failure.lines))
        return Found(end=End.FOUND, runs=result.cases, length=len(failure.lines), story=story)
    for trouble in result.troubles:
        story = "\n".join((trouble.case, trouble.problem, *trouble.last_lines))
        return Found(end=End.FOUND, runs=result.cases, length=len(trouble.lines), story=story)
    end = End.CLEAN if result.verdict is Verdict.PASS else End.ERROR
    return Found(end=end, runs=result.cases, story=result.open_question or "")


def fuzzed(threads: str) -> Callable[[Task], Found]:
    """Return the engine that fuzzes with one thread, or with several real or controlled ones."""

    def run(task: Task) -> Found:
        machine = machines()[task.component]
        if threads not in machine.threads:
            return NOTHING_THERE
        # A machine keeps the original classes, so it gets the variants of the bug.
        variant = None if task.bug is None else task.bug.variant()
        budget, runs = task.budget(), 0
        # Real threads do not repeat a schedule, and a stuck thread costs a long wait: no shrinking.
        real = threads == "real"
        for seed in count(task.seed * _SEEDS, _CASES):
            plan = FuzzPlan(
                threads=threads,
                cases=_CASES,
                seed=seed,
                repeat=f"wheelproof fuzz {task.component} --threads {threads} --seed {{seed}}",
                shrink_seconds=0 if real else _SHRINK_S,
                seed_per_case=real,
            )
            for report in machine.reports(plan, variant):
                runs += report.cases
                if report.failure is not None:
                    steps = report.failure.steps
                    story = "\n".join((str(report.failure.violation), *steps))
                    return Found(end=End.FOUND, runs=runs, length=len(steps), story=story)
            if budget.over():
                break
        return Found(end=End.CLEAN, runs=runs)

    return run


def explored(task: Task) -> Found:
    """Explore the program made for the bug, then the programs of the component, in rounds.

    The pairs, and the programs of which a call into the environment fails, are among them. After
    the first round, programs that have called the altered function come first.
    """
    name = "" if task.bug is None else f"bug/{task.bug.id}"
    made = [one for one in FAILING[task.component] if one.name == name]
    of = task.component
    passing = [*PASSING[of], *PAIRS[of], *FAULTS.get(of, ())]
    return _in_rounds(task, ((_MADE, made),), passing, _ROUNDS)


def drawn(task: Task) -> Found:
    """Explore the programs that are drawn from the work of the component, in rounds."""
    of = DRAWN[task.component]
    # As many seeds are behind the enumeration as in it.
    seeds = random.Random(task.seed).sample(range(2 * sum(of.plans())), _DRAWN)
    return _in_rounds(task, (), [of.program(seed) for seed in seeds], _DRAWN_ROUNDS)


def signalled(task: Task) -> Found:
    """Explore the programs of the component in which a signal may end a call anywhere."""
    programs = [*SIGNALS.get(task.component, ())]
    return _in_rounds(task, (), programs, _SIGNAL_ROUNDS) if programs else NOTHING_THERE


def _in_rounds(
    task: Task,
    first: Sequence[tuple[tuple[Engine, int | None], list[Program]]],
    passing: list[Program],
    rounds: Sequence[tuple[Engine, int | None]],
) -> Found:
    random.Random(task.seed).shuffle(passing)
    budget, runs, calling = task.budget(), 0, set[str]()
    for (engine, most), left in (*first, *((round_, passing) for round_ in rounds)):
        for program in sorted(left, key=lambda one: one.name not in calling):
            if budget.over():
                return Found(end=End.CLEAN, runs=runs)
            options = Options(engine=engine, seed=task.seed, max_runs=most, shrink=False)
            found = explore(program, options)
            runs += found.runs
            calling |= {program.name} if task.reached.take() else set()
            if found.counterexample is not None:
                return Found(
                    end=End.FOUND,
                    runs=runs,
                    length=len(found.counterexample.steps),
                    story=f"{program.name}\n{found.details()}",
                )
            if found.verdict() is ExploreVerdict.PASS:
                left.remove(program)
    return Found(end=End.CLEAN, runs=runs)


def recorded(task: Task) -> Found:
    """Record the component under load, again and again, and judge the histories."""
    budget, runs = task.budget(), 0
    make_load = loads()[task.component]
    while not budget.over():
        stream = io.BytesIO()
        callers = Callers(threads=_CALLERS, operations=_CALLS, seed=task.seed, number=runs)
        runs += 1
        trouble = _trouble_of(partial(record_history, stream, task.component, make_load, callers))
        if trouble:
            return Found(end=End.FOUND, runs=runs, length=_CALLS, story=trouble)
        lines = stream.getvalue().splitlines(keepends=True)
        for verdict in judge_lines("recorded", lines).verdicts:
            if verdict.verdict is Verdict.FAIL:
                task.failing.parent.mkdir(parents=True, exist_ok=True)
                task.failing.write_bytes(stream.getvalue())
                story = f"{verdict}\nthe history is kept as {task.failing.name}"
                return Found(end=End.FOUND, runs=runs, length=len(lines) - 2, story=story)
    return Found(end=End.CLEAN, runs=runs)


def _trouble_of(recording: Callable[[], object]) -> str:
    """Return why the recording failed, or an empty text; a load's threads may wait forever."""
    troubles = list[str]()

    def record() -> None:
        try:
            recording()
        except WheelproofSpecError as error:
            troubles.append(str(error))

    recorder = threading.Thread(target=record, daemon=True)
    recorder.start()
    recorder.join(_STUCK_AFTER_S)
    return "\n".join(troubles) or ("the load does not end" if recorder.is_alive() else "")


def compared(task: Task) -> Found:
    """Compare the state graphs of the code with those of TLC, a model of each module in turn.

    Modules that the altered function names come first, then those that its class names.
    """
    from wheelproof_lab.detect.graphs import remembered
    from wheelproof_lab.graph.comparing.comparisons import GraphModel, carry_out
    from wheelproof_lab.graph.comparing.report import check_result
    from wheelproof_spec.tlc.running.launch import find_toolchain

    by_module: dict[str, list[GraphModel]] = {}
    for model in COMPARISONS[task.component]:
        by_module.setdefault(model.configuration.module, []).append(model)
    models = [one for turn in zip_longest(*by_module.values()) for one in turn if one is not None]
    if not models:
        return NOTHING_THERE
    models.sort(key=lambda one: _place(task.source, one.configuration.module))
    # TLC's graphs are cached, so the budget does not count the time of TLC.
    budget, runs, toolchain = task.budget(time.process_time), 0, find_toolchain()
    for model in models:
        if budget.over():
            break
        outcome = carry_out(model, toolchain, None, remembered(task.graphs))
        runs += outcome.comparison.code.states
        if outcome.verdict is Verdict.FAIL:
            told = check_result(outcome)
            differences = outcome.comparison.differences
            length = len(differences[0].path) if differences else 0
            story = f"{model.name}: {told.summary}\n{told.details}"
            return Found(end=End.FOUND, runs=runs, length=length, story=story)
    return Found(end=End.CLEAN, runs=runs)


def _place(source: str, module: str) -> int:
    """Return the index of the first "of <module>" in the source, or the length of the source."""
    found = re.search(rf"\bof\s+{module.removeprefix('MC')}\b", source)
    return found.start() if found else len(source)


def proved(task: Task) -> Found:
    """Refute the proof variants that have the bug; without a bug, check the proofs themselves."""
    from wheelproof_lab.prove.obligations import SECONDS, refute
    from wheelproof_lab.prove.verb import proved

    known = PROOFS.get(task.component, ())
    budget = task.budget()
    if task.bug is None:
        results: list[CheckResult] = []
        for one in known:
            results += proved([one.name], seconds=SECONDS) if not budget.over() else ()
        wrong = [str(result) for result in results if result.verdict is not Verdict.PASS]
        return _ended(wrong, len(results)) if results else NOTHING_THERE
    made = [one.make() for one in known]
    variants = [(p, v) for p in made for v in p.variants if v.bug == task.bug.id]
    for proof, variant in variants:
        verdict, _, details = refute(proof, variant)
        if verdict is Verdict.PASS:
            length = max(len(details.rpartition("after a run:\n")[2].splitlines()), 1)
            return Found(end=End.FOUND, runs=1, length=length, story=f"{proof.name}\n{details}")
    return Found(end=End.CLEAN, runs=len(variants)) if variants else NOTHING_THERE


def model_checked(task: Task) -> Found:
    """Let TLC check the first model that has the bug, or else the component's smoke models."""
    from wheelproof_spec.base.resources import tla_directory
    from wheelproof_spec.tlc.judging.check import trace_length
    from wheelproof_spec.tlc.judging.outcome import ModelOutcome
    from wheelproof_spec.tlc.judging.runner import RunSettings, SilentObserver, run_models
    from wheelproof_spec.tlc.manifest.loader import load_manifest
    from wheelproof_spec.tlc.manifest.model import Kind, Tier
    from wheelproof_spec.tlc.running.launch import find_toolchain

    models = load_manifest(tla_directory() / "manifest.toml")
    if task.bug is None:
        folder = FOLDERS.get(task.component, task.component)
        models = [one for one in models if one.kind is Kind.MODEL and one.tier is Tier.SMOKE]
        models = [one for one in models if folder in one.module_path.parts]
    else:
        models = [one for one in models if one.name in task.bug.models][:1]
    if not models:
        return NOTHING_THERE
    budget, outcomes = task.budget(), list[ModelOutcome]()
    for model in models:
        if not budget.over():
            outcomes += run_models(find_toolchain(), [model], RunSettings(), SilentObserver())
    states = sum(outcome.generated or 0 for outcome in outcomes)
    wrong = [outcome.story() for outcome in outcomes if outcome.verdict is not Verdict.PASS]
    if task.bug is None:
        return _ended(wrong, states)
    if wrong:
        return Found(end=End.CLEAN, runs=states, story="\n".join(wrong))
    length = trace_length(outcomes[0].run.report) or 0
    return Found(end=End.FOUND, runs=states, length=length, story=outcomes[0].story())


def contracted(task: Task) -> Found:
    """Prove the theorems about the component's arithmetic, over all integers."""
    from wheelproof_lab.prove.contracts.prove import find_contracts, prove

    folder = f"wheelproof.{FOLDERS.get(task.component, task.component)}."
    ours = f"wheelproof_spec.components.{task.component}."
    contracts = [one for one in find_contracts() if one.module.startswith((folder, ours))]
    if not contracts:
        return NOTHING_THERE
    budget = task.budget()
    for runs, contract in enumerate(contracts, 1):
        result = prove(contract, seconds=task.seconds)
        if result.verdict is Verdict.FAIL:
            return Found(
                end=End.FOUND, runs=runs, length=1, story=f"{result.name} {result.summary}"
            )
        if budget.over():
            return Found(end=End.CLEAN, runs=runs)
    return Found(end=End.CLEAN, runs=len(contracts))


def _ended(wrong: list[str], runs: int) -> Found:
    end = End.FOUND if wrong else End.CLEAN
    return Found(end=end, runs=runs, length=len(wrong), story="\n".join(wrong))


def tested(task: Task, only: str) -> Found:
    """Run the unit tests of the component's folder, up to the first failure.

    `only` is an expression of pytest for their names; all of them if it is empty.
    """
    folder = required_checkout() / "tests" / "reference"
    options = ("-x", "-q", "-p", "no:cacheprovider", "--timeout=0", "-m", "not slow and not long")
    sys.argv[1:] = [*options, "-k", only, str(folder / FOLDERS.get(task.component, task.component))]
    said = io.StringIO()
    code: object = None
    with contextlib.redirect_stdout(said):
        try:
            # The package ships neither the tests nor pytest, which runs them.
            runpy.run_module("pytest", run_name="__main__")
        except SystemExit as ended:
            code = ended.code
    end = End.FOUND if code else End.CLEAN
    return Found(end=end, runs=1, length=1, story=said.getvalue()[-_LONGEST_STORY:])


ENGINES: Mapping[str, Callable[[Task], Found]] = {
    "contracts": contracted,
    "TLC": model_checked,
    "proof": proved,
    "model checker": explored,
    "model checker, drawn": drawn,
    "model checker, signals": signalled,
    "state graph": compared,
    "fuzz, one thread": fuzzed("none"),
    "fuzz, real threads": fuzzed("real"),
    "fuzz, controlled threads": fuzzed("controlled"),
    "driven": driven,
    "recorded": recorded,
    "tests": partial(tested, only=""),
}
