"""The verb `completion`: prints a script that completes the words of `wheelproof` in a shell.

The package shtab makes the script from the parser of the whole program.
"""

import argparse
from collections.abc import Mapping, Sequence
from typing import cast

from wheelproof_spec.app.program import BuildParser, runs
from wheelproof_spec.base.results.verdicts import ExitCode


def declare(parser: argparse.ArgumentParser) -> None:
    """Declare the verb."""
    parser.add_argument("shell", choices=["bash", "zsh"], help="the shell")
    runs(parser, run)


def run(arguments: argparse.Namespace) -> int:
    """Print the script; `eval "$(wheelproof completion bash)"` turns it on."""
    import shtab

    build_parser: BuildParser = arguments.build_parser
    parser = build_parser(None)
    _complete_files(parser, shtab.FILE)
    print(shtab.complete(parser, shell=arguments.shell))
    return ExitCode.PASS


def _complete_files(parser: argparse.ArgumentParser, file: object) -> None:
    """Let names of files complete each argument that a verb reads or writes."""
    named = (*_names(parser, "reads"), *_names(parser, "writes"))
    files = {name.partition("/")[0] for name in named}
    for action in cast("list[argparse.Action]", vars(parser)["_actions"]):
        known = cast("Mapping[str, object] | Sequence[str] | None", action.choices)
        if known is None and action.dest in files:
            vars(action)["complete"] = file
        for verb in known.values() if isinstance(known, Mapping) else ():
            if isinstance(verb, argparse.ArgumentParser):
                _complete_files(verb, file)


def _names(parser: argparse.ArgumentParser, kind: str) -> Sequence[str]:
    names: Sequence[str] | None = parser.get_default(kind)
    return names or ()
