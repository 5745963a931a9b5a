"""The command line of users: one program, one module a verb.

Only the module of the requested verb is imported. A verb imports what it needs beyond the standard
library when it runs. So `wheelproof --help` is fast, and works in an environment without the
extras. The verb `pipeline` is in a package that builds on this one: an entry point names it.
"""

import argparse
import sys
from collections.abc import Sequence

from wheelproof_spec.app.program import Declare, Group, build, run_program
from wheelproof_spec.base.errors import MissingToolError

GROUPS = (
    Group(
        "judge an implementation",
        {
            "check": "judge recorded traces and histories (JSON Lines)",
            "conform": "drive another implementation and judge it",
            "record": "record histories of the reference under load",
            "load": "give another implementation the same load, and write what it records",
            "fuzz": "stateful fuzzing against the oracle",
            "vectors": "list, verify or run the published vectors",
            "schema": "print the schemas, or validate files line by line",
        },
    ),
    Group(
        "explore and specify",
        {
            "explore": "run a program under every interleaving",
            "tlc": "model-check the TLA+ suite against its manifest, or any module",
        },
    ),
    Group(
        "everything else",
        {
            "pipeline": "judge recorded runs at scale, on Apache Spark",
            "doctor": "say what is missing on this machine, for which verb, and how to get it",
            "completion": "print a script that completes the words of this program in a shell",
        },
    ),
)
"""The verbs, in the order of the help."""

VERBS_OF_OTHERS = "wheelproof.verbs"
"""The group of entry points that declare verbs, as `declare` in our modules of verbs does."""

_PROG = "wheelproof"


def build_parser(words: Sequence[str] | None = None) -> argparse.ArgumentParser:
    """Return the parser of the program, with the verb in `words`, or without `words` every verb."""
    description = (
        "Tests Kafka-style timers, purgatories and producer memory, in any language; "
        "runs your own concurrent Python under every interleaving.\n\n"
        "to begin:\n"
        "  wheelproof explore wheelproof_explore.examples:account\n"
        "  wheelproof conform --template python"
    )
    parser = build(_PROG, description, GROUPS, _declare, words)
    parser.add_argument(
        "--version",
        action=_Version,
        nargs=0,
        help="print the versions of the program and of Python; doctor has those of what it uses",
    )
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the program and return its exit code, as `run_program` does."""
    return run_program(_PROG, build_parser, arguments)


def _declare(name: str, parser: argparse.ArgumentParser) -> None:
    match name:
        case "check":
            from wheelproof_spec.app.verbs.check import declare
        case "conform":
            from wheelproof_spec.app.verbs.conform import declare
        case "record":
            from wheelproof_spec.app.verbs.record import declare
        case "load":
            from wheelproof_spec.app.verbs.load import declare
        case "fuzz":
            from wheelproof_spec.app.verbs.fuzz import declare
        case "vectors":
            from wheelproof_spec.app.verbs.vectors import declare
        case "schema":
            from wheelproof_spec.app.verbs.schema import declare
        case "explore":
            from wheelproof_spec.app.verbs.explore import declare
        case "tlc":
            from wheelproof_spec.app.verbs.tlc import declare
        case "doctor":
            from wheelproof_spec.app.verbs.doctor import declare
        case "completion":
            from wheelproof_spec.app.verbs.completion import declare
        case _:
            _declared_by_others(name)(parser)
            return
    declare(parser)


def _declared_by_others(name: str) -> Declare:
    from importlib.metadata import entry_points

    for found in entry_points(group=VERBS_OF_OTHERS, name=name):
        declare: Declare = found.load()
        return declare
    raise MissingToolError(f"the verb {name}", "install the package with pip, which registers it")


class _Version(argparse.Action):
    """The action that prints the version and ends the program."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[object] | None,
        option_string: str | None = None,
    ) -> None:
        """Print the version and end the program."""
        from wheelproof_spec.app.installed import program_version

        del namespace, values, option_string
        print(program_version())
        parser.exit()


if __name__ == "__main__":
    sys.exit(main())
