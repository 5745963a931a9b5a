"""Sends each line of a file to the checker of its run, and counts every line once."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Protocol

from wheelproof_spec.base.history.lines import (
    HistoryEnd,
    HistoryHeader,
    HistoryOp,
    TraceEnd,
    TraceEvent,
    TraceHeader,
    Vector,
)
from wheelproof_spec.base.results.run_verdict import RunVerdict
from wheelproof_spec.base.strict_json import MalformedError
from wheelproof_spec.engines.history.line_parser import Event, Rejection

MOST_OPEN_RUNS = 10_000
MOST_REJECTIONS = 20
"""How many rejected lines are named; the others are counted."""

Header = HistoryHeader[object] | TraceHeader[object]
Body = HistoryOp[object] | HistoryEnd | TraceEvent[object, object] | TraceEnd


@dataclass(frozen=True, slots=True, kw_only=True)
class RejectedLine:
    """A line that is not judged: the problem completes the sentence "the line ..."."""

    line: int
    problem: str


@dataclass(slots=True)
class FileResult:
    """What became of one file: `lines` is `judged` and `rejected` together."""

    source: str
    lines: int = 0
    judged: int = 0
    rejected: int = 0
    rejections: list[RejectedLine] = field(default_factory=list[RejectedLine])
    verdicts: list[RunVerdict] = field(default_factory=list[RunVerdict])


class Checker(Protocol):
    """A run's checker as the router sees it: it takes the lines of one run, all of one format."""

    def feed(self, event: Body, line: int) -> None:
        """Take the next line; raises MalformedError if it cannot come here."""
        ...

    def finish(self, *, cut_off: bool = False) -> RunVerdict:
        """Return the verdict; raises MalformedError if a run cannot end so."""
        ...


class Router:
    """Judges the runs of one file, which may be interleaved."""

    def __init__(
        self,
        source: str,
        parse: Callable[[bytes], Event | Rejection],
        open_run: Callable[[Header], Checker],
    ) -> None:
        """`parse` reads a line, `open_run` makes a run's checker and may raise MalformedError."""
        self.result = FileResult(source)
        self._parse = parse
        self._open_run = open_run
        self._running: dict[tuple[str, str], Checker] = {}
        self._ended: set[tuple[str, str]] = set()
        self._given_up: dict[tuple[str, str], int] = {}

    def judge(self, lines: Iterable[bytes | Rejection]) -> FileResult:
        """Judge all lines and return what became of them."""
        result = self.result
        for line in lines:
            result.lines += 1
            event = self._parse(line) if isinstance(line, bytes) else line
            if isinstance(event, Rejection):
                self._reject(event.problem)
                continue
            try:
                self._take(event)
                result.judged += 1
            except MalformedError as error:
                self._reject(str(error))
        self._finish()
        if not result.lines:
            self._note("is missing: the file is empty")
        return result

    def _take(self, event: Event) -> None:
        match event:
            case Vector():
                raise MalformedError("is a vector: run it with `wheelproof vectors`")
            case HistoryHeader() | TraceHeader():
                self._begin(event)
            case _:
                self._continue(event)

    def _begin(self, header: Header) -> None:
        key = _key(header)
        if key in self._running or key in self._ended or key in self._given_up:
            raise MalformedError(f"begins {key[0]} {key[1]!r} a second time")
        if len(self._running) >= MOST_OPEN_RUNS:
            raise MalformedError(f"begins a run while {MOST_OPEN_RUNS:,} are open")
        try:
            self._running[key] = self._open_run(header)
        except MalformedError:
            self._given_up[key] = self.result.lines
            raise

    def _continue(self, event: Body) -> None:
        key = _key(event)
        checker = self._running.get(key)
        if checker is None:
            raise MalformedError(self._why_not(key))
        try:
            checker.feed(event, self.result.lines)
            if isinstance(event, HistoryEnd | TraceEnd):
                self.result.verdicts.append(checker.finish(cut_off=False))
                del self._running[key]
                self._ended.add(key)
        except MalformedError:
            del self._running[key]
            self._given_up[key] = self.result.lines
            raise

    def _why_not(self, key: tuple[str, str]) -> str:
        what = f"{key[0]} {key[1]!r}"
        if key in self._given_up:
            return f"belongs to {what}, which was given up at line {self._given_up[key]}"
        if key in self._ended:
            return f"comes after the end of {what}"
        return f"belongs to {what}, which has no header before it"

    def _finish(self) -> None:
        for (kind, name), checker in self._running.items():
            try:
                self.result.verdicts.append(checker.finish(cut_off=True))
            except MalformedError as error:
                self._note(f"is the last one of {kind} {name!r}, which {error}")

    def _reject(self, problem: str) -> None:
        self.result.rejected += 1
        self._note(problem)

    def _note(self, problem: str) -> None:
        if len(self.result.rejections) < MOST_REJECTIONS:
            self.result.rejections.append(RejectedLine(line=self.result.lines, problem=problem))


def _key(event: Header | Body) -> tuple[str, str]:
    if isinstance(event, HistoryHeader | HistoryOp | HistoryEnd):
        return "history", event.history
    return "trace", event.trace
