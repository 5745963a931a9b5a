"""The targets of a campaign: each has a name, and defines what one seed does.

`fuzz/MACHINE/THREADS` is a machine of `wheelproof fuzz`, `fuzz/MACHINE/THREADS/BUG` the same with a
known bug put back; `explore/PROGRAM` is a program of `wheelproof explore` with random schedules.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from wheelproof_explore.explorer import explore
from wheelproof_explore.options import Engine, Options
from wheelproof_explore.program import Program
from wheelproof_explore.result import Exploration
from wheelproof_explore.tasks.imported import imported
from wheelproof_spec.app.laboratory import laboratory
from wheelproof_spec.app.verbs.explore import check_result as explored_result
from wheelproof_spec.app.verbs.fuzz import check_result
from wheelproof_spec.base.errors import UsageError
from wheelproof_spec.base.results.fuzz_report import FuzzReport
from wheelproof_spec.base.results.verdicts import CheckResult, Verdict
from wheelproof_spec.base.results.violation import Violation
from wheelproof_spec.base.suite import SHRINK_SECONDS, FuzzPlan
from wheelproof_spec.components.registry import machines

SCHEDULES_OF_A_SEED = 50
"""The number of schedules of a program that one seed draws."""
_REAL = "real"
_LABORATORY = "a known bug, and a program that has a name,"


@dataclass(frozen=True, slots=True, kw_only=True)
class SeedOutcome:
    """The result of one seed: the violation, if any, and the number of calls of each kind."""

    violation: Violation | None
    calls: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A test that runs by seed; the same seed does the same thing on every machine.

    `name` is its name in the ledger and on the command line. `command` runs one seed on this
    machine alone, with `{seed}` in the seed's place. `run` runs a seed without shrinking a failure;
    `explain` runs it again, and shrinks the failure. `repeats` says whether a seed always has the
    same outcome, which real threads do not guarantee.
    """

    name: str
    command: str
    run: Callable[[int], SeedOutcome] = field(compare=False)
    explain: Callable[[int], CheckResult] = field(compare=False)
    repeats: bool = True


def fuzz_target(machine: str, threads: str, bug: str | None = None) -> Target:
    """Return the target of a fuzzing machine; a seed is a case."""
    option = "" if bug is None else f" --bug {bug}"
    command = f"wheelproof fuzz {machine} --threads {threads}{option} --case {{seed}}"

    def reports(seed: int, *, shrinks: bool) -> list[FuzzReport]:
        plan = FuzzPlan(
            threads=threads,
            cases=1,
            seed=seed,
            repeat=command,
            shrink_seconds=SHRINK_SECONDS if shrinks else 0,
            seed_per_case=True,
        )
        variant = None if bug is None else _variant(machine, bug)
        return list(machines()[machine].reports(plan, variant))

    def run(seed: int) -> SeedOutcome:
        found = reports(seed, shrinks=False)
        failures = [report.failure for report in found if report.failure is not None]
        calls: Counter[str] = Counter()
        for report in found:
            calls.update(report.calls)
        return SeedOutcome(violation=failures[0].violation if failures else None, calls=calls)

    def explain(seed: int) -> CheckResult:
        results = [check_result(report) for report in reports(seed, shrinks=True)]
        return next((result for result in results if result.verdict is Verdict.FAIL), results[0])

    name = f"fuzz/{machine}/{threads}" if bug is None else f"fuzz/{machine}/{threads}/{bug}"
    return Target(name=name, command=command, run=run, explain=explain, repeats=threads != _REAL)


def explore_target(program: str) -> Target:
    """Return the target of an explored program; a seed is SCHEDULES_OF_A_SEED random schedules."""

    def explored(seed: int, *, shrink: bool) -> Exploration:
        runs = SCHEDULES_OF_A_SEED
        options = Options(engine=Engine.SAMPLE, seed=seed, max_runs=runs, shrink=shrink)
        return explore(_program(program), options)

    def run(seed: int) -> SeedOutcome:
        found = explored(seed, shrink=False)
        violation = None
        if found.counterexample is not None:
            failure = found.counterexample.failure
            violation = Violation(
                rule=failure.kind.value,
                expected="no schedule fails",
                observed=failure.sentence(),
                reason=f"schedule {found.runs} of seed {seed}",
            )
        calls = {"schedules": found.runs, "classes": found.classes}
        return SeedOutcome(violation=violation, calls=calls)

    return Target(
        name=f"explore/{program}",
        command=f"wheelproof explore {program} --engine sample --seed {{seed}} "
        f"--max-runs {SCHEDULES_OF_A_SEED}",
        run=run,
        explain=lambda seed: explored_result(explored(seed, shrink=True)),
    )


def usual_targets() -> tuple[Target, ...]:
    """Return the targets that must pass and always repeat, first the machines, then programs."""
    return tuple(target for target in _sound_targets() if target.repeats)


def selected_targets(patterns: Sequence[str], bugs: Sequence[str]) -> tuple[Target, ...]:
    """Return the targets that patterns name (`fuzz/*`), and those that find the known bugs.

    A user's own program is `explore/module:attribute`. Without patterns and bugs, return the usual
    targets. Raises UsageError for a pattern without a target.
    """
    if not patterns and not bugs:
        return usual_targets()
    known = {target.name: target for target in (*_sound_targets(), *_faulty_targets())}
    chosen: dict[str, Target] = {}
    for pattern in patterns:
        found = {name: known[name] for name in known if fnmatchcase(name, pattern)}
        if not found and pattern.startswith("explore/") and ":" in pattern:
            own = _program(pattern.removeprefix("explore/"))
            found = {pattern: explore_target(own.name)}
        if not found:
            raise UsageError(f"no target {pattern!r}; there are: {', '.join(known)}")
        chosen |= found
    for bug in bugs:
        chosen |= {target.name: target for target in targets_of_bug(bug)}
    return tuple(chosen.values())


def find_target(name: str) -> Target:
    """Return the target of this name, as `Target.name` gives it."""
    kind, _, rest = name.partition("/")
    if kind == "explore":
        return explore_target(rest)
    machine, threads, *bug = rest.split("/", 2)
    return fuzz_target(machine, threads, bug[0] if bug else None)


def targets_of_bug(bug_id: str) -> tuple[Target, ...]:
    """Return the targets that find a known bug; raise UsageError if there is none."""
    lab = laboratory(_LABORATORY)
    threads = lab.threads_that_find(bug_id)
    found = [fuzz_target(lab.bugs()[bug_id], kind, bug_id) for kind in threads]
    program = f"bug/{bug_id}"
    if program in {failing.name for failing in lab.programs()["fail"]}:
        found.append(explore_target(program))
    if not found:
        raise UsageError(f"no target of a campaign finds the known bug {bug_id!r}")
    return tuple(found)


def _sound_targets() -> tuple[Target, ...]:
    fuzzed = [
        fuzz_target(machine.name, threads)
        for machine in machines().values()
        for threads in machine.threads
    ]
    return (
        *fuzzed,
        *(explore_target(program.name) for program in laboratory(_LABORATORY).programs()["pass"]),
    )


def _faulty_targets() -> tuple[Target, ...]:
    known, lab = machines(), laboratory(_LABORATORY)
    fuzzed = [
        fuzz_target(component, threads, bug)
        for bug, component in lab.bugs().items()
        for threads in known[component].threads
    ]
    return (*fuzzed, *(explore_target(program.name) for program in lab.programs()["fail"]))


def _variant(machine: str, bug: str) -> object:
    return laboratory(_LABORATORY).variant_of(machine, bug)


def _program(name: str) -> Program:
    if ":" in name:
        return imported(name)
    return laboratory(_LABORATORY).program(name)
