"""How a verb of the pipeline ends: what is printed, JSON, JUnit, and the exit code."""

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from wheelproof_spec.base.reports import write_json, write_junit
from wheelproof_spec.base.verdicts import CheckResult, ExitCode


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a verb came to.

    `lines` are printed unless --quiet is given, `sentence` always and last. `document` is for
    --json, `checks` for --junit, as a suite of this name.
    """

    code: ExitCode
    lines: Sequence[str]
    sentence: str
    document: Mapping[str, object]
    suite: str
    checks: Sequence[CheckResult]


def show(outcome: Outcome, arguments: argparse.Namespace) -> ExitCode:
    """Write the reports that were asked for, print the outcome, and return the exit code."""
    if arguments.json is not None:
        write_json(arguments.json, outcome.document)
    if arguments.junit is not None:
        write_junit(arguments.junit, outcome.suite, outcome.checks)
    for line in () if arguments.quiet else outcome.lines:
        print(line)
    print(outcome.sentence)
    return outcome.code
