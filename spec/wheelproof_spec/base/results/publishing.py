"""A verb's inputs, its outcome, and how to repeat it: as text, as JSON and as JUnit XML.

A verb makes one `Result` and hands it to `publish`, which writes all its forms. So the reports of
all verbs have the same fields.
"""

import argparse
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from wheelproof_spec.base.errors import UnwritableError
from wheelproof_spec.base.results.reports import json_text, junit_text, result_document, write_text
from wheelproof_spec.base.results.streams import lost_output
from wheelproof_spec.base.results.terminal import coloured
from wheelproof_spec.base.results.verdicts import CheckResult, ExitCode, Verdict, exit_code

STANDARD_OUTPUT = Path("-")
"""As the file of `--json` or `--junit`: standard output; other text goes to standard error."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The outcome of one run of a verb.

    `line` is the outcome in one line, `text` the full report, empty if it has been printed already.
    `given` are the settings that determine the run, seeds included; `document` are further fields
    of the JSON report. `repeat` is the command that repeats the run, by default the command line
    itself. `interrupted` is whether Ctrl-C ended the run: then the exit code is 130, unless the
    run has failed. `code` is the exit code if these do not determine it.
    """

    verb: str
    verdict: Verdict
    checks: Sequence[CheckResult]
    line: str
    text: str = ""
    given: Mapping[str, object] = field(default_factory=dict[str, object])
    document: Mapping[str, object] = field(default_factory=dict[str, object])
    repeat: str = ""
    interrupted: bool = False
    code: ExitCode | None = None

    @property
    def exit_code(self) -> ExitCode:
        """The exit code of the verb."""
        if self.interrupted and self.verdict is not Verdict.FAIL:
            return ExitCode.INTERRUPTED
        return exit_code(self.verdict) if self.code is None else self.code


def publish(
    result: Result, arguments: argparse.Namespace, page: Callable[[], str] | None = None
) -> ExitCode:
    """Print the outcome, write the reports that the command line asks for; return the exit code.

    `page` makes the page that `--html` writes. Raises UnwritableError, as `deliver` does.
    """
    code = result.exit_code
    prog: str = arguments.prog
    words: Sequence[str] = arguments.words
    document = {
        "schema": f"wheelproof.{result.verb}/1",
        "verdict": result.verdict.value,
        "exit_code": code.value,
        "given": dict(result.given),
        "repeat": result.repeat or shlex.join((*prog.split(), *words)),
        "checks": [result_document(check) for check in result.checks],
        **result.document,
    }
    forms = {
        "json": lambda: json_text(document),
        "junit": lambda: junit_text(f"wheelproof.{result.verb}", result.checks),
    }
    if page is not None:
        forms["html"] = page
    deliver(arguments, forms, result.line, result.line if arguments.quiet else result.text)
    return code


def deliver(
    arguments: argparse.Namespace,
    forms: Mapping[str, Callable[[], str]],
    line: str,
    text: str | None = None,
) -> None:
    """Print `text`, by default `line`; write each form to the file that its option names.

    Each output is tried, even if others fail; if nothing can be printed, standard error gets the
    `line`. Raises UnwritableError afterwards, for the first output that could not be written.
    """
    troubles: list[UnwritableError | None] = []
    try:
        told = line if text is None else text
        print(coloured(told, sys.stdout), end="\n" if told else "", flush=True)
    except OSError as error:
        troubles.append(lost_output(error))
        if line and troubles[0] is not None:
            print(line, file=sys.stderr)
    for name, form in forms.items():
        path: Path | None = getattr(arguments, name, None)
        if path is None:
            continue
        try:
            if path == STANDARD_OUTPUT:
                print(form(), end="", flush=True, file=arguments.standard_output)
            else:
                write_text(path, form())
        except UnwritableError as error:
            troubles.append(error)
        except OSError as error:
            troubles.append(lost_output(error))
    for trouble in troubles:
        if trouble is not None:
            raise trouble
