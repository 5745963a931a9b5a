"""Runs that are whole within one split are judged where they are read; other lines are passed on.

A run is whole if its header comes first, then its lines by their numbers, then its end. If the same
file has more lines of that name, the run is not judged in place after all: its row has its lines,
and `lines_of_whole` extracts them.
"""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from typing import cast

import pyarrow as pa

from wheelproof_spark.check.judging.columns import identity, verdict_columns
from wheelproof_spark.check.judging.meter import RunMeter
from wheelproof_spark.check.judging.order import RunOrder
from wheelproof_spark.check.reading.parsing import (
    BODY,
    END,
    HEADER,
    NO_KEY,
    BronzeRow,
    Key,
    batches_of_rows,
    key_of,
    parsed,
    splits_of,
)
from wheelproof_spark.check.reading.splits import PlacedLine, Split, placed_lines
from wheelproof_spark.tables.rows import batches_of
from wheelproof_spark.tables.schemas import GOOD, GOOD_ARROW
from wheelproof_spec.app.recorded import open_run, parse_line
from wheelproof_spec.base.history.lines import HistoryHeader, TraceHeader, Vector
from wheelproof_spec.base.results.run_verdict import RunVerdict
from wheelproof_spec.history.checkers import CheckOptions
from wheelproof_spec.history.line_parser import Event, Rejection
from wheelproof_spec.history.routing import Checker, Header

_MOST_OPEN = 1_000
_MOST_BYTES = 16 << 20
"""The most bytes of open runs that are held; with more, all open runs are passed on."""
_ROWS = 4_096
_HEADERS = (HistoryHeader, TraceHeader)

WHOLE = ("file_id", "start", "raw", "numbers")
"""The columns of a whole run's row that give its lines."""

Stage = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]
"""The function of a task: batches of rows in, batches of rows out."""


def reader(options: CheckOptions) -> Stage:
    """Return the function of a task: splits in, rows of bronze out."""
    return lambda batches: batches_of_rows(
        row for split in splits_of(batches) for row in _rows(split, options)
    )


def content_digest(content: bytes) -> str:
    """Return the digest of a run: of its lines in order, each with its line end."""
    return hashlib.sha256(content).hexdigest()[:32]


def _rows(split: Split, options: CheckOptions) -> Iterator[BronzeRow]:
    """Yield the rows of a split; the last one has the number of its lines."""
    runs: dict[tuple[str, str], _OpenRun] = {}
    opener = open_run(options)
    place, number, held = (split.file_id, split.start), 0, 0
    for number, line in enumerate(placed_lines(split), start=1):
        found = parsed(line)
        if isinstance(found, str):
            row = ("quarantined", *place, number, line.offset, *NO_KEY, found, line.raw)
            yield (*row, None, None, None), len(line.raw)
            continue
        event, key = found
        name = key[:2]
        run = runs.get(name)
        if run is None:
            if key[2] != HEADER or len(runs) >= _MOST_OPEN:
                yield _good(split, number, line, key)
                continue
            run = runs[name] = _OpenRun(split, name, opener)
        held += len(line.raw)
        if not run.take(number, line, event, key) or key[2] == END:
            del runs[name]
            held -= run.size
            yield from run.rows()
        elif held > _MOST_BYTES:
            for unended in runs.values():
                yield from unended.passed_on()
            runs, held = {}, 0
    for unended in runs.values():
        yield from unended.passed_on()
    yield ("split", *place, number, split.end, *NO_KEY, None, None, None, None, None), 0


def _good(split: Split, number: int, line: PlacedLine, key: Key) -> BronzeRow:
    row = ("good", split.file_id, split.start, number, line.offset, *key, None, line.raw)
    return (*row, None, None, None), len(line.raw)


class _OpenRun:
    """A run whose lines come in order so far."""

    def __init__(
        self, split: Split, name: tuple[str, str], opener: Callable[[Header], Checker]
    ) -> None:
        self.size = 0
        self._split = split
        self._name = name
        self._opener = opener
        self._meter = RunMeter()
        self._header: Header | None = None
        self._checker: Checker | None = None
        self._lines: list[tuple[int, PlacedLine, Key]] = []
        self._next = 0
        self._verdict: RunVerdict | None = None

    def take(self, number: int, line: PlacedLine, event: Event, key: Key) -> bool:
        """Take a line; return whether it is the expected next line and has no problem.

        A problem is reported when the run is judged after the shuffle.
        """
        self._lines.append((number, line, key))
        self.size += len(line.raw)
        _, _, rank, seq, thread = key
        try:
            if isinstance(event, _HEADERS):
                return self._begins(event)
            if self._checker is None or thread or seq != self._next or isinstance(event, Vector):
                return False
            self._meter.take(event)
            self._checker.feed(event, number)
            if rank == END:
                self._verdict = self._checker.finish(cut_off=False)
        except Exception:
            return False
        self._next += rank == BODY
        return True

    def _begins(self, header: Header) -> bool:
        if self._header is not None:
            return False
        self._header = header
        self._meter.begin(header)
        self._checker = self._opener(header)
        return True

    def rows(self) -> Iterator[BronzeRow]:
        """Yield the row of a run that has ended, or its lines if it is not whole."""
        if self._verdict is None:
            yield from self.passed_on()
            return
        raw = b"\n".join([*(line.raw for _, line, _ in self._lines), b""])
        numbers = [number for number, _, _ in self._lines]
        first, line, key = self._lines[0]
        split = self._split
        result = {
            **identity((*self._name, split.file_id), self._header),
            **verdict_columns(self._verdict, lambda _: split.file_id),
            "digest": content_digest(raw),
            "cut_off": False,
            **RunOrder(lines=len(numbers), files={split.file_id}).columns(),
            **self._meter.columns(),
        }
        row = ("whole", split.file_id, split.start, first, line.offset, *key, None, raw)
        yield (*row, len(numbers), numbers, result), len(raw)

    def passed_on(self) -> Iterator[BronzeRow]:
        """Yield the lines, for the shuffle."""
        for number, line, key in self._lines:
            yield _good(self._split, number, line, key)


def lines_of_whole(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Return the lines of whole runs with the columns `GOOD`, as other lines have them."""
    rows = (
        cast("tuple[int, int, bytes, list[int]]", row)
        for batch in batches
        for row in zip(*(batch.column(name).to_pylist() for name in WHOLE), strict=True)
    )
    return batches_of((line for row in rows for line in _taken_out(*row)), GOOD_ARROW, _ROWS)


def _taken_out(
    file_id: int, start: int, raw: bytes, numbers: Sequence[int]
) -> Iterator[dict[str, object]]:
    for number, line in zip(numbers, raw.split(b"\n")[:-1], strict=True):
        event = parse_line(line)
        assert not isinstance(event, Rejection)
        key = key_of(event)
        assert key is not None
        row = (*key, file_id, start, number, line)
        yield dict(zip(GOOD, row, strict=True))
