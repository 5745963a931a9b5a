"""The verb `graph`: the state graph of the code against that of TLC."""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from wheelproof_spec.app.program import carries
from wheelproof_spec.base.errors import UsageError
from wheelproof_spec.base.results.publishing import Result, publish
from wheelproof_spec.base.results.terminal import Progress, coloured, progress
from wheelproof_spec.base.results.verdicts import ExitCode, Verdict, overall

if TYPE_CHECKING:
    from wheelproof_lab.graph.comparing.comparisons import GraphOutcome


def declare(parser: argparse.ArgumentParser) -> None:
    """Declare the verb."""
    parser.add_argument(
        "models", nargs="*", metavar="MODEL", help="comparisons to make, by name or pattern"
    )
    parser.add_argument("--all", action="store_true", help="make every comparison")
    parser.add_argument("--list", action="store_true", help="list the comparisons")
    parser.add_argument("--jar", type=Path, metavar="FILE", help="the tla2tools.jar to run")
    parser.add_argument("--java", type=Path, metavar="FILE", help="the program java to run it with")
    carries(parser, run, reads=("jar", "java"))


def run(arguments: argparse.Namespace) -> int:
    """Run the verb; the exit code is that of the worst verdict."""
    from wheelproof_lab.graph.all_comparisons import comparisons
    from wheelproof_lab.graph.comparing.comparisons import carry_out, select
    from wheelproof_lab.graph.comparing.report import check_result, document
    from wheelproof_spec.tlc.running.launch import find_toolchain

    if arguments.list:
        for model in comparisons():
            print(f"{model.name:26} {model.summary}")
        return ExitCode.PASS
    if arguments.all == bool(arguments.models):
        raise UsageError("name the graph models to compare, or give --all; --list lists them")
    chosen = select(comparisons(), ["*"] if arguments.all else arguments.models)
    toolchain = find_toolchain(arguments.jar, arguments.java)
    outcomes: list[GraphOutcome] = []
    interrupted = False
    with progress(quiet=arguments.quiet) as shown:
        try:
            for model in chosen:
                outcomes.append(carry_out(model, toolchain, _telling(shown, model.name)))
                shown.clear()
                if not arguments.quiet:
                    _print(outcomes[-1])
        except KeyboardInterrupt:
            interrupted = True
    verdict = _verdict(outcomes, interrupted=interrupted)
    made = f"interrupted: {len(outcomes)} of {len(chosen)} comparisons were made"
    result = Result(
        verb="graph",
        verdict=verdict,
        checks=[check_result(outcome) for outcome in outcomes],
        line=verdict.value,
        text=made if interrupted else "",
        interrupted=interrupted,
        given={"models": [model.name for model in chosen]},
        document={"models": [document(outcome) for outcome in outcomes]},
    )
    return publish(result, arguments)


def _verdict(outcomes: "list[GraphOutcome]", *, interrupted: bool) -> Verdict:
    verdicts = [outcome.verdict for outcome in outcomes]
    return overall([*verdicts, Verdict.INCONCLUSIVE] if interrupted else verdicts)


def _print(outcome: "GraphOutcome") -> None:
    from wheelproof_lab.graph.comparing.report import check_result

    result = check_result(outcome)
    line = f"{result.name}: {result.verdict.value}, {result.summary}"
    print(coloured(line, sys.stdout), flush=True)
    if result.details:
        print(result.details)


def _telling(shown: Progress, name: str) -> Callable[[int], None]:
    return lambda states: shown.tell(f"{name}: {states:,} states")
