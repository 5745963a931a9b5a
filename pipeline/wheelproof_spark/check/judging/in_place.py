"""Runs that are whole within one split are judged where they are read; other lines are passed on.

A run is whole if its header comes first, then its lines by their numbers, then its end. Whatever
else there is of that name in the same file makes it one of the others after all: its row has its
lines, and `lines_of_whole` takes them out again.
"""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from typing import cast

import pyarrow as pa

from wheelproof_spark.check.judging.order import Row
from wheelproof_spark.check.judging.run import RunJudge
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
from wheelproof_spec.app.recorded import parse_line
from wheelproof_spec.engines.history.checkers import CheckOptions
from wheelproof_spec.engines.history.line_parser import Event, Rejection

_MOST_OPEN = 1_000
_MOST_BYTES = 16 << 20
"""How much of a split is held: what is open then is passed on."""
_ROWS = 4_096

WHOLE = ("file_id", "start", "raw", "numbers")
"""What is needed of the row of a whole run to have its lines."""

Stage = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]
"""What a task does, from batches of rows to batches of rows."""


def reader(options: CheckOptions) -> Stage:
    """Return what a task runs: splits in, rows of bronze out."""
    return lambda batches: batches_of_rows(
        row for split in splits_of(batches) for row in _rows(split, options)
    )


def content_digest(content: bytes) -> str:
    """Return the digest of a run: of its lines in order, each with its end."""
    return hashlib.sha256(content).hexdigest()[:32]


def _rows(split: Split, options: CheckOptions) -> Iterator[BronzeRow]:
    """Yield the rows of a split; the last one says how many lines it had."""
    runs: dict[tuple[str, str], _OpenRun] = {}
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
            run = runs[name] = _OpenRun(split, name, options)
        held += len(line.raw)
        if not run.take(number, line, event, key) or key[2] == END:
            del runs[name]
            held -= run.size
            yield from run.rows()
        elif held > _MOST_BYTES:
            for open_run in runs.values():
                yield from open_run.passed_on()
            runs, held = {}, 0
    for open_run in runs.values():
        yield from open_run.passed_on()
    yield ("split", *place, number, split.end, *NO_KEY, None, None, None, None, None), 0


def _good(split: Split, number: int, line: PlacedLine, key: Key) -> BronzeRow:
    row = ("good", split.file_id, split.start, number, line.offset, *key, None, line.raw)
    return (*row, None, None, None), len(line.raw)


class _OpenRun:
    """A run whose lines come in order so far."""

    def __init__(self, split: Split, name: tuple[str, str], options: CheckOptions) -> None:
        self.size = 0
        self._split = split
        self._lines: list[tuple[int, PlacedLine, Key]] = []
        self._next = 0
        self._whole = False
        self._judge = RunJudge((*name, split.file_id), options, {})

    def take(self, number: int, line: PlacedLine, event: Event, key: Key) -> bool:
        """Take a line; tell whether it is the one that comes next."""
        self._lines.append((number, line, key))
        self.size += len(line.raw)
        _, _, rank, seq, thread = key
        if thread or (rank == HEADER and len(self._lines) > 1) or (rank and seq != self._next):
            return False
        self._next += rank == BODY
        self._whole = rank == END
        split = self._split
        self._judge.take(
            event, Row(rank, seq, thread, split.file_id, split.start, number, line.raw)
        )
        return True

    def rows(self) -> Iterator[BronzeRow]:
        """Yield the row of a run that has ended, or its lines if it is not whole."""
        result = self._judge.finish() if self._whole else None
        if result is None or result["problem"] is not None:
            yield from self.passed_on()
            return
        raw = b"\n".join([*(line.raw for _, line, _ in self._lines), b""])
        numbers = [number for number, _, _ in self._lines]
        first, line, key = self._lines[0]
        split, result["digest"] = self._split, content_digest(raw)
        row = ("whole", split.file_id, split.start, first, line.offset, *key, None, raw)
        yield (*row, len(numbers), numbers, result), len(raw)

    def passed_on(self) -> Iterator[BronzeRow]:
        """Yield the lines, for the shuffle."""
        for number, line, key in self._lines:
            yield _good(self._split, number, line, key)


def lines_of_whole(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Return the lines of rows of whole runs, as those of the others are: see `GOOD`."""
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
