"""How a verb of the command line declares itself, with the options that every verb has."""

import argparse
from collections.abc import Callable
from pathlib import Path


class Verbs:
    """The verbs of the program, or of a group; each one is added with `add`."""

    def __init__(self, parser: argparse.ArgumentParser) -> None:
        self._subparsers = parser.add_subparsers(required=True, metavar="VERB")

    def group(self, name: str, summary: str) -> "Verbs":
        """Add a verb that has verbs of its own."""
        return Verbs(self._subparsers.add_parser(name, help=summary, description=summary))

    def add(
        self, name: str, summary: str, run: Callable[[argparse.Namespace], int]
    ) -> argparse.ArgumentParser:
        """Add a verb; `run` gets the parsed arguments and returns the exit code."""
        parser = self._subparsers.add_parser(name, help=summary, description=summary)
        parser.set_defaults(run=run, words=())
        parser.add_argument(
            "--json", type=Path, metavar="FILE", help="write the result as JSON to FILE"
        )
        parser.add_argument(
            "--junit", type=Path, metavar="FILE", help="write the result as JUnit XML to FILE"
        )
        parser.add_argument(
            "--quiet", action="store_true", help="print the verdict and nothing else"
        )
        return parser
