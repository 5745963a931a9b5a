"""The declaration of a verb of the command line, with the options that every verb has."""

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import NoReturn, cast

from wheelproof_spec.app.verbs import VERBS
from wheelproof_spec.base.arguments import bounded, positive_seconds, unknown
from wheelproof_spec.base.codec.tables import Row, read_table
from wheelproof_spec.base.printable import printable

_LONGEST = 2_000
_EVERY_VERB = "every verb"
_FILES = ("reads", "writes")
"""The roles of an argument: an input, or an output."""
Types = Mapping[str, Callable[[str], object]]
"""The functions that convert the text of an argument, by their names in the tables."""

_TYPES: Types = {"path": Path, "int": int, "seconds": positive_seconds}
NOTHING: Mapping[str, Row] = MappingProxyType({})


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one sentence that names what may have been meant."""

    def error(self, message: str) -> NoReturn:
        """Print the error and end the program with the exit code of wrong usage."""
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
        add_arguments(parser, _EVERY_VERB)
        return parser

    def own(
        self,
        name: str,
        run: Callable[[argparse.Namespace], int],
        given: Mapping[str, Row] = NOTHING,
    ) -> argparse.ArgumentParser:
        """Add a verb of ours, with its entries in VERBS and ``arguments.toml``."""
        rows = read_table(__file__, "arguments.toml").get(name, NOTHING)
        reads, writes = (
            [
                word.lstrip("-").replace("-", "_")
                for word, row in rows.items()
                if kind in cast(Row, row)
            ]
            for kind in _FILES
        )
        parser = self.add(name, VERBS[name], run, reads=reads, writes=writes)
        if rows:
            add_arguments(parser, name, given)
        return parser


def add_arguments(
    parser: argparse.ArgumentParser, verb: str, given: Mapping[str, Row] = NOTHING
) -> None:
    """Declare the arguments of a verb of ours; see `declare_arguments`."""
    declare_arguments(parser, __file__, verb, given)


def declare_arguments(
    parser: argparse.ArgumentParser,
    module: str,
    verb: str,
    given: Mapping[str, Row],
    types: Types = _TYPES,
) -> None:
    """Declare the arguments that ``arguments.toml`` beside `module` has for a verb, in its order.

    `given` has what a table cannot have: choices and defaults that other modules define.
    `types` are added to the usual ones.
    """
    declare: Callable[..., argparse.Action] = parser.add_argument
    rows = cast(Mapping[str, Row], read_table(module, "arguments.toml")[verb])
    for name, row in rows.items():
        declare(name, **dict(_keywords(row, {**_TYPES, **types})), **given.get(name, {}))


def _keywords(row: Row, types: Types) -> Iterator[tuple[str, object]]:
    for key, value in row.items():
        if key == "type":
            yield key, types[str(value)]
        elif key == "least":
            yield "type", bounded(cast(int, value), cast(int | None, row.get("most")))
        elif key not in ("most", *_FILES):
            yield key, value
    if row.get("action") == "append":
        yield "default", []
