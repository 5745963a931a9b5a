"""Recorded runs of every component: the engine of histories, with the registry."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from wheelproof_spec.app.laboratory import laboratory
from wheelproof_spec.base.codec.vocabulary import Wire
from wheelproof_spec.base.history.judging import MakeTraceChecker
from wheelproof_spec.base.history.lines import HistoryHeader
from wheelproof_spec.base.results.known_limits import KnownLimit, read_known_limits
from wheelproof_spec.components import registry
from wheelproof_spec.history.checkers import CheckOptions, run_opener
from wheelproof_spec.history.line_parser import LineFormat, Rejection
from wheelproof_spec.history.reader import STANDARD_INPUT, read_lines
from wheelproof_spec.history.routing import Checker, FileResult, Header, Router
from wheelproof_spec.history.run import HistoryChecker

LINES = LineFormat(registry.definitions())
"""The format of the lines of all components."""

parse_line = LINES.parse


def open_run(options: CheckOptions) -> Callable[[Header], Checker]:
    """Return the function that makes the checker of a run."""
    return run_opener(registry, _trace_checker, options)


def _trace_checker(component: str) -> MakeTraceChecker | None:
    return laboratory("the judge of traces").trace_checker(component)


def judge_lines(
    source: str, lines: Iterable[bytes | Rejection], options: CheckOptions | None = None
) -> FileResult:
    """Judge the runs in `lines`, which are those of the file `source`."""
    return Router(source, parse_line, open_run(options or CheckOptions())).judge(lines)


def judge_files(
    files: Sequence[Path], options: CheckOptions, tell: Callable[[str], None] | None = None
) -> list[FileResult]:
    """Judge files (`-` is standard input) one by one, until Ctrl-C; `tell` gets the progress."""
    results: list[FileResult] = []
    for path in files:
        source = "<standard input>" if path == STANDARD_INPUT else str(path)
        lines = read_lines(path)
        if tell is not None:
            lines = _counted(lines, tell, f"file {len(results) + 1:,} of {len(files):,}")
        results.append(judge_lines(source, lines, options))
        if results[-1].interrupted:
            break
    return results


def _counted(
    lines: Iterable[bytes | Rejection], tell: Callable[[str], None], what: str
) -> Iterator[bytes | Rejection]:
    for number, line in enumerate(lines):
        if number % 1_000 == 0:
            tell(f"{what}: {number:,} lines")
        yield line


def known_limits(path: Path) -> tuple[KnownLimit, ...]:
    """Read the clauses that are not judged; the file may have limits that only `conform` uses."""
    found: list[str] = []
    for definition in registry.definitions():
        found += [clause for clause in definition.clauses if clause.judges & Wire.RECORDED]
        found += definition.may_be_limits()
    return read_known_limits(path, tuple(dict.fromkeys(found)))


def history_checker(header: HistoryHeader[object], profile: str | None = None) -> HistoryChecker:
    """Return the checker of a history with this header; it takes one event at a time."""
    component = registry.recorded(header.component)
    return HistoryChecker(header, component, profile, search=component.search)
