"""How a verb of the pipeline starts: the options that several verbs share, and what they mean."""

import argparse
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from wheelproof_spec.base.arguments import positive

LOCAL = "local[*]"
KEPT = ("output/manifest.json",)
"""What a report may not be written over, as `Verbs.add` takes it."""

Say = Callable[[str], None]
"""Is told what goes on, a line at a time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Workers:
    """Who does the work: Spark's master, and in how many parts.

    Without `partitions` there are as many parts as the work needs. With `progress` Spark draws
    its progress on the terminal.
    """

    master: str = LOCAL
    partitions: int | None = None
    progress: bool = False


def folder(text: str) -> Path:
    """Return the path of a folder, for `type` of an argument."""
    if re.match(r"[A-Za-z][A-Za-z0-9+.-]+:/", text):
        raise argparse.ArgumentTypeError(
            f"{text} is an address: folders are on this machine, or mounted there"
        )
    path = Path(text)
    try:
        path.resolve()
    except (OSError, RuntimeError) as error:
        raise argparse.ArgumentTypeError(str(error)) from error
    return path


def add_input(parser: argparse.ArgumentParser, what: str) -> None:
    """Declare where the recorded runs are."""
    parser.add_argument("--input", type=folder, metavar="DIR", required=True, help=what)


def add_output(parser: argparse.ArgumentParser) -> None:
    """Declare where the tables are."""
    parser.add_argument(
        "--output", type=folder, metavar="DIR", required=True, help="the folder of the tables"
    )


def add_number(
    parser: argparse.ArgumentParser,
    name: str,
    what: str,
    default: int | None = None,
    metavar: str = "N",
) -> None:
    """Declare a number from 1 upwards; the help names its default, if there is one."""
    shown = what if default is None else f"{what} (default: %(default)s)"
    parser.add_argument(name, type=positive, default=default, metavar=metavar, help=shown)


def add_workers(parser: argparse.ArgumentParser) -> None:
    """Declare where Spark works."""
    parser.add_argument(
        "--master", default=LOCAL, metavar="M", help="Spark's master (default: %(default)s)"
    )
    add_number(parser, "--partitions", "in how many parts the work is done")


def workers_of(arguments: argparse.Namespace) -> Workers:
    """Return what `add_workers` declared."""
    return Workers(
        master=arguments.master,
        partitions=arguments.partitions,
        progress=not arguments.quiet and sys.stderr.isatty(),
    )


def say_of(arguments: argparse.Namespace) -> Say:
    """Return what prints a line at once, or nothing with --quiet."""
    return lambda line: None if arguments.quiet else print(line, flush=True)
