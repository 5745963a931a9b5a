"""The verb `wheelproof explore`: the model checker of code written against `wheelproof.sync`."""

import argparse
import secrets
from functools import partial
from typing import TYPE_CHECKING

from wheelproof_spec.errors import UsageError
from wheelproof_spec.reports import write_json, write_junit
from wheelproof_spec.verbs import Verbs
from wheelproof_spec.verdicts import CheckResult, Verdict, exit_code, overall

if TYPE_CHECKING:
    from wheelproof_spec.explore.explorer import Options
    from wheelproof_spec.explore.program import Program
    from wheelproof_spec.explore.result import Exploration

_ENGINES = ("optimal", "sample", "source", "brute")
_SUBSTRATES = ("greenlet", "threads")


def register(verbs: Verbs) -> None:
    """Declare the verb and its arguments."""
    parser = verbs.add("explore", "run a program under every interleaving", run)
    parser.add_argument(
        "program", nargs="?", metavar="PROGRAM", help="a program's name, or module:attribute"
    )
    parser.add_argument("--all", action="store_true", help="explore every program that must pass")
    parser.add_argument("--list", action="store_true", help="list the programs")
    parser.add_argument(
        "--engine",
        choices=_ENGINES,
        default="optimal",
        help="optimal covers every class once and alone can pass; sample draws schedules at "
        "random; source and brute are oracles for small programs (default: optimal)",
    )
    parser.add_argument(
        "--replay", metavar="SCHEDULE", help="repeat the run of this schedule string"
    )
    parser.add_argument("--seed", type=int, metavar="N", help="the seed of the engine sample")
    parser.add_argument(
        "--max-runs", type=int, metavar="N", help="end after N runs, inconclusive if none failed"
    )
    parser.add_argument(
        "--keep-going", action="store_true", help="do not end at the first run that fails"
    )
    parser.add_argument(
        "--substrate",
        choices=_SUBSTRATES,
        default="greenlet",
        help="what the threads run on (default: greenlet)",
    )


def run(arguments: argparse.Namespace) -> int:
    """Run the verb; the exit code is that of the worst verdict."""
    from wheelproof_spec.explore.explorer import explore

    if arguments.list:
        return _list_programs()
    programs = _programs(arguments)
    options = _options(arguments)
    explorations: list[Exploration] = []
    for program in programs:
        progress = None if arguments.quiet else partial(_print_progress, program.name)
        exploration = explore(program, options, progress)
        explorations.append(exploration)
        if not arguments.quiet:
            _print_result(exploration.check_result())
        if exploration.stopped == "interrupted":
            break
    verdict = overall(exploration.verdict() for exploration in explorations)
    if arguments.quiet:
        print(verdict.value)
    _write_reports(arguments, verdict, explorations)
    return exit_code(verdict)


def _programs(arguments: argparse.Namespace) -> "tuple[Program, ...]":
    from wheelproof_spec.explore.programs import find_program, passing_programs

    if arguments.all == (arguments.program is not None):
        raise UsageError("name one PROGRAM, or give --all; --list names the programs")
    if arguments.all:
        if arguments.replay is not None:
            raise UsageError("--replay needs the PROGRAM that the schedule belongs to")
        return passing_programs()
    return (find_program(arguments.program),)


def _options(arguments: argparse.Namespace) -> "Options":
    from wheelproof_spec.explore.explorer import Engine, Options
    from wheelproof_spec.explore.substrate import SubstrateKind

    if arguments.max_runs is not None and arguments.max_runs < 1:
        raise UsageError(f"--max-runs has to be at least 1, not {arguments.max_runs}")
    seed = secrets.randbelow(2**32) if arguments.seed is None else arguments.seed
    engine = Engine.REPLAY if arguments.replay is not None else Engine(arguments.engine)
    if engine is Engine.SAMPLE and not arguments.quiet:
        print(f"sampling, seed {seed}", flush=True)
    return Options(
        engine=engine,
        substrate=SubstrateKind(arguments.substrate),
        seed=seed,
        max_runs=arguments.max_runs,
        keep_going=arguments.keep_going,
        schedule=arguments.replay or "",
    )


def _list_programs() -> int:
    from wheelproof_spec.explore.programs import passing_programs
    from wheelproof_spec.explore.programs.known_bugs import failing_programs

    for title, programs in (("pass", passing_programs()), ("fail", failing_programs())):
        print(f"programs that must {title}:")
        for program in programs:
            print(f"  {program.name:<32} {program.summary}")
    return exit_code(Verdict.PASS)


def _print_result(result: CheckResult) -> None:
    print(f"{result.name}: {result.verdict.value}, {result.summary}", flush=True)
    if result.details:
        print(result.details)


def _print_progress(name: str, runs: int) -> None:
    print(f"  {name}: {runs:,} runs", flush=True)


def _write_reports(
    arguments: argparse.Namespace, verdict: Verdict, explorations: "list[Exploration]"
) -> None:
    if arguments.json is not None:
        write_json(
            arguments.json,
            {
                "schema": "wheelproof.explore-report/1",
                "verdict": verdict.value,
                "explorations": [exploration.document() for exploration in explorations],
            },
        )
    if arguments.junit is not None:
        results = [exploration.check_result() for exploration in explorations]
        write_junit(arguments.junit, "wheelproof explore", results)
