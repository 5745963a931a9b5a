"""The verb `explore`: a program under every interleaving.

`wheelproof explore` and `python -m wheelproof_explore` are this verb. What only the first has, it
hands over as `Surroundings`: programs with names, the engine `graph`, its own reports.
"""

import argparse
import importlib
import secrets
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from shlex import quote
from typing import Protocol

from wheelproof_explore.estimate import Progress as Reached
from wheelproof_explore.explorer import explore
from wheelproof_explore.failures.problems import OptionRejectedError
from wheelproof_explore.options import Engine, Options
from wheelproof_explore.program import Program
from wheelproof_explore.result import INTERRUPTED, Exploration
from wheelproof_explore.substrates.substrate import SubstrateKind
from wheelproof_explore.tasks.imported import functions_to_name, imported
from wheelproof_explore.verdicts import EXIT_CODES, ExitCode, Verdict

GRAPH = "graph"
_ENGINES = ("optimal", "bounded", "sample", "source", "brute")

Tell = Callable[[str], None]
"""A function that takes one line of progress at a time."""


class Explored(Protocol):
    """The result of one program: an `Exploration`, or what another engine found."""

    @property
    def program(self) -> str:
        """The name of the program."""
        ...

    @property
    def seconds(self) -> float:
        """How long it took."""
        ...

    @property
    def stopped(self) -> str | None:
        """The reason why the engine ended early, None if it did not."""
        ...

    def verdict(self) -> Verdict:
        """Return the verdict."""
        ...

    def summary(self) -> str:
        """Return the result in one sentence."""
        ...

    def details(self) -> str:
        """Return the counterexample, if there is one."""
        ...

    def document(self) -> dict[str, object]:
        """Return the result as JSON values."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What one run of the verb has found; `page` makes the page of `--html`."""

    explorations: Sequence[Explored]
    given: Mapping[str, object]
    page: Callable[[], str]

    @property
    def verdict(self) -> Verdict:
        """The worst verdict: a failure outranks an inconclusive run; nothing is inconclusive."""
        found = {exploration.verdict() for exploration in self.explorations}
        return next((verdict for verdict in Verdict if verdict in found), Verdict.INCONCLUSIVE)

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C ended the verb, before all programs were explored."""
        return any(exploration.stopped == INTERRUPTED for exploration in self.explorations)

    @property
    def exit_code(self) -> ExitCode:
        """The exit code: that of the verdict, or 130 if Ctrl-C came before a failure."""
        if self.interrupted and self.verdict is not Verdict.FAIL:
            return ExitCode.INTERRUPTED
        return EXIT_CODES[self.verdict]


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What the verb gets from the program that it is a verb of.

    `named` returns the program of a name that is no `module:function`. `titled` returns lists of
    programs by title, for `--list`, and `all_of` those that `--all` explores with an engine.
    `states` is the engine `graph`. `told` hands a function that shows progress to the work,
    or None where nobody looks.
    """

    named: Callable[[str], Program]
    titled: Callable[[], Mapping[str, Sequence[Program]]] = field(default=dict)
    all_of: Callable[[str], Sequence[Program]] = field(default=lambda _: ())
    states: Callable[[Program, argparse.Namespace], Explored] | None = None
    told: Callable[[Callable[[Tell | None], Exploration]], Exploration] = field(
        default=lambda work: work(None)
    )
    coloured: Callable[[str], str] = field(default=str)


def declare(parser: argparse.ArgumentParser, surroundings: Surroundings) -> None:
    """Declare the arguments of the verb."""
    add = parser.add_argument
    add(
        "program",
        nargs="?",
        metavar="PROGRAM",
        help="a function, as module:function or file.py:function, or a program's name",
    )
    add("--all", action="store_true", help="explore every program that must pass")
    add("--list", action="store_true", help="list the programs")
    engines = (*_ENGINES, GRAPH) if surroundings.states else _ENGINES
    graph = "graph visits every state, and judges what can go on for ever as well; "
    add(
        "--engine",
        default="optimal",
        choices=engines,
        help=f"optimal covers every class once; {graph if surroundings.states else ''}bounded "
        "reverses no race, then one, then two, and passes nothing, for programs that are too "
        "large; sample draws schedules at random; source and brute are oracles for small programs "
        "(default: optimal)",
    )
    add(
        "--instrument",
        action="append",
        metavar="PACKAGE",
        help="see what the functions of this package or module read and write; may be given "
        "several times (default: the function's module and what it imports from beside it; none: "
        "see locks, queues and the like alone)",
    )
    add(
        "--accesses",
        choices=["steps", "races"],
        help="make each access a step and explore their orders, or search for data races "
        "(default: steps)",
    )
    add(
        "--faults",
        action="append",
        default=[],
        metavar="CALL",
        help="let each call of module:function or module:Class.method fail in some runs, one in a "
        "run, by Exception or BaseException; CALL=ERROR,... names other errors, and "
        "KeyboardInterrupt is Ctrl-C, which reaches the main thread; may be given several times",
    )
    add(
        "--first-in-first-out",
        action="store_true",
        help="let tasks have their turns in the order in which asyncio's own loop gives them, in "
        "the place of every order",
    )
    add("--replay", metavar="SCHEDULE", help="repeat the run of this schedule string")
    add("--seed", type=int, metavar="N", help="the seed of the engine sample")
    add("--max-runs", type=int, metavar="N", help="end after N runs, inconclusive if none failed")
    add(
        "--max-seconds",
        type=float,
        metavar="S",
        help="end after S seconds, inconclusive if none failed",
    )
    if surroundings.states:
        add("--max-states", type=int, metavar="N", help="end the engine graph after N states")
    add("--keep-going", action="store_true", help="do not end at the first run that fails")
    add(
        "--jobs",
        type=_jobs,
        metavar="N",
        help="explore in N processes: the same classes, in less time (default: 1)",
    )
    add(
        "--substrate",
        choices=("greenlet", "threads"),
        default="greenlet",
        help="what the threads run on (default: greenlet)",
    )
    add(
        "--html",
        type=Path,
        metavar="FILE",
        help="write a page in which the counterexample, or an example run, can be stepped through",
    )


def explored(arguments: argparse.Namespace, surroundings: Surroundings) -> Outcome | None:
    """Explore what the arguments ask for, and tell of each program; None if they ask for a list.

    Raises OptionRejectedError, InputRejectedError, and all that `explore` raises.
    """
    if arguments.list:
        _list_programs(surroundings)
        return None
    programs = _programs(arguments, surroundings)
    if arguments.html is not None:
        # A missing package is reported before a long run, not after it.
        importlib.import_module("jinja2")
    options = None if arguments.engine == GRAPH else _options(arguments)
    explorations: list[Explored] = []
    shown: list[Exploration] = []
    for program in programs:
        found: Explored
        if options is None:
            assert surroundings.states is not None, "the parser knows the engines"
            found = surroundings.states(program, arguments)
        else:
            found = surroundings.told(partial(_explore, program, options))
            shown.append(found)
        explorations.append(found)
        if not arguments.quiet:
            line = f"{found.program}: {found.verdict().value}, {found.summary()}"
            print(surroundings.coloured(line), flush=True)
            if found.details():
                print(found.details())
        if found.stopped == INTERRUPTED:
            break
    return Outcome(
        explorations=explorations,
        given={"engine": arguments.engine, "programs": [program.name for program in programs]},
        page=lambda: _page(shown[0]),
    )


def _explore(program: Program, options: Options, tell: Tell | None) -> Exploration:
    def reached(progress: Reached) -> None:
        assert tell is not None, "nobody is told without a teller"
        tell(f"{program.name}: {progress.text()}")

    return explore(program, options, reached if tell else None)


def _programs(arguments: argparse.Namespace, surroundings: Surroundings) -> Sequence[Program]:
    if arguments.all == (arguments.program is not None):
        raise OptionRejectedError(
            "name one PROGRAM, as file.py:function, or for a first look "
            "wheelproof_explore.examples:account; --list names more, and --all explores those"
        )
    if arguments.all:
        if arguments.replay is not None:
            raise OptionRejectedError("--replay needs the PROGRAM that the schedule belongs to")
        if arguments.html is not None:
            raise OptionRejectedError("--html shows one run: name the PROGRAM")
        return surroundings.all_of(arguments.engine)
    # A user's own programs are in the current folder, as with `python -m`.
    sys.path.insert(0, str(Path.cwd()))
    name: str = arguments.program
    given = arguments.instrument, arguments.accesses
    faults: Sequence[str] = arguments.faults
    in_line: bool = arguments.first_in_first_out
    if ":" in name:
        # What was asked for is asked for again when a run is repeated.
        options = "".join(f" --instrument {package}" for package in given[0] or ())
        options += f" --accesses {given[1]}" if given[1] else ""
        options += "".join(f" --faults {quote(fault)}" for fault in faults)
        options += " --first-in-first-out" if in_line else ""
        program = imported(name, instrument=given[0], accesses=given[1], faults=faults)
        if in_line:
            settings = replace(program.settings, first_in_first_out=True)
            program = replace(program, settings=settings)
        return (replace(program, options=options),)
    if given != (None, None) or faults or in_line:
        options = "--instrument, --accesses, --faults and --first-in-first-out"
        problem = f"{options} are for code of your own, not for {name!r}"
        raise OptionRejectedError(f"{problem}; name a function, as module:function")
    if name.endswith(".py"):
        raise OptionRejectedError(f"{name} is a file; {functions_to_name(name)}")
    return (surroundings.named(name),)


def _options(arguments: argparse.Namespace) -> Options:
    if arguments.max_runs is not None and arguments.max_runs < 1:
        raise OptionRejectedError(f"--max-runs has to be at least 1, not {arguments.max_runs}")
    if arguments.max_seconds is not None and not arguments.max_seconds > 0:
        raise OptionRejectedError(f"--max-seconds has to be above 0, not {arguments.max_seconds}")
    seed = secrets.randbelow(2**32) if arguments.seed is None else arguments.seed
    engine = Engine.REPLAY if arguments.replay is not None else Engine(arguments.engine)
    if engine is Engine.SAMPLE and not arguments.quiet:
        print(f"sampling, seed {seed}", flush=True)
    return Options(
        engine=engine,
        substrate=SubstrateKind(arguments.substrate),
        seed=seed,
        max_runs=arguments.max_runs,
        max_seconds=arguments.max_seconds,
        keep_going=arguments.keep_going,
        schedule=arguments.replay or "",
        record=arguments.html is not None,
        jobs=arguments.jobs or 1,
    )


def _list_programs(surroundings: Surroundings) -> None:
    for title, programs in surroundings.titled().items():
        print(f"programs that must {title}:")
        for program in programs:
            print(f"  {program.name:<32} {program.summary}")


def _page(exploration: Exploration) -> str:
    from wheelproof_explore.page.page import render_exploration

    return render_exploration(exploration)


def _jobs(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no number from 1 upwards")
    return int(text)
