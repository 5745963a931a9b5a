"""The verb `wheelproof explore`: the model checker of code written against `wheelproof.sync`."""

import argparse
import importlib
import secrets
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from wheelproof_spec.app.verbs.declaring import Verbs
from wheelproof_spec.base.errors import UsageError
from wheelproof_spec.base.results.publishing import Result, publish
from wheelproof_spec.base.results.terminal import Progress, coloured, progress
from wheelproof_spec.base.results.verdicts import CheckResult, Verdict, exit_code, overall

if TYPE_CHECKING:
    from wheelproof_spec.engines.explore.estimate import Progress as Reached
    from wheelproof_spec.engines.explore.explorer import Options
    from wheelproof_spec.engines.explore.program import Program
    from wheelproof_spec.engines.explore.result import Exploration
    from wheelproof_spec.engines.graph.judging.exploration import GraphExploration

_GRAPH = "graph"
_ENGINES = ("optimal", _GRAPH, "sample", "source", "brute")
_SUBSTRATES = ("greenlet", "threads")


def register(verbs: Verbs) -> None:
    """Declare the verb and its arguments."""
    verbs.own(
        "explore",
        run,
        {"--engine": {"choices": _ENGINES}, "--substrate": {"choices": _SUBSTRATES}},
    )


def run(arguments: argparse.Namespace) -> int:
    """Run the verb; the exit code is that of the worst verdict."""
    from wheelproof_spec.engines.explore.explorer import explore

    if arguments.list:
        return _list_programs()
    programs = _programs(arguments)
    if arguments.html is not None:
        # A missing package is reported before a long run, not after it.
        importlib.import_module("jinja2")
    options = None if arguments.engine == _GRAPH else _options(arguments)
    explorations: list[Exploration | GraphExploration] = []
    shown: list[Exploration] = []
    for program in programs:
        exploration: Exploration | GraphExploration
        if options is None:
            exploration = _explore_states(program, arguments)
        else:
            with progress(quiet=arguments.quiet) as line:
                tell = partial(_tell, line, program.name)
                exploration = explore(program, options, tell if line.shown else None)
            shown.append(exploration)
        explorations.append(exploration)
        if not arguments.quiet:
            _print_result(exploration.check_result())
        if exploration.stopped == "interrupted":
            break
    verdict = overall(exploration.verdict() for exploration in explorations)
    result = Result(
        verb="explore",
        verdict=verdict,
        checks=[exploration.check_result() for exploration in explorations],
        line=verdict.value,
        given={"engine": arguments.engine, "programs": [program.name for program in programs]},
        document={"explorations": [exploration.document() for exploration in explorations]},
    )
    return publish(result, arguments, lambda: _page(shown[0]))


def _explore_states(program: "Program", arguments: argparse.Namespace) -> "GraphExploration":
    from wheelproof_spec.engines.explore.substrates.substrate import SubstrateKind
    from wheelproof_spec.engines.graph.judging.exploration import explore_states

    for option, value in (("--replay", arguments.replay), ("--html", arguments.html)):
        if value is not None:
            raise UsageError(f"{option} shows one run, and the engine graph makes no runs")
    if arguments.max_states is not None and arguments.max_states < 1:
        raise UsageError(f"--max-states has to be at least 1, not {arguments.max_states}")
    with progress(quiet=arguments.quiet) as line:
        return explore_states(
            program,
            substrate=SubstrateKind(arguments.substrate),
            max_states=arguments.max_states,
            progress=lambda states: line.tell(f"{program.name}: {states:,} states"),
        )


def _programs(arguments: argparse.Namespace) -> "tuple[Program, ...]":
    from wheelproof_spec.app.parts import find_program, graph_programs, passing_programs

    if arguments.all == (arguments.program is not None):
        raise UsageError("name one PROGRAM, or give --all; --list names the programs")
    if arguments.all:
        if arguments.replay is not None:
            raise UsageError("--replay needs the PROGRAM that the schedule belongs to")
        if arguments.html is not None:
            raise UsageError("--html shows one run: name the PROGRAM")
        return graph_programs() if arguments.engine == _GRAPH else passing_programs()
    # A user's own programs are in the current folder, as with `python -m`.
    sys.path.insert(0, str(Path.cwd()))
    return (
        find_program(
            arguments.program,
            threading=arguments.threading or bool(arguments.instrument),
            instrument=arguments.instrument,
            steps=arguments.accesses == "steps",
        ),
    )


def _options(arguments: argparse.Namespace) -> "Options":
    from wheelproof_spec.engines.explore.explorer import Engine, Options
    from wheelproof_spec.engines.explore.substrates.substrate import SubstrateKind

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
        record=arguments.html is not None,
        jobs=arguments.jobs or 1,
    )


def _list_programs() -> int:
    from wheelproof_spec.app.parts import (
        failing_graph_programs,
        failing_programs,
        graph_programs,
        passing_programs,
    )

    for title, programs in (
        ("pass", passing_programs()),
        ("fail", failing_programs()),
        ("pass with --engine graph", graph_programs()),
        ("fail with --engine graph", failing_graph_programs()),
    ):
        print(f"programs that must {title}:")
        for program in programs:
            print(f"  {program.name:<32} {program.summary}")
    return exit_code(Verdict.PASS)


def _print_result(result: CheckResult) -> None:
    line = f"{result.name}: {result.verdict.value}, {result.summary}"
    print(coloured(line, sys.stdout), flush=True)
    if result.details:
        print(result.details)


def _tell(line: Progress, name: str, reached: "Reached") -> None:
    line.tell(f"{name}: {reached.text()}")


def _page(exploration: "Exploration") -> str:
    from wheelproof_spec.app.pages.explore import render_exploration

    return render_exploration(exploration)
