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
from wheelproof_spec.base.results.verdicts import Verdict
from wheelproof_spec.base.strict_json import MalformedError
from wheelproof_spec.history.line_parser import Event, Rejection, RunKey

MOST_OPEN_RUNS = 10_000
MOST_REJECTIONS = 20
"""How many rejected lines are named; the others are only counted."""

Header = HistoryHeader[object] | TraceHeader[object]
Body = HistoryOp[object] | HistoryEnd | TraceEvent[object, object] | TraceEnd


@dataclass(slots=True, kw_only=True)
class RejectedLine:
    """A line that is not judged: the problem completes the sentence "the line ...".

    `followed` is how many other lines were rejected only because of this one.
    """

    line: int
    problem: str
    followed: int = 0


@dataclass(slots=True)
class FileResult:
    """The result of one file; `lines` is the sum of `judged` and `rejected`.

    `interrupted` says that the other lines of the file were not read.
    """

    source: str
    lines: int = 0
    judged: int = 0
    rejected: int = 0
    rejections: list[RejectedLine] = field(default_factory=list[RejectedLine])
    verdicts: list[RunVerdict] = field(default_factory=list[RunVerdict])
    interrupted: bool = False


class Checker(Protocol):
    """A run's checker as the router sees it: it takes the lines of one run, all of one format."""

    def feed(self, event: Body, line: int) -> None:
        """Take the next line; raises MalformedError if it cannot come here."""
        ...

    def finish(self, *, cut_off: bool = False) -> RunVerdict:
        """Return the verdict; raises MalformedError if a run cannot end here."""
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
        self._running: dict[RunKey, Checker] = {}
        self._ended: set[RunKey] = set()
        self._given_up: set[RunKey] = set()
        self._roots: dict[RunKey, RejectedLine] = {}
        """The first rejected line of each run: it is the reason for later rejections."""
        self._nameless: RejectedLine | None = None
        """The previous line, if it was rejected and its run is not known."""

    def judge(self, lines: Iterable[bytes | Rejection]) -> FileResult:
        """Judge all lines and return the result; after Ctrl-C, that of the lines before it."""
        result = self.result
        try:
            for line in lines:
                self._judge_line(line)
        except KeyboardInterrupt:
            result.interrupted = True
            result.lines = result.judged + result.rejected
        self._finish()
        if not result.lines:
            self._note("is missing: the file is empty")
        return result

    def _judge_line(self, line: bytes | Rejection) -> None:
        self.result.lines += 1
        event = self._parse(line) if isinstance(line, bytes) else line
        nameless, self._nameless = self._nameless, None
        if isinstance(event, Rejection):
            rejected = self._reject(event.problem)
            if event.run is None:
                self._nameless = rejected
            else:
                self._roots.setdefault(event.run, rejected)
            return
        try:
            self._take(event)
            self.result.judged += 1
        except MalformedError as error:
            self._follow(event, nameless, str(error))

    def _follow(self, event: Event, nameless: RejectedLine | None, problem: str) -> None:
        """Reject a line for its own problem, or because of an earlier rejected line."""
        if isinstance(event, Vector):
            self._reject(problem)
            return
        key = _key(event)
        root = self._roots.get(key)
        goes_on = key in self._running or key in self._ended
        if root is None and not goes_on and key not in self._given_up:
            root = nameless
        if root is not None:
            self.result.rejected += 1
            root.followed += 1
        else:
            root = self._reject(problem)
        if not goes_on or not isinstance(event, HistoryHeader | TraceHeader):
            self._roots[key] = root

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
            self._roots.pop(key, None)
        except MalformedError:
            self._given_up.add(key)
            raise

    def _continue(self, event: Body) -> None:
        key = _key(event)
        checker = self._running.get(key)
        if checker is None:
            why = (
                "comes after the end of {}"
                if key in self._ended
                else "belongs to {}, which has no header before it"
            )
            raise MalformedError(why.format(f"{key[0]} {key[1]!r}"))
        try:
            checker.feed(event, self.result.lines)
            if isinstance(event, HistoryEnd | TraceEnd):
                self.result.verdicts.append(checker.finish(cut_off=False))
                del self._running[key]
                self._ended.add(key)
        except MalformedError:
            del self._running[key]
            self._given_up.add(key)
            self._keep_failure(checker)
            raise

    def _keep_failure(self, checker: Checker) -> None:
        """Keep the verdict of a run that had failed before it was given up."""
        try:
            verdict = checker.finish(cut_off=True)
        except MalformedError:
            return
        if verdict.verdict is Verdict.FAIL:
            self.result.verdicts.append(verdict)

    def _finish(self) -> None:
        for (kind, name), checker in self._running.items():
            try:
                self.result.verdicts.append(checker.finish(cut_off=True))
            except MalformedError as error:
                self._note(f"is the last one of {kind} {name!r}, which {error}")

    def _reject(self, problem: str) -> RejectedLine:
        self.result.rejected += 1
        return self._note(problem)

    def _note(self, problem: str) -> RejectedLine:
        rejected = RejectedLine(line=self.result.lines, problem=problem)
        if len(self.result.rejections) < MOST_REJECTIONS:
            self.result.rejections.append(rejected)
        return rejected


def _key(event: Header | Body) -> RunKey:
    if isinstance(event, HistoryHeader | HistoryOp | HistoryEnd):
        return "history", event.history
    return "trace", event.trace
