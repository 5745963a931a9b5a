"""The verb `verdicts`: judges all implementations and renews docs/verdicts.md."""

import argparse
import contextlib
import shutil
import sys
import tempfile
from pathlib import Path

from wheelproof_lab.checkout import required_checkout
from wheelproof_lab.publish.verdicts.measure import Extent, measure
from wheelproof_lab.publish.verdicts.render import render
from wheelproof_lab.publish.verdicts.subjects import IMPLEMENTATIONS, UnexplainedDeviationError
from wheelproof_spec.app.program import runs
from wheelproof_spec.base.results.reports import write_text

PAGE = "docs/verdicts.md"

_PROGRAM = "python -m wheelproof_lab verdicts"

_NUMBERS = (
    ("cases", 300, "fuzzed cases of each driven run"),
    ("operations", 10_000, "calls of each history"),
    ("threads", 8, "threads that call"),
    ("histories", 4, "histories of each component"),
    ("seed", 7, "of the cases and of the callers' choices"),
)


def declare(parser: argparse.ArgumentParser) -> None:
    """Declare the verb."""
    for name, usual, what in _NUMBERS:
        parser.add_argument(
            f"--{name}", type=int, default=usual, metavar="N", help=f"{what} (default: {usual})"
        )
    parser.add_argument("--output", type=Path, metavar="FILE", help=f"the page (default: {PAGE})")
    parser.add_argument(
        "--only",
        action="append",
        default=[],
        choices=[one.name for one in IMPLEMENTATIONS],
        help="judge this implementation; may be given more than once",
    )
    runs(parser, run, writes=("output",))


def run(arguments: argparse.Namespace) -> int:
    """Write the page; write nothing if a program fails or a deviation has no explanation.

    Then the histories are kept: threads that run once more need not meet it again.
    """
    checkout = required_checkout()
    extent = Extent(**{name: getattr(arguments, name) for name, _, _ in _NUMBERS})
    output = Path.cwd() / arguments.output if arguments.output else checkout / PAGE
    wanted: list[str] = arguments.only or [one.name for one in IMPLEMENTATIONS]
    chosen = [one for one in IMPLEMENTATIONS if one.name in wanted]
    # The commands on the page are relative to the checkout.
    folder = Path(tempfile.mkdtemp(prefix="wheelproof-verdicts-"))
    with contextlib.ExitStack() as stack, contextlib.chdir(checkout):
        stack.callback(shutil.rmtree, folder)
        measured = measure(chosen, extent, folder, lambda text: print(text, file=sys.stderr))
        try:
            write_text(output, render(measured, extent, _command(extent)))
        except UnexplainedDeviationError as error:
            stack.pop_all()
            raise UnexplainedDeviationError(f"{error}; the histories are in {folder}") from error
    return 0


def _command(extent: Extent) -> str:
    """Return the command that makes a page of this extent."""
    given = [
        f" --{name} {getattr(extent, name)}"
        for name, usual, _ in _NUMBERS
        if getattr(extent, name) != usual
    ]
    return _PROGRAM + "".join(given)
