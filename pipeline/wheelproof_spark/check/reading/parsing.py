"""The first stage: reads splits and parses each line by itself, strictly."""

from collections.abc import Callable, Iterator, Sequence
from typing import cast

import pyarrow as pa

from wheelproof_spark.check.reading.splits import PlacedLine, Split, placed_lines
from wheelproof_spark.tables.documents import record_of
from wheelproof_spark.tables.schemas import BRONZE_ARROW
from wheelproof_spec.app.recorded import parse_line
from wheelproof_spec.base.codec.vocabulary import Absent
from wheelproof_spec.base.history.lines import (
    HistoryEnd,
    HistoryHeader,
    HistoryOp,
    TraceEnd,
    TraceEvent,
    TraceHeader,
    Vector,
)
from wheelproof_spec.engines.history.line_parser import Event, Rejection

HEADER, BODY, END = range(3)
_ROWS = 4_096
_BYTES = 8 << 20

Key = tuple[str, str, int, int, str]
"""Format, run, rank, seq and thread: see the schema."""

_NO_KEY = (None,) * 5


def parser() -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Return what a task runs."""

    def parse(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        rows, size = list[tuple[object, ...]](), 0
        for split in _splits(batches):
            for row, length in _rows(split):
                rows.append(row)
                size += length
                if len(rows) >= _ROWS or size >= _BYTES:
                    yield _batch(rows)
                    rows, size = [], 0
        if rows:
            yield _batch(rows)

    return parse


def key_of(event: Event) -> Key | None:
    """Return where a line belongs; None for a vector, which belongs to no run."""
    match event:
        case HistoryOp():
            return "history", event.history, BODY, event.index, ""
        case TraceEvent():
            if isinstance(event.seq, Absent):
                return "trace", event.trace, BODY, event.tseq, event.thread
            return "trace", event.trace, BODY, event.seq, ""
        case HistoryHeader():
            return "history", event.history, HEADER, 0, ""
        case TraceHeader():
            return "trace", event.trace, HEADER, 0, ""
        case HistoryEnd():
            return "history", event.history, END, event.ops, ""
        case TraceEnd():
            return "trace", event.trace, END, event.events, ""
        case Vector():
            return None


def _splits(batches: Iterator[pa.RecordBatch]) -> Iterator[Split]:
    for batch in batches:
        for group in cast("list[list[object]]", batch.column(0).to_pylist()):
            yield from (record_of(Split, split) for split in group)


def _rows(split: Split) -> Iterator[tuple[tuple[object, ...], int]]:
    """Yield the rows of bronze, each with the bytes of its line: good or quarantined ones.

    The last row says how many lines the split had.
    """
    place, lines = (split.file_id, split.start), 0
    for lines, line in enumerate(placed_lines(split), start=1):
        key, reason = _parsed(line)
        kind = "good" if reason is None else "quarantined"
        yield (kind, *place, lines, line.offset, *key, reason, line.raw), len(line.raw)
    yield ("split", *place, lines, split.end, *_NO_KEY, None, None), 0


def _parsed(line: PlacedLine) -> tuple[tuple[object, ...], str | None]:
    """Return the key of a line, or no key and why it is not judged."""
    if line.problem is not None:
        return _NO_KEY, line.problem
    event = parse_line(line.raw)
    if isinstance(event, Rejection):
        return _NO_KEY, event.problem
    key = key_of(event)
    if key is None:
        return _NO_KEY, "is a vector: run it with `wheelproof vectors`"
    return key, None


def _batch(rows: Sequence[tuple[object, ...]]) -> pa.RecordBatch:
    arrays = [
        pa.array(column, field.type)
        for column, field in zip(zip(*rows, strict=True), BRONZE_ARROW, strict=True)
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=BRONZE_ARROW)
