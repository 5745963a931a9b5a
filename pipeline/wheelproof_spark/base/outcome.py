"""The end of a pipeline verb: the printed text, JSON, JUnit, and the exit code."""

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from wheelproof_spec.base.results.publishing import deliver
from wheelproof_spec.base.results.reports import json_text, junit_text
from wheelproof_spec.base.results.verdicts import CheckResult, ExitCode


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The outcome of a verb.

    `lines` are printed unless --quiet is given, `sentence` always and last. `document` is for
    --json, `checks` are for --junit, in a suite named `suite`.
    """

    code: ExitCode
    lines: Sequence[str]
    sentence: str
    document: Mapping[str, object]
    suite: str
    checks: Sequence[CheckResult]


def show(outcome: Outcome, arguments: argparse.Namespace) -> ExitCode:
    """Write the reports that were asked for, print the outcome, and return the exit code."""
    for line in () if arguments.quiet else outcome.lines:
        print(line)
    forms = {
        "json": lambda: json_text(outcome.document),
        "junit": lambda: junit_text(outcome.suite, outcome.checks),
    }
    deliver(arguments, forms, outcome.sentence)
    return outcome.code
