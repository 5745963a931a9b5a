"""The judge of one run with ordered lines: removes duplicates, names gaps, feeds the checker."""

import hashlib
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping
from itertools import groupby
from operator import itemgetter
from typing import cast

import pyarrow as pa

from wheelproof_spark.check.judging.columns import Key, identity, verdict_columns
from wheelproof_spark.check.judging.meter import RunMeter
from wheelproof_spark.check.judging.order import Row, RunOrder, Unnumbered, in_order
from wheelproof_spark.check.reading.parsing import BODY, HEADER
from wheelproof_spark.tables.rows import batches_of
from wheelproof_spark.tables.schemas import GOOD, RESULTS_ARROW
from wheelproof_spec.app.recorded import open_run, parse_line
from wheelproof_spec.base.codec.vocabulary import Absent
from wheelproof_spec.base.history.judging import MOST_KEPT
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
from wheelproof_spec.history.checkers import CheckOptions
from wheelproof_spec.history.line_parser import Event, Rejection
from wheelproof_spec.history.routing import Body, Checker, Header

_ROWS = 512

FirstLines = Mapping[tuple[int, int], int]
"""The number of lines of a file before a split, by file and start of the split."""


class RunJudge:
    """A judge that takes one run's rows by rank, seq and thread, and returns its result row."""

    def __init__(self, key: Key, options: CheckOptions, first_lines: FirstLines) -> None:
        self._key = key
        self._open = open_run(options)
        self._first_lines = first_lines
        self._order = RunOrder()
        self._digest = hashlib.sha256()
        self._meter = RunMeter()
        self._header: Header | None = None
        self._checker: Checker | None = None
        self._problem: str | None = None
        self._ended = self._has_end = False
        self._fed = 0
        # Pairs of an event's number and the file that the lines come from, beginning with it.
        self._files: list[tuple[int, int]] = []
        self._kept: list[Unnumbered] = []

    def feed(self, row: Row) -> None:
        """Take the next line, which may be a repeat."""
        before = self._order.repeated(row)
        if before is None:
            self._digest.update(row.raw + b"\n")
            self.take(parse_line(row.raw), row)
        elif row.raw != before.raw:
            self._fail(self._two(before, row))

    def take(self, event: Event | Rejection, row: Row) -> None:
        """Take the next line, which is parsed and not a repeat."""
        self._order.take(row)
        match event:
            case HistoryOp() | TraceEvent() | HistoryEnd() | TraceEnd():
                if self._header is None:
                    self._fail("has no header")
                self._continue(event, row)
            case HistoryHeader() | TraceHeader() as header:
                self._begin(header)
            case Vector():
                raise AssertionError("a vector belongs to no run")
            case Rejection(problem):
                raise AssertionError(f"a good line was rejected later: {problem}")

    def finish(self) -> dict[str, object]:
        """Return the row of the result."""
        verdict: RunVerdict | None = None
        self._hand_over()
        checker = self._checker
        if checker is not None:
            try:
                verdict = checker.finish(cut_off=not self._ended)
            except MalformedError as error:
                self._fail(str(error))
            except Exception as error:
                self._break_down(error)
        # A rule that the run broke before it was given up stays broken.
        if verdict is None or (self._problem and verdict.verdict is not Verdict.FAIL):
            judged = self._error()
        else:
            judged = {**verdict_columns(verdict, self._file_of), "problem": self._problem}
        known = {"digest": self._digest.hexdigest()[:32], "cut_off": not self._has_end}
        counted = {**self._order.columns(), **self._meter.columns()}
        return {**identity(self._key, self._header), **judged, **known, **counted}

    def _begin(self, header: Header) -> None:
        self._header = header
        self._meter.begin(header)
        try:
            self._checker = self._open(header)
        except MalformedError as error:
            self._fail(str(error))
        except Exception as error:
            self._break_down(error)

    def _continue(self, event: Body, row: Row) -> None:
        self._meter.take(event)
        match event:
            case HistoryOp():
                self._reach(event.index)
            case TraceEvent():
                if isinstance(event.seq, Absent):
                    self._keep(row, event)
                    return
                self._reach(event.seq)
            case HistoryEnd():
                self._has_end = True
                self._reach(event.ops)
            case TraceEnd():
                self._has_end = True
                self._hand_over()
                if row.thread == "" and self._order.expected:
                    self._reach(event.events)
        self._give(event, row)

    def _reach(self, number: int) -> None:
        lack = self._order.reach(number)
        if lack is not None:
            self._fail(lack)

    def _keep(self, row: Row, event: TraceEvent[object, object]) -> None:
        """Keep an event without seq; if there are too many, all stay in the order of arrival."""
        if self._fed and not self._kept:
            self._give(event, row)
            return
        self._kept.append((row, event))
        if len(self._kept) > MOST_KEPT:
            self._hand_over()

    def _hand_over(self) -> None:
        kept, self._kept = self._kept, []
        for row, event in in_order(kept):
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
            self._fail(f"{error} ({self._place(row)})")
        except Exception as error:
            self._break_down(error, f" at {self._place(row)}")

    def _line(self, row: Row) -> int:
        return self._first_lines.get((row.file_id, row.start), 0) + row.line

    def _place(self, row: Row) -> str:
        return f"line {self._line(row):,} of file {row.file_id}"

    def _fail(self, problem: str) -> None:
        """Give up the run; the first problem is the one that is reported."""
        if self._problem is None:
            self._problem = problem

    def _break_down(self, error: Exception, where: str = "") -> None:
        """Record that the checker itself failed: that is an error of this run only."""
        self._checker = None
        reason = f"{type(error).__name__}: {error}".splitlines()[0]
        self._problem = f"made its checker break down{where}, a defect of the checker ({reason})"

    def _two(self, first: Row, second: Row) -> str:
        what = "headers" if first.rank == HEADER else "ends"
        if first.rank == BODY:
            what = f"lines with the number {first.seq}"
        return f"has two different {what}: {self._place(first)} and {self._place(second)}"

    def _error(self) -> dict[str, object]:
        return {
            "profile": "",
            "verdict": Verdict.ERROR.value,
            "events": self._fed,
            "problem": self._problem,
        }

    def _file_of(self, index: int) -> int | None:
        at = bisect_right(self._files, (index, 1 << 62)) - 1
        return self._files[at][1] if at >= 0 else None


def judge_groups(
    options: CheckOptions, first_lines: FirstLines
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Return the function of a task: ordered rows in, a row for each run out.

    A change of key ends a run.
    """

    def results(batches: Iterator[pa.RecordBatch]) -> Iterator[dict[str, object]]:
        for key, rows in groupby(_rows(batches), key=itemgetter(0)):
            run = RunJudge(key, options, first_lines)
            for _, row in rows:
                run.feed(row)
            yield run.finish()

    return lambda batches: batches_of(results(batches), RESULTS_ARROW, _ROWS)


def _rows(batches: Iterator[pa.RecordBatch]) -> Iterator[tuple[Key, Row]]:
    for batch in batches:
        columns = [batch.column(at).to_pylist() for at in range(len(GOOD) + 1)]
        keys = zip(*columns[:3], strict=True)
        rows = map(cast("Callable[..., Row]", Row), *columns[3:])
        yield from zip(cast("Iterator[Key]", keys), rows, strict=True)
