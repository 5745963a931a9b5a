"""The verb `methods`: which methods, exits and concurrent pairs each engine calls.

Each engine runs a small and fixed part of its work. `python -m` with this module serves the
reference as a driver that writes the number of calls to a file when it ends.
"""

import argparse
import importlib
import json
import shlex
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations_with_replacement
from pathlib import Path
from types import ModuleType
from typing import cast

from wheelproof.sync import current_runtime
from wheelproof_explore.explorer import explore
from wheelproof_explore.options import Engine, Options
from wheelproof_explore.runtime.runtime import ControlledRuntime
from wheelproof_lab.detect.engines import FOLDERS, Task, tested
from wheelproof_lab.detect.modules import component_of, modules
from wheelproof_lab.detect.mutation.cells import End
from wheelproof_lab.detect.mutation.watch import (
    Seen,
    classes_of,
    errors_named,
    methods_of,
    raises_of,
    watching,
)
from wheelproof_lab.worlds.all_programs import PAIRS, PASSING
from wheelproof_spec.app.program import carries
from wheelproof_spec.app.reference_driver import main as serve
from wheelproof_spec.base.codec.tables import read_table
from wheelproof_spec.base.results.publishing import Result, publish
from wheelproof_spec.base.results.verdicts import CheckResult, Verdict, overall
from wheelproof_spec.base.suite import FuzzPlan
from wheelproof_spec.components.registry import COMPONENTS, machines, suites
from wheelproof_spec.drive.conformance import conform
from wheelproof_spec.drive.plan import ConformancePlan

_RUNS, _CASES, _SEED = 60, 100, 1
_SET_UP = "set-up"
"""The name of the caller before the threads of a program begin, and after they have ended."""
_MODULE = "wheelproof_lab.detect.methods"
_ENGINES = ("explored", "fuzzed", "driven", "tests")
"""The columns. Each method must occur in the first three; each exit, and each raise, in any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Known:
    """The table's entry for a component.

    `of` is the class whose methods run against each other; `sender` has the methods that only one
    thread at a time may call: no two of them run against each other. `why` explains each hole.
    """

    of: str
    sender: tuple[str, ...]
    why: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A method, an exit or a pair of methods: its count per engine, and whether it is a hole."""

    name: str
    counts: Sequence[int]
    hole: bool

    def line(self) -> str:
        """Return the row as a line of the matrix."""
        return f"{self.name:76} " + " ".join(f"{count or '-':>8}" for count in self.counts)


def declare(parser: argparse.ArgumentParser) -> None:
    """Declare the verb."""
    carries(parser, run)


def run(arguments: argparse.Namespace) -> int:
    """Print the matrix; pass if each hole has a reason, and each reason a hole."""
    pairs = Counter[str]()
    seen = [_explored(pairs), _watched(_fuzzed), _driven(), _watched(_tested)]
    checks: list[CheckResult] = []
    for component in COMPONENTS:
        rows = [*_rows(component, seen, pairs)]
        if not arguments.quiet:
            print(f"{component:76} " + " ".join(f"{name:>8}" for name in _ENGINES))
            print("\n".join(row.line() for row in rows), flush=True)
        checks.append(judged_rows(component, rows))
    verdict = overall(check.verdict for check in checks)
    told = [f"{check.name}: {check.summary}" for check in checks]
    line = f"{verdict.value}: {'; '.join(told)}"
    return publish(
        Result(verb="methods", verdict=verdict, checks=checks, line=line, text=line), arguments
    )


def judged_rows(component: str, rows: Sequence[Row]) -> CheckResult:
    """Return the check of a component: each hole has a reason, and each reason a hole."""
    holes = {row.name for row in rows if row.hole}
    why = _known(component).why
    wrong = sorted(holes - {*why})
    stale = [f"{name} is no hole, and has a reason" for name in sorted({*why} - holes)]
    summary = f"{len(rows)} rows, {len(holes)} holes, {len(wrong)} of them without a reason"
    return CheckResult(
        name=component,
        group="methods",
        verdict=Verdict.FAIL if wrong or stale else Verdict.PASS,
        summary="; ".join((summary, *wrong, *stale)),
        details="\n".join(f"{name}: {reason}" for name, reason in why.items()),
    )


def _known(component: str) -> _Known:
    row = read_table(__file__, "methods.toml")[component]
    return _Known(
        of=str(row["of"]),
        sender=cast(tuple[str, ...], row.get("sender", ())),
        why=cast(Mapping[str, str], row.get("why", {})),
    )


def _rows(component: str, seen: Sequence[Seen], pairs: Counter[str]) -> Iterator[Row]:
    known, ours = _known(component), _modules(component)

    def counts(name: str) -> list[int]:
        return [one.counts[name] for one in seen]

    for kind in classes_of(ours):
        for name, method in methods_of(kind):
            place = f"{kind.__name__}.{name}"
            found = counts(place)
            yield Row(name=place, counts=found, hole=0 in found[:-1])
            for error in errors_named(method):
                ends = counts(f"{place} {error}")
                yield Row(name=f"{place} {error}", counts=ends, hole=not any(ends))
    for module in ours:
        for place, error in raises_of(module):
            ends = counts(place)
            yield Row(name=f"raise {error}", counts=ends, hole=not any(ends))
    of = next(kind for kind in classes_of(ours) if kind.__name__ == known.of)
    names = sorted(name for name, _ in methods_of(of))
    for one, other in combinations_with_replacement(names, 2):
        pair = f"{known.of}: {one} beside {other}"
        in_turn = one in known.sender and other in known.sender
        if not in_turn:
            yield Row(name=pair, counts=[pairs[pair]], hole=not pairs[pair])


def _modules(*components: str) -> list[ModuleType]:
    wanted = components or COMPONENTS
    return [importlib.import_module(name) for name, _ in modules() if component_of(name) in wanted]


def _who() -> str:
    runtime = current_runtime()
    if isinstance(runtime, ControlledRuntime):
        return runtime.caller().name
    return threading.current_thread().name


def _watched(work: Callable[[], object]) -> Seen:
    seen = Seen()
    with watching(classes_of(_modules()), seen, _who):
        work()
    return seen


def _explored(pairs: Counter[str]) -> Seen:
    """Explore every program; count in `pairs` the programs that call two methods in two threads."""
    options = Options(engine=Engine.SAMPLE, seed=_SEED, max_runs=_RUNS, shrink=False)
    whole = Seen()
    for component in COMPONENTS:
        of = _known(component).of
        for program in (*PASSING[component], *PAIRS[component]):
            seen = _watched(partial(explore, program, options))
            whole.counts.update(seen.counts)
            pairs.update(_beside(seen, of))
    return whole


def _beside(seen: Seen, of: str) -> Iterator[str]:
    methods = {
        place.partition(".")[2]: threads - {_SET_UP}
        for place, threads in sorted(seen.threads.items())
        if place.startswith(f"{of}.")
    }
    for (one, first), (other, second) in combinations_with_replacement(methods.items(), 2):
        if len(first | second) > 1 and first and second:
            yield f"{of}: {one} beside {other}"


def _fuzzed() -> None:
    for machine in machines().values():
        for threads in machine.threads:
            plan = FuzzPlan(threads=threads, cases=_CASES, seed=_SEED)
            for _ in machine.reports(plan):
                pass


def _tested() -> None:
    with tempfile.TemporaryDirectory() as folder:
        # Two components may have one folder, and so one folder of tests.
        for component in {FOLDERS.get(name, name): name for name in COMPONENTS}.values():
            task = Task(
                component=component,
                seconds=0,
                seed=0,
                bug=None,
                serve=(),
                graphs=Path(folder),
                failing=Path(folder),
            )
            # A signal would come inside what notes the calls.
            found = tested(task, only="not signal")
            assert found.end is End.CLEAN, found.story


def _driven() -> Seen:
    whole = Seen()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "calls.json"
        command = shlex.join((sys.executable, "-m", _MODULE, str(file)))
        for suite in suites().values():
            conform(suite, ConformancePlan(driver=command, cases=_CASES, seed=_SEED))
            whole.counts.update(cast(dict[str, int], json.loads(file.read_text())))
            file.unlink()
    return whole


def main(words: Sequence[str]) -> int:
    """Serve the reference, and write the number of calls to a file at the end."""
    seen = _watched(serve)
    Path(words[0]).write_text(json.dumps(seen.counts))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
