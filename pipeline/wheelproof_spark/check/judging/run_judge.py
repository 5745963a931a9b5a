"""Judges one run, whose lines come in order: removes duplicates, names gaps, feeds the checker."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from wheelproof_spark.check.judging.meter import HistoryMeter
from wheelproof_spark.check.reading.parsing import BODY, HEADER
from wheelproof_spec.check.checkers import CheckOptions, open_run
from wheelproof_spec.check.routing import Body, Checker, Header
from wheelproof_spec.conformance.run_verdict import RunVerdict
from wheelproof_spec.conformance.strict_json import MalformedError
from wheelproof_spec.conformance.trace_run import MOST_KEPT
from wheelproof_spec.traces.line_parser import Rejection, parse_line
from wheelproof_spec.traces.lines import (
    HistoryEnd,
    HistoryHeader,
    HistoryOp,
    TraceEnd,
    TraceEvent,
    TraceHeader,
    Vector,
)
from wheelproof_spec.traces.vocabulary import Absent
from wheelproof_spec.verdicts import Verdict

MOST_GAPS = 20
"""How many gaps of a run are named; their sizes are summed."""

FirstLines = Mapping[tuple[int, int], int]
"""How many lines of a file are before a split, by file and by where the split begins."""


class Row(NamedTuple):
    """A good line on its way to the checker.

    A named tuple is made in a third of the time of a frozen dataclass, and there is one a line.
    """

    rank: int
    seq: int
    thread: str
    file_id: int
    start: int
    line: int
    raw: bytes

    def same_place(self, other: "Row") -> bool:
        """Tell whether both claim the same place in the run."""
        if self.rank != other.rank:
            return False
        return self.rank != BODY or (self.seq, self.thread) == (other.seq, other.thread)


@dataclass(slots=True)
class _Order:
    """What is known of the lines of a run, whatever its checker says."""

    lines: int = 0
    duplicates: int = 0
    missing: int = 0
    expected: int = 0
    gaps: list[dict[str, int]] = field(default_factory=list[dict[str, int]])
    files: set[int] = field(default_factory=set[int])

    def lacks(self, first: int, last: int) -> None:
        """Note a gap, both ends included."""
        self.missing += last - first + 1
        if len(self.gaps) < MOST_GAPS:
            self.gaps.append({"first": first, "last": last})


class RunJudge:
    """Takes the rows of one run, ordered by rank, seq and thread; gives the row of its result."""

    def __init__(
        self, key: tuple[str, str, int], options: CheckOptions, first_lines: FirstLines
    ) -> None:
        self._key = key
        self._open = open_run(options)
        self._first_lines = first_lines
        self._order = _Order()
        self._last: Row | None = None
        self._header: Header | None = None
        self._checker: Checker | None = None
        self._meter: HistoryMeter | None = None
        self._problem: str | None = None
        self._ended = False
        self._fed = 0
        self._files: list[tuple[int, int]] = []
        self._kept: list[tuple[Row, TraceEvent[object, object]]] | None = None
        self._actions: Counter[str] = Counter()
        self._steps: Counter[str] = Counter()
        self._at: dict[str, str] = {}

    def feed(self, row: Row) -> None:
        """Take the next line."""
        order = self._order
        order.lines += 1
        last = self._last
        if last is None or row.file_id != last.file_id:
            order.files.add(row.file_id)
        if last is not None and row.same_place(last):
            if row.raw == last.raw:
                order.duplicates += 1
            else:
                self._fail(self._two(row, last))
            return
        self._last = row
        match parse_line(row.raw):
            case HistoryOp() | TraceEvent() | HistoryEnd() | TraceEnd() as event:
                if self._header is None:
                    self._fail("has no header")
                self._continue(event, row)
            case HistoryHeader() | TraceHeader() as header:
                self._begin(header, row)
            case Vector():
                raise AssertionError("a vector belongs to no run")
            case Rejection(problem):
                raise AssertionError(f"a good line was rejected later: {problem}")

    def finish(self) -> dict[str, object]:
        """Return the row of the result."""
        verdict: RunVerdict | None = None
        self._hand_over()
        checker = self._checker
        if self._problem is None and checker is not None:
            try:
                verdict = checker.finish(cut_off=not self._ended)
            except MalformedError as error:
                self._fail(str(error))
        return {**self._identity(verdict), **self._judged(verdict), **self._counted()}

    def _begin(self, header: Header, row: Row) -> None:
        self._header = header
        if isinstance(header, HistoryHeader):
            self._meter = HistoryMeter(header)
        try:
            self._checker = self._open(header, self._line(row))
        except MalformedError as error:
            self._fail(str(error))

    def _continue(self, event: Body, row: Row) -> None:
        match event:
            case HistoryOp():
                self._in_sequence(event.index)
                if event.type == "invoke":
                    self._actions[event.f] += 1
                if self._meter is not None:
                    self._meter.take(event)
            case TraceEvent():
                self._step(event)
                if isinstance(event.seq, Absent):
                    self._keep(row, event)
                    return
                self._in_sequence(event.seq)
            case HistoryEnd():
                self._in_sequence(event.ops)
            case TraceEnd():
                self._hand_over()
                if row.thread == "" and self._order.expected:
                    self._in_sequence(event.events)
        self._give(event, row)

    def _step(self, event: TraceEvent[object, object]) -> None:
        self._actions[event.action] += 1
        before = self._at.get(event.thread, "")
        self._steps[f"{before}>{event.action}"] += 1
        self._at[event.thread] = event.action

    def _in_sequence(self, number: int) -> None:
        order = self._order
        if number > order.expected:
            order.lacks(order.expected, number - 1)
            self._fail(f"lacks {_range(order.expected, number - 1)}")
        order.expected = max(order.expected, number + 1)

    def _keep(self, row: Row, event: TraceEvent[object, object]) -> None:
        """Without seq, the order of the lines is that in which `check` sees them."""
        if self._kept is None and self._fed:
            self._give(event, row)
            return
        if self._kept is None:
            self._kept = []
        self._kept.append((row, event))
        if len(self._kept) > MOST_KEPT:
            self._hand_over()

    def _hand_over(self) -> None:
        kept, self._kept = self._kept, None
        if kept is None:
            return
        by_place = sorted(kept, key=lambda one: (one[0].file_id, one[0].start, one[0].line))
        chosen = by_place if _threads_in_order(by_place) else kept
        for row, event in chosen:
            self._give(event, row)

    def _give(self, event: Body, row: Row) -> None:
        checker = self._checker
        if self._problem is not None or checker is None:
            return
        if not self._files or self._files[-1][1] != row.file_id:
            self._files.append((self._fed, row.file_id))
        try:
            checker.feed(event, self._line(row))
            match event:
                case HistoryOp() | TraceEvent():
                    self._fed += 1
                case HistoryEnd() | TraceEnd():
                    self._ended = True
        except MalformedError as error:
            self._fail(f"{error} (line {self._line(row):,} of file {row.file_id})")

    def _line(self, row: Row) -> int:
        return self._first_lines.get((row.file_id, row.start), 0) + row.line

    def _fail(self, problem: str) -> None:
        if self._problem is None:
            self._problem = problem

    def _two(self, row: Row, last: Row) -> str:
        what = "headers" if row.rank == HEADER else "ends"
        if row.rank == BODY:
            what = f"lines with the number {row.seq}"
        places = " and ".join(
            f"line {self._line(one):,} of file {one.file_id}" for one in (last, row)
        )
        return f"has two different {what}: {places}"

    def _identity(self, verdict: RunVerdict | None) -> dict[str, object]:
        header, (form, run, scope) = self._header, self._key
        return {
            "format": form,
            "run": run,
            "scope": scope,
            "component": "" if header is None else header.component,
            "implementation": "" if header is None else header.impl.name,
            "version": "" if header is None else header.impl.version,
            "profile": "" if verdict is None else verdict.profile,
        }

    def _judged(self, verdict: RunVerdict | None) -> dict[str, object]:
        if verdict is None:
            verdict_name = Verdict.ERROR.value
            return {"verdict": verdict_name, "events": self._fed, "problem": self._problem}
        found: dict[str, object] = {
            "verdict": verdict.verdict.value,
            "events": verdict.events,
            "good_prefix": verdict.good_prefix,
            "notes": list(verdict.notes),
        }
        violation, place = verdict.violation, verdict.place
        if violation is not None:
            found |= {
                "rule": violation.rule,
                "expected": violation.expected,
                "observed": violation.observed,
                "reason": violation.reason,
            }
        if place is not None:
            found |= {
                "place_index": place.index,
                "place_line": place.line,
                "place_file": self._file_of(place.index),
            }
        return found

    def _file_of(self, index: int) -> int | None:
        at = bisect_right(self._files, (index, 1 << 62)) - 1
        return self._files[at][1] if at >= 0 else None

    def _counted(self) -> dict[str, object]:
        order, meter = self._order, self._meter
        return {
            "lines": order.lines,
            "duplicates": order.duplicates,
            "missing": order.missing,
            "gaps": order.gaps,
            "files": len(order.files),
            "actions": list(self._actions.items()),
            "steps": list(self._steps.items()),
            "lateness": [] if meter is None else list(meter.lateness.items()),
            "waits": [] if meter is None else list(meter.waits.items()),
        }


def _threads_in_order(kept: list[tuple[Row, TraceEvent[object, object]]]) -> bool:
    following: dict[str, int] = {}
    for _, event in kept:
        if event.tseq < following.get(event.thread, 0):
            return False
        following[event.thread] = event.tseq + 1
    return True


def _range(first: int, last: int) -> str:
    return f"the number {first:,}" if first == last else f"the numbers {first:,} to {last:,}"
