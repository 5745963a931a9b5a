"""The command line of the laboratory, ``python -m wheelproof_lab``."""

import argparse
import sys
from collections.abc import Sequence

from wheelproof_spec.app.program import Group, build, run_program

GROUPS = (
    Group(
        "prove",
        {
            "graph": "compare the state graph of the code with TLC's",
            "prove": "prove invariants for any number of threads",
        },
    ),
    Group(
        "doubt",
        {
            "bugs": "let every engine look for every known bug, within a fixed budget",
            "mutate": "mutation-test the reference, or the TLA+ modules",
            "methods": "show which engine calls which method of the reference, and how it ends",
            "metamorphic": "vary right histories, and compare the verdicts of the judges",
        },
    ),
    Group(
        "publish",
        {
            "run": "the main job, which `make run` starts; its report goes to out/",
            "demo": "record runs, good and bad, and judge them on Apache Spark",
            "vectors": "make the published vectors again",
            "pages": "renew the pages that are made from tables, proofs, tests and figures",
            "verdicts": "judge all implementations, and renew docs/verdicts.md; takes long",
        },
    ),
)
"""The verbs, in the order of the help."""

_PROG = "python -m wheelproof_lab"


def build_parser(words: Sequence[str] | None = None) -> argparse.ArgumentParser:
    """Return the parser of the program, with the verb in `words`, or without `words` every verb."""
    description = "The laboratory: what proves that the reference and the judge are right."
    return build(_PROG, description, GROUPS, _declare, words)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the program and return its exit code, as `run_program` does."""
    return run_program(_PROG, build_parser, arguments)


def _declare(name: str, parser: argparse.ArgumentParser) -> None:
    match name:
        case "graph":
            from wheelproof_lab.graph.verb import declare
        case "prove":
            from wheelproof_lab.prove.verb import declare
        case "bugs":
            from wheelproof_lab.detect.bugs import declare
        case "mutate":
            from wheelproof_lab.detect.mutate import declare
        case "methods":
            from wheelproof_lab.detect.methods import declare
        case "metamorphic":
            from wheelproof_lab.metamorphic.verb import declare
        case "run":
            from wheelproof_lab.publish.main_job.verb import declare
        case "demo":
            from wheelproof_lab.publish.demo.verb import declare
        case "vectors":
            from wheelproof_lab.vectors.verb import declare
        case "pages":
            from wheelproof_lab.publish.pages import declare
        case "verdicts":
            from wheelproof_lab.publish.verdicts.page import declare
        case _:
            raise AssertionError(f"no module has the verb {name}")
    declare(parser)


if __name__ == "__main__":
    sys.exit(main())
