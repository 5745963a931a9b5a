"""Judges all implementations and renews docs/verdicts.md.

Run it with `python -m wheelproof_lab.publish.verdicts.page`.
"""

import argparse
import contextlib
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from wheelproof_lab.checkout import required_checkout
from wheelproof_lab.publish.verdicts.measure import Extent, measure
from wheelproof_lab.publish.verdicts.render import render
from wheelproof_lab.publish.verdicts.subjects import IMPLEMENTATIONS
from wheelproof_spec.base.errors import WheelproofSpecError
from wheelproof_spec.base.results.reports import write_text
from wheelproof_spec.base.results.verdicts import ExitCode

PAGE = "docs/verdicts.md"
PROGRAM = "python -m wheelproof_lab.publish.verdicts.page"

_NUMBERS = (
    ("cases", 300, "fuzzed cases of each driven run"),
    ("operations", 10_000, "calls of each history"),
    ("threads", 8, "threads that call"),
    ("histories", 4, "histories of each component"),
    ("seed", 7, "of the cases and of the callers' choices"),
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the page; write nothing if a program fails or a deviation has no explanation."""
    parsed = _parser().parse_args(arguments)
    checkout = required_checkout()
    extent = Extent(**{name: getattr(parsed, name) for name, _, _ in _NUMBERS})
    output = Path.cwd() / parsed.output if parsed.output else checkout / PAGE
    wanted: list[str] = parsed.only or [one.name for one in IMPLEMENTATIONS]
    chosen = [one for one in IMPLEMENTATIONS if one.name in wanted]
    # The commands on the page are relative to the checkout.
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(checkout):
        measured = measure(chosen, extent, Path(folder), lambda text: print(text, file=sys.stderr))
        write_text(output, render(measured, extent, _command(extent)))
    return 0


def _command(extent: Extent) -> str:
    """Return the command that makes a page of this extent."""
    given = [
        f" --{name} {getattr(extent, name)}"
        for name, usual, _ in _NUMBERS
        if getattr(extent, name) != usual
    ]
    return PROGRAM + "".join(given)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=PROGRAM, description="Renew docs/verdicts.md.")
    for name, usual, what in _NUMBERS:
        parser.add_argument(
            f"--{name}", type=int, default=usual, metavar="N", help=f"{what} (default: {usual})"
        )
    parser.add_argument("--output", metavar="FILE", help=f"the page (default: {PAGE})")
    parser.add_argument(
        "--only",
        action="append",
        choices=[one.name for one in IMPLEMENTATIONS],
        help="judge this implementation; may be given more than once",
    )
    return parser


if __name__ == "__main__":
    try:
        sys.exit(main())
    except WheelproofSpecError as error:
        print(f"{PROGRAM}: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        print(f"{PROGRAM}: interrupted; nothing was written", file=sys.stderr)
        sys.exit(ExitCode.INCONCLUSIVE)
