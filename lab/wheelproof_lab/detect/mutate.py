"""The verb `mutate`: mutation-tests the reference; which engine sees each small change."""

import argparse
import os
import random
import secrets
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from functools import partial
from itertools import chain
from pathlib import Path
from typing import cast

from wheelproof_lab.detect.child import FAILING_HISTORIES, command, digest_of_all
from wheelproof_lab.detect.matrix import judged
from wheelproof_lab.detect.modules import component_of, modules
from wheelproof_lab.detect.mutation.cells import SEEN, WEAKLY_SEEN, Cell, End, Outcome
from wheelproof_lab.detect.mutation.children import run_chains
from wheelproof_lab.detect.mutation.mutants import Mutant, mutants_of
from wheelproof_lab.detect.mutation.tla_mutants import TLA
from wheelproof_lab.detect.tla import all_tla_mutants
from wheelproof_spec.app.program import carries
from wheelproof_spec.base.arguments import bounded, unknown
from wheelproof_spec.base.codec.tables import read_table
from wheelproof_spec.base.errors import UsageError
from wheelproof_spec.base.results.publishing import Result, publish
from wheelproof_spec.base.results.terminal import progress
from wheelproof_spec.base.results.verdicts import CheckResult, Verdict, overall

NO_MUTANT = "no mutant"
TIMED_OUT = "ended at the limit of time"
EQUIVALENT = "equivalent"
CHAIN = (
    "model checker",
    "model checker, drawn",
    "model checker, signals",
    "driven",
    "fuzz, one thread",
    "recorded",
    "fuzz, real threads",
    "fuzz, controlled threads",
    "state graph",
    "contracts",
    "tests",
)
"""The engines, in the order in which they look; the unit tests come last and are counted apart."""

Ledger = Mapping[str, Mapping[str, str]]


def declare(parser: argparse.ArgumentParser) -> None:
    """Declare the verb."""
    parser.add_argument("patterns", nargs="*", metavar="MUTANT", help="mutants, by name or pattern")
    parser.add_argument(
        "--sample",
        type=bounded(1),
        default=100,
        metavar="N",
        help="how many are drawn, if none is named (default: %(default)s)",
    )
    parser.add_argument("--all", action="store_true", help="make every mutant")
    parser.add_argument(
        "--tla", action="store_true", help="mutate the TLA+ modules, and let TLC check their models"
    )
    parser.add_argument(
        "--recheck",
        action="store_true",
        help="run the mutants that the ledger calls equivalent, too",
    )
    parser.add_argument("--list", action="store_true", help="list the mutants")
    parser.add_argument("--seed", type=int, metavar="N", help="what the sample is drawn from")
    parser.add_argument(
        "--seconds",
        type=bounded(1),
        default=3,
        metavar="N",
        help="the budget of each engine for a mutant (default: %(default)s)",
    )
    parser.add_argument(
        "--jobs",
        type=bounded(1),
        metavar="N",
        help="mutants at a time (default: one a processor)",
    )
    parser.add_argument(
        "--results",
        type=Path,
        metavar="FILE",
        help="where outcomes are kept: a run that was ended goes on where it was, as long as the "
        "code is the same. A recorded history that failed is kept among the temporary files, in "
        f"the folder {FAILING_HISTORIES}-UID; its story has its name",
    )
    carries(parser, run, writes=("results",))


def run(arguments: argparse.Namespace) -> int:
    """Run a chain of engines for each mutant; pass if each survivor is in the ledger as equivalent.

    A mutant that the ledger calls equivalent is run only if it is named or `--recheck` is given.
    Each engine that killed a mutant also looks at the reference itself, with the same budget and
    seed: an engine that complains about the reference has shown nothing about its mutants. The TLA+
    modules need no such control: `make test` checks them as they are.
    """
    seed = secrets.randbelow(2**32) if arguments.seed is None else arguments.seed
    mutants = _chosen(arguments, seed)
    if arguments.list:
        for mutant in mutants.values():
            print(f"{mutant.id}: line {mutant.line}: {mutant.becomes}")
        return 0
    if not arguments.quiet:
        print(f"{len(mutants)} mutants, seed {seed}", flush=True)
    ledger, digest = _rows_of(mutants), digest_of_all()
    recheck = arguments.recheck or arguments.patterns
    chains = [
        [*_chain(mutant, arguments.seconds, digest)] if recheck or not row.get(EQUIVALENT) else []
        for mutant, row in ledger.items()
    ]
    with progress(quiet=arguments.quiet, first_s=0) as line:
        running = partial(
            run_chains,
            command=command,
            jobs=arguments.jobs or os.cpu_count() or 1,
            results=arguments.results,
            tell=lambda one, left: line.tell(f"{left} left; {one.told()}"),
        )
        outcomes = running(chains)
        controls = running([[cell] for cell in _controls(outcomes)])
    checks = [*_judged(mutants, ledger, outcomes)]
    summary = _summary(outcomes, checks)
    checks += (replace(one, group="mutate") for one in judged([*chain(*controls)]))
    verdict = overall(check.verdict for check in checks)
    result = Result(
        verb="mutate",
        verdict=verdict,
        checks=checks,
        line=f"{verdict.value}: {summary}",
        text="\n".join(
            (*_lines(checks), *_killers(mutants, outcomes), f"{verdict.value}: {summary}")
        ),
        given={
            "of": "tla" if arguments.tla else "reference",
            "seed": seed,
            "mutants": len(mutants),
            "seconds": arguments.seconds,
            "day": datetime.now(UTC).date().isoformat(),
        },
        document={"summary": summary},
    )
    return publish(result, arguments)


def _chosen(arguments: argparse.Namespace, seed: int) -> Mapping[str, Mutant]:
    patterns: Sequence[str] = arguments.patterns or ("*",)
    found = {
        mutant.id: mutant
        for mutant in (all_tla_mutants() if arguments.tla else _of_the_reference())
        if any(fnmatchcase(mutant.id, pattern) for pattern in patterns)
    }
    if not found:
        raise UsageError(unknown("MUTANT", patterns[0], [module for module, _ in modules()]))
    if arguments.all or arguments.patterns or arguments.sample >= len(found):
        return found
    drawn = {*random.Random(seed).sample([*found], arguments.sample)}
    return {name: mutant for name, mutant in found.items() if name in drawn}


def _of_the_reference() -> Iterator[Mutant]:
    for module, path in modules():
        yield from mutants_of(module, path.read_text(encoding="utf-8"))


def _chain(mutant: str, seconds: int, digest: str) -> Iterator[Cell]:
    for engine in ("TLC",) if mutant.startswith(TLA) else CHAIN:
        yield Cell(
            subject=mutant,
            component=component_of(mutant) or "tla",
            engine=engine,
            seconds=seconds,
            seed=1,
            digest=digest,
        )


def _controls(outcomes: Iterable[Sequence[Outcome]]) -> list[Cell]:
    """Return a cell for the unchanged reference for each engine that has killed a mutant."""
    killers = (mine[-1].cell for mine in outcomes if mine and mine[-1].found.end in SEEN)
    ours = (replace(one, subject="") for one in killers if not one.subject.startswith(TLA))
    return [*dict.fromkeys(ours)]


def _rows_of(mutants: Iterable[str]) -> Ledger:
    """Return the ledger's row of each mutant; it is empty if there is none."""
    rows = cast(Ledger, read_table(__file__, "survivors.toml"))
    no_row: Mapping[str, str] = {}
    return {
        mutant: next((row for ids, row in rows.items() if fnmatchcase(mutant, ids)), no_row)
        for mutant in mutants
    }


def _judged(
    mutants: Mapping[str, Mutant], ledger: Ledger, outcomes: Iterable[Sequence[Outcome]]
) -> Iterator[CheckResult]:
    """Yield a check for each mutant: killed, or in the ledger, or a hole."""
    for (name, known), mine in zip(ledger.items(), outcomes, strict=True):
        why = known.get(EQUIVALENT, "")
        verdict, summary, killed = Verdict.PASS, "", False
        if mine:
            last = mine[-1]
            # A pinned number counts steps, and so it tells equivalent modules apart.
            killed = last.found.end in (SEEN - WEAKLY_SEEN if why else SEEN)
            summary = f"killed by {last.cell.engine}, {last.found.end.value}"
        if any(one.found.end is End.ERROR for one in mine):
            verdict, summary = Verdict.ERROR, "an engine failed itself"
        elif [one.found.end for one in mine] == [End.ABSENT]:
            summary = f"{NO_MUTANT}: TLC cannot read it"
        elif not killed and why:
            summary = f"{EQUIVALENT}: {why}"
        elif not killed and any(one.found.end is End.HANGS for one in mine):
            # A limit by the clock shows nothing: the machine may be busy.
            verdict, summary = Verdict.INCONCLUSIVE, TIMED_OUT
        elif not killed:
            verdict, summary = Verdict.FAIL, ": ".join(("survives", *known.values()))
        yield CheckResult(
            name=name,
            group="mutate",
            verdict=verdict,
            seconds=sum(one.milliseconds for one in mine) / 1_000,
            summary=summary,
            details=f"line {mutants[name].line}: {mutants[name].becomes}",
        )


def _lines(checks: Iterable[CheckResult]) -> Iterator[str]:
    for check in checks:
        usual = "found" in check.summary or check.summary.startswith(NO_MUTANT)
        if check.verdict is not Verdict.PASS or not usual:
            yield f"{check.name}: {check.summary}\n    {check.details}"


def _killers(mutants: Mapping[str, Mutant], outcomes: Iterable[Sequence[Outcome]]) -> Iterator[str]:
    """Yield how many mutants of each operator there were, and how many each engine killed."""
    by_operator: dict[str, Counter[str]] = {}
    for mutant, mine in zip(mutants.values(), outcomes, strict=True):
        killer = mine[-1].cell.engine if mine and mine[-1].found.end in SEEN else "nobody"
        by_operator.setdefault(mutant.operator, Counter())[killer] += 1
    for operator, killers in sorted(by_operator.items()):
        told = ", ".join(f"{engine} {count}" for engine, count in killers.most_common())
        yield f"{operator}: {killers.total()}: {told}"


def _summary(outcomes: Sequence[Sequence[Outcome]], checks: Sequence[CheckResult]) -> str:
    killed = [
        mine[-1]
        for mine, check in zip(outcomes, checks, strict=True)
        if check.summary.startswith("killed")
    ]
    weakly = sum(one.found.end in WEAKLY_SEEN or one.cell.engine == "tests" for one in killed)
    timed_out = sum(check.summary == TIMED_OUT for check in checks)
    none = sum(check.summary.startswith((NO_MUTANT, EQUIVALENT)) for check in checks)
    alive = len(checks) - len(killed) - none - timed_out
    share = 100 / max(1, len(checks) - none)
    return (
        f"{len(killed)} of {len(checks)} killed, {weakly} of them by a named test, a witness or a "
        f"pin alone, "
        f"{timed_out} ended at the limit of time, {none} equivalent or none, "
        f"{alive} survive ({share * len(killed):.1f} %, without those "
        f"{share * (len(killed) - weakly):.1f} %)"
    )
