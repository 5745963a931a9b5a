"""The verb ``explore``: the model checker, with the programs and the reports of the judge."""

import argparse
import sys
from collections.abc import Callable, Sequence

from wheelproof_explore import command
from wheelproof_explore.command import Explored, Outcome, Surroundings, Tell
from wheelproof_explore.program import Program
from wheelproof_explore.result import Exploration
from wheelproof_explore.substrates.substrate import SubstrateKind
from wheelproof_spec.app.laboratory import Laboratory, laboratory
from wheelproof_spec.app.program import carries
from wheelproof_spec.base.errors import UsageError
from wheelproof_spec.base.results.publishing import Result, publish
from wheelproof_spec.base.results.terminal import coloured, progress
from wheelproof_spec.base.results.verdicts import CheckResult, ExitCode, Verdict


def declare(parser: argparse.ArgumentParser) -> None:
    """Declare the verb."""
    command.declare(parser, _surroundings(quiet=True))
    carries(parser, run, reads=("program",), writes=("html",))


def run(arguments: argparse.Namespace) -> int:
    """Run the verb; the exit code is that of the worst verdict."""
    outcome = command.explored(arguments, _surroundings(quiet=arguments.quiet))
    if outcome is None:
        return ExitCode.PASS
    return publish(_result(outcome), arguments, outcome.page)


def check_result(exploration: Explored) -> CheckResult:
    """Return the result of exploring a program as the result of a check."""
    return CheckResult(
        name=exploration.program,
        group="explore",
        verdict=Verdict(exploration.verdict().value),
        seconds=exploration.seconds,
        summary=exploration.summary(),
        details=exploration.details(),
    )


def _result(outcome: Outcome) -> Result:
    verdict = Verdict(outcome.verdict.value)
    return Result(
        verb="explore",
        verdict=verdict,
        checks=[check_result(exploration) for exploration in outcome.explorations],
        line=verdict.value,
        interrupted=outcome.interrupted,
        given=outcome.given,
        document={"explorations": [found.document() for found in outcome.explorations]},
    )


def _surroundings(*, quiet: bool) -> Surroundings:
    def told(work: Callable[[Tell | None], Exploration]) -> Exploration:
        with progress(quiet=quiet) as line:
            return work(line.tell if line.shown else None)

    def states(program: Program, arguments: argparse.Namespace) -> Explored:
        for option, value in (("--replay", arguments.replay), ("--html", arguments.html)):
            if value is not None:
                raise UsageError(f"{option} shows one run, and the engine graph makes no runs")
        if arguments.max_states is not None and arguments.max_states < 1:
            raise UsageError(f"--max-states has to be at least 1, not {arguments.max_states}")
        with progress(quiet=quiet) as line:
            return laboratory("the engine graph").explore_states(
                program,
                SubstrateKind(arguments.substrate),
                arguments.max_states,
                lambda found: line.tell(f"{program.name}: {found:,} states"),
            )

    return Surroundings(
        named=lambda name: _programs().program(name),
        titled=lambda: _programs().programs(),
        all_of=_all_of,
        states=states,
        told=told,
        coloured=lambda text: coloured(text, sys.stdout),
    )


def _programs() -> Laboratory:
    return laboratory("a program that is named without its file or module (file.py:function)")


def _all_of(engine: str) -> Sequence[Program]:
    return _programs().programs()["pass with --engine graph" if engine == "graph" else "pass"]
