"""What a verb was given, what it did, and how to repeat it: as text, as JSON and as JUnit XML.

A verb makes one `Result` and hands it to `publish`, which writes all forms of it. So every report
has the same fields, whatever verb it is of.
"""

import argparse
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from wheelproof_spec.base.reports import result_document, write_json, write_junit
from wheelproof_spec.base.verdicts import CheckResult, ExitCode, Verdict, exit_code


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The outcome of one run of a verb.

    `line` is the outcome in one line, `text` the whole story, empty if it has been printed already.
    `given` is what decided the run, seeds included; `document` what JSON has beyond the common
    fields. `repeat` is the command that does the same again; if it is empty, that is the command
    line itself. `code` is the exit code where the verdict alone does not say it.
    """

    verb: str
    verdict: Verdict
    checks: Sequence[CheckResult]
    line: str
    text: str = ""
    given: Mapping[str, object] = field(default_factory=dict[str, object])
    document: Mapping[str, object] = field(default_factory=dict[str, object])
    repeat: str = ""
    code: ExitCode | None = None


def publish(result: Result, arguments: argparse.Namespace) -> ExitCode:
    """Write the reports that the command line asks for, print the rest; return the exit code."""
    code = exit_code(result.verdict) if result.code is None else result.code
    if arguments.json is not None:
        words: Sequence[str] = arguments.words
        write_json(
            arguments.json,
            {
                "schema": f"wheelproof.{result.verb}/1",
                "verdict": result.verdict.value,
                "exit_code": code.value,
                "given": dict(result.given),
                "repeat": result.repeat or shlex.join(("wheelproof", *words)),
                "checks": [result_document(check) for check in result.checks],
                **result.document,
            },
        )
    if arguments.junit is not None:
        write_junit(arguments.junit, f"wheelproof.{result.verb}", result.checks)
    if arguments.quiet:
        print(result.line)
    elif result.text:
        print(result.text)
    return code
