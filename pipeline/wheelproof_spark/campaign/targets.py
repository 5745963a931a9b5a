"""What a campaign runs: each target is a name, and what one seed of it means.

`fuzz/MACHINE/THREADS` is a machine of `wheelproof fuzz`, `fuzz/MACHINE/THREADS/BUG` the same with a
known bug brought back; `explore/PROGRAM` is a program of `wheelproof explore`, whose schedules are
drawn.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Protocol

from wheelproof_spec.errors import UsageError
from wheelproof_spec.explore.explorer import Engine, Options, explore
from wheelproof_spec.explore.programs import find_program, passing_programs
from wheelproof_spec.explore.programs.known_bugs import failing_programs
from wheelproof_spec.fuzz.command import check_result
from wheelproof_spec.fuzz.drawing import PlainDrawing, drawn_by
from wheelproof_spec.fuzz.machines import MACHINES
from wheelproof_spec.fuzz.order import FuzzOrder
from wheelproof_spec.fuzz.report import FuzzReport
from wheelproof_spec.known_bugs import find_bug
from wheelproof_spec.known_bugs.known_bug import Finder
from wheelproof_spec.known_bugs.table import KNOWN_BUGS
from wheelproof_spec.oracle import Violation
from wheelproof_spec.verdicts import CheckResult, Verdict

SCHEDULES_OF_A_SEED = 50
"""How many schedules of a program one seed draws."""
_REAL = "real"
_THREADS_OF_FINDER = {Finder.SEQUENTIAL: ("none",), Finder.THREADS: (_REAL,)}


@dataclass(frozen=True, slots=True, kw_only=True)
class SeedOutcome:
    """What one seed has shown: the violation, if any, and how often each kind of call was made."""

    violation: Violation | None
    calls: Mapping[str, int]


class Target(Protocol):
    """Something that can be run by seed; the same seed does the same thing on every machine."""

    @property
    def name(self) -> str:
        """How the ledger and the command line call it."""
        ...

    @property
    def repeats(self) -> bool:
        """Whether a seed always has the same outcome: real threads do not promise that."""
        ...

    def run(self, seed: int) -> SeedOutcome:
        """Run one seed, and leave what fails as it is."""
        ...

    def explain(self, seed: int) -> CheckResult:
        """Run one seed again and make what fails as small as possible."""
        ...

    def command(self, seed: int) -> str:
        """Return the command that runs one seed on this machine alone."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class FuzzTarget:
    """A fuzzing machine; a seed is a case."""

    machine: str
    threads: str
    bug: str | None = None

    @property
    def name(self) -> str:
        """See `Target.name`."""
        bug = "" if self.bug is None else f"/{self.bug}"
        return f"fuzz/{self.machine}/{self.threads}{bug}"

    @property
    def repeats(self) -> bool:
        """See `Target.repeats`."""
        return self.threads != _REAL

    def run(self, seed: int) -> SeedOutcome:
        """See `Target.run`."""
        reports = self._reports(seed, shrinks=False)
        failures = [one.failure for one in reports if one.failure is not None]
        calls: dict[str, int] = {}
        for report in reports:
            for kind, count in report.calls.items():
                calls[kind] = calls.get(kind, 0) + count
        return SeedOutcome(violation=failures[0].violation if failures else None, calls=calls)

    def explain(self, seed: int) -> CheckResult:
        """See `Target.explain`."""
        results = [check_result(one) for one in self._reports(seed, shrinks=True)]
        failed = [one for one in results if one.verdict is Verdict.FAIL]
        return (failed or results)[0]

    def command(self, seed: int) -> str:
        """See `Target.command`."""
        return self._command().format(seed=seed)

    def _command(self) -> str:
        bug = "" if self.bug is None else f" --bug {self.bug}"
        return f"wheelproof fuzz {self.machine} --threads {self.threads}{bug} --case {{seed}}"

    def _reports(self, seed: int, *, shrinks: bool) -> list[FuzzReport]:
        order = FuzzOrder(
            threads=self.threads,
            cases=1,
            seconds=None,
            seed=seed,
            bug=self.bug,
            repeat=self._command(),
            progress=None,
        )
        with drawn_by(PlainDrawing(shrinks=shrinks)):
            return list(MACHINES[self.machine].reports(order))


@dataclass(frozen=True, slots=True, kw_only=True)
class ExploreTarget:
    """A program under the model checker; a seed is SCHEDULES_OF_A_SEED random schedules."""

    program: str
    repeats: bool = True

    @property
    def name(self) -> str:
        """See `Target.name`."""
        return f"explore/{self.program}"

    def run(self, seed: int) -> SeedOutcome:
        """See `Target.run`."""
        found = explore(find_program(self.program), _options(seed, shrink=False))
        calls = {"schedules": found.runs, "classes": found.classes}
        if found.counterexample is None:
            return SeedOutcome(violation=None, calls=calls)
        failure = found.counterexample.failure
        violation = Violation(
            rule=failure.kind.value,
            expected="no schedule fails",
            observed=failure.sentence(),
            reason=f"schedule {found.runs} of seed {seed}",
        )
        return SeedOutcome(violation=violation, calls=calls)

    def explain(self, seed: int) -> CheckResult:
        """See `Target.explain`."""
        return explore(find_program(self.program), _options(seed, shrink=True)).check_result()

    def command(self, seed: int) -> str:
        """See `Target.command`."""
        runs = f"--max-runs {SCHEDULES_OF_A_SEED}"
        return f"wheelproof explore {self.program} --engine sample --seed {seed} {runs}"


def usual_targets() -> tuple[Target, ...]:
    """Return what has to pass and always does the same, first the machines, then the programs."""
    return tuple(one for one in _sound_targets() if one.repeats)


def selected_targets(patterns: Sequence[str], bugs: Sequence[str]) -> tuple[Target, ...]:
    """Return the targets that patterns name (`fuzz/*`), and those that find the known bugs.

    A program of one's own is `explore/module:attribute`. Without patterns and bugs, the usual
    targets. Raises UsageError for what names nothing.
    """
    if not patterns and not bugs:
        return usual_targets()
    known = {one.name: one for one in (*_sound_targets(), *_faulty_targets())}
    chosen: dict[str, Target] = {}
    for pattern in patterns:
        found = {name: one for name, one in known.items() if fnmatchcase(name, pattern)}
        if not found and pattern.startswith("explore/") and ":" in pattern:
            own = find_program(pattern.removeprefix("explore/"))
            found = {pattern: ExploreTarget(program=own.name)}
        if not found:
            raise UsageError(f"no target {pattern!r}; there are: {', '.join(known)}")
        chosen |= found
    for bug in bugs:
        chosen |= {one.name: one for one in targets_of_bug(bug)}
    return tuple(chosen.values())


def find_target(name: str) -> Target:
    """Return the target of this name, as `Target.name` gives it."""
    kind, _, rest = name.partition("/")
    if kind == "explore":
        return ExploreTarget(program=rest)
    machine, threads, *bug = rest.split("/", 2)
    return FuzzTarget(machine=machine, threads=threads, bug=bug[0] if bug else None)


def targets_of_bug(bug_id: str) -> tuple[Target, ...]:
    """Return the targets that find a known bug; raises UsageError if there is none."""
    bug = find_bug(KNOWN_BUGS, bug_id)
    threads = [kind for one in bug.finders for kind in _THREADS_OF_FINDER.get(one, ())]
    found: list[Target] = [
        FuzzTarget(machine=bug.component, threads=kind, bug=bug.id) for kind in threads
    ]
    program = f"bug/{bug.id}"
    if program in {one.name for one in failing_programs()}:
        found.append(ExploreTarget(program=program))
    if not found:
        raise UsageError(f"no target of a campaign finds the known bug {bug_id!r}")
    return tuple(found)


def _sound_targets() -> tuple[Target, ...]:
    machines = [
        FuzzTarget(machine=machine.name, threads=threads)
        for machine in MACHINES.values()
        for threads in machine.threads
    ]
    programs = [ExploreTarget(program=program.name) for program in passing_programs()]
    return (*machines, *programs)


def _faulty_targets() -> tuple[Target, ...]:
    fuzzed = [
        FuzzTarget(machine=bug.component, threads=threads, bug=bug.id)
        for bug in KNOWN_BUGS
        for threads in MACHINES[bug.component].threads
    ]
    return (*fuzzed, *(ExploreTarget(program=program.name) for program in failing_programs()))


def _options(seed: int, *, shrink: bool) -> Options:
    return Options(engine=Engine.SAMPLE, seed=seed, max_runs=SCHEDULES_OF_A_SEED, shrink=shrink)
