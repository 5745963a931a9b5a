"""The verb `bugs`: every known bug against every engine, within a fixed budget each."""

import argparse
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from wheelproof_lab.bugs.catalog import bugs
from wheelproof_lab.bugs.known_bug import Finder, KnownBug
from wheelproof_lab.detect.child import command, digest_of_all
from wheelproof_lab.detect.matrix import ENGINES, REFERENCE, html_page, judged, table
from wheelproof_lab.detect.mutation.cells import Cell
from wheelproof_lab.detect.mutation.children import run_chains
from wheelproof_spec.app.program import carries
from wheelproof_spec.base.arguments import bounded, unknown
from wheelproof_spec.base.codec.vocabulary import Wire
from wheelproof_spec.base.codec.writer import plain
from wheelproof_spec.base.errors import UsageError
from wheelproof_spec.base.results.publishing import Result, publish
from wheelproof_spec.base.results.terminal import progress
from wheelproof_spec.base.results.verdicts import overall
from wheelproof_spec.components.registry import COMPONENTS, machines
from wheelproof_spec.fuzz.machine import AnyMachine

_ONCE = ("contracts", "TLC", "proof", "state graph")
"""The engines without random draws: each checks the reference once, whatever `--controls` is."""
_MORE = {"state graph": 3, "proof": 5}
"""How many times the budget an engine gets: one comparison, or one proof, takes seconds."""
_SEED = 1


def declare(parser: argparse.ArgumentParser) -> None:
    """Declare the verb."""
    parser.add_argument(
        "subjects",
        nargs="*",
        metavar="BUG",
        help="known bugs, or `reference` for the controls (default: all)",
    )
    parser.add_argument(
        "--engine",
        action="append",
        default=[],
        metavar="NAME",
        help="let this engine look, and no other; may be repeated",
    )
    parser.add_argument(
        "--seconds",
        type=bounded(1),
        default=6,
        metavar="N",
        help="the budget of a cell (default: %(default)s)",
    )
    parser.add_argument(
        "--controls",
        type=bounded(1),
        default=10,
        metavar="N",
        help="with how many seeds each engine looks at the reference (default: %(default)s)",
    )
    parser.add_argument(
        "--jobs",
        type=bounded(1),
        metavar="N",
        help="cells at a time (default: one a processor)",
    )
    parser.add_argument(
        "--results",
        type=Path,
        metavar="FILE",
        help="where outcomes are kept: a run that was ended goes on where it was, as long as the "
        "code is the same",
    )
    parser.add_argument(
        "--html",
        type=Path,
        metavar="FILE",
        help="write a page to FILE, in which a cell opens its counterexample",
    )
    carries(parser, run, writes=("results", "html"))


def run(arguments: argparse.Namespace) -> int:
    """Fill the matrix; pass if it shows each bug, and the reference is clean in every cell."""
    engines_asked = _chosen("--engine", arguments.engine, ENGINES)
    ids = [REFERENCE, *(bug.id for bug in bugs())]
    subjects = _chosen("BUG", arguments.subjects, ids)
    cells = [*_cells(subjects, engines_asked, arguments)]
    with progress(quiet=arguments.quiet, first_s=0) as line:
        chains = run_chains(
            [(cell,) for cell in cells],
            command,
            jobs=arguments.jobs or os.cpu_count() or 1,
            results=arguments.results,
            tell=lambda one, left: line.tell(f"{left} cells left; {one.told()}"),
        )
    outcomes = [outcome for chain in chains for outcome in chain]
    checks = [*judged(outcomes)]
    verdict = overall(check.verdict for check in checks)
    wrong = [f"{one.name}: {one.summary}" for one in checks if one.verdict.value != "pass"]
    result = Result(
        verb="bugs",
        verdict=verdict,
        checks=checks,
        line=verdict.value,
        text="\n".join((table(outcomes), *wrong, verdict.value)),
        given={name: getattr(arguments, name) for name in ("seconds", "controls")},
        document={"cells": [plain(outcome, Wire.RECORDED) for outcome in outcomes]},
    )
    return publish(result, arguments, lambda: html_page(outcomes))


def _cells(
    subjects: Sequence[str], chosen: Sequence[str], arguments: argparse.Namespace
) -> Iterator[Cell]:
    digest = digest_of_all()
    known = {bug.id: bug for bug in bugs()}
    drawn = machines()

    def cell(subject: str, component: str, engine: str, seed: int) -> Cell:
        return Cell(
            subject=subject,
            component=component,
            engine=engine,
            seconds=arguments.seconds * _MORE.get(engine, 1),
            seed=seed,
            digest=digest,
        )

    for subject in subjects:
        for engine in chosen:
            if subject != REFERENCE:
                bug = known[subject]
                if _applies(bug, engine, drawn):
                    yield cell(subject, bug.component, engine, _SEED)
                continue
            for component in COMPONENTS:
                for seed in range(1 if engine in _ONCE else arguments.controls):
                    yield cell("", component, engine, seed)


def _applies(bug: KnownBug, engine: str, drawn: Mapping[str, AnyMachine]) -> bool:
    """Return whether an engine can look for a bug: it has a model, a variant or a machine for it.

    No known bug is in a function that has a contract.
    """
    match engine:
        case Finder.TLC:
            return bool(bug.models)
        case Finder.PROOF:
            return Finder.PROOF in bug.finders
        case "fuzz, controlled threads":
            return "controlled" in drawn[bug.component].threads
        case _:
            return engine != "contracts"


def _chosen(what: str, asked: Iterable[str], known: Sequence[str]) -> Sequence[str]:
    for name in asked:
        if name not in known:
            raise UsageError(unknown(what, name, known))
    return tuple(asked) or known
