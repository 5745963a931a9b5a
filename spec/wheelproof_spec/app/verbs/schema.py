"""The verb ``schema``: prints the JSON Schema of the formats, and validates lines against it."""

import argparse
from dataclasses import asdict, dataclass, field
from pathlib import Path

from wheelproof_spec.app.program import carries
from wheelproof_spec.base.errors import UsageError, printable
from wheelproof_spec.base.results.publishing import Result, deliver, publish
from wheelproof_spec.base.results.reports import json_text
from wheelproof_spec.base.results.terminal import progress
from wheelproof_spec.base.results.verdicts import CheckResult, ExitCode, Verdict

MOST_SHOWN = 20


def declare(parser: argparse.ArgumentParser) -> None:
    """Declare the verb."""
    parser.add_argument("what", choices=["print", "validate"], help="what to do")
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE", help="for validate")
    carries(parser, run, reads=("files",))


def run(arguments: argparse.Namespace) -> int:
    """Print the schema or validate files; a line that follows no schema is exit code 4."""
    if arguments.what == "print":
        return _print(arguments)
    if not arguments.files:
        raise UsageError("schema validate needs a file, or - for standard input")
    from wheelproof_spec.app.recorded import parse_line
    from wheelproof_spec.history.line_parser import Rejection
    from wheelproof_spec.history.reader import read_lines

    count = _Count()
    with progress(quiet=arguments.quiet) as shown:
        for path in arguments.files:
            lines = shown.counting(read_lines(path), f"lines of {path}")
            for number, line in enumerate(lines, start=1):
                event = parse_line(line) if isinstance(line, bytes) else line
                problem = event.problem if isinstance(event, Rejection) else None
                count.take(f"{path}:{number}", problem)
    return publish(_result(arguments, count), arguments)


@dataclass(slots=True)
class _Count:
    lines: int = 0
    rejected: int = 0
    shown: list[str] = field(default_factory=list[str])

    def take(self, place: str, problem: str | None) -> None:
        self.lines += 1
        if problem is not None:
            self.rejected += 1
            if len(self.shown) < MOST_SHOWN:
                self.shown.append(printable(f"{place}: the line {problem}"))


def _print(arguments: argparse.Namespace) -> int:
    from wheelproof_spec.app.recorded import LINES
    from wheelproof_spec.base.codec.json_schema import json_schema

    text = json_text(json_schema(LINES.shapes))
    deliver(arguments, {"json": lambda: text}, "", "" if arguments.json else text.rstrip())
    return ExitCode.PASS


def _result(arguments: argparse.Namespace, count: _Count) -> Result:
    valid = count.lines - count.rejected
    summary = f"{count.lines:,} lines: {valid:,} valid, {count.rejected:,} rejected"
    verdict = Verdict.PASS if count.lines else Verdict.INCONCLUSIVE
    if count.rejected:
        verdict = Verdict.ERROR
    problems = list(count.shown)
    if count.rejected > len(count.shown):
        problems.append(f"and {count.rejected - len(count.shown):,} more")
    check = CheckResult(
        name="schema",
        group="schema",
        verdict=verdict,
        summary=summary,
        details="\n".join(count.shown),
    )
    return Result(
        verb="schema",
        verdict=verdict,
        checks=[check],
        line=summary,
        text="\n".join([*problems, summary]),
        given={"files": list(map(str, arguments.files))},
        document=asdict(count),
        code=ExitCode.INPUT_REJECTED if count.rejected else None,
    )
