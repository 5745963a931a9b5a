"""How a verb of the command line declares itself, with the options that every verb has."""

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NoReturn

from wheelproof_spec.base.arguments import unknown
from wheelproof_spec.base.printable import printable

_LONGEST = 2_000


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one sentence, which names what may have been meant."""

    def error(self, message: str) -> NoReturn:
        """Say what is wrong and end the program with the exit code of wrong usage."""
        self.exit(2, f"{self.prog}: {printable(message, _LONGEST)}; see {self.prog} --help\n")

    def _check_value(self, action: argparse.Action, value: object) -> None:
        if action.choices is None or value in action.choices:
            return
        what = "/".join(action.option_strings) or action.metavar or action.dest
        raise argparse.ArgumentError(
            None, unknown(str(what), str(value), [str(choice) for choice in action.choices])
        )


class Verbs:
    """The verbs of the program, or of a group; each one is added with `add`."""

    def __init__(self, parser: argparse.ArgumentParser) -> None:
        self._subparsers = parser.add_subparsers(required=True, metavar="VERB", parser_class=Parser)

    def group(self, name: str, summary: str) -> "Verbs":
        """Add a verb that has verbs of its own."""
        return Verbs(self.mention(name, summary))

    def mention(self, name: str, summary: str) -> argparse.ArgumentParser:
        """Add a verb without its arguments, for the help of the program as a whole."""
        return self._subparsers.add_parser(
            name, help=summary, description=summary, allow_abbrev=False
        )

    def add(
        self,
        name: str,
        summary: str,
        run: Callable[[argparse.Namespace], int],
        *,
        reads: Sequence[str] = (),
        writes: Sequence[str] = (),
    ) -> argparse.ArgumentParser:
        """Add a verb; `run` gets the parsed arguments and returns the exit code.

        `reads` and `writes` name the arguments with its inputs and outputs, as
        `require_separate_files` takes them; no output is written over an input.
        """
        parser = self.mention(name, summary)
        parser.set_defaults(run=run, words=(), reads=reads, writes=("json", "junit", *writes))
        parser.add_argument(
            "--json",
            type=Path,
            metavar="FILE",
            help="write the result as JSON to FILE; to standard output if it is -, and all else to "
            "standard error",
        )
        parser.add_argument(
            "--junit",
            type=Path,
            metavar="FILE",
            help="write the result as JUnit XML to FILE, or -",
        )
        parser.add_argument(
            "--quiet", action="store_true", help="print the verdict and nothing else"
        )
        return parser
