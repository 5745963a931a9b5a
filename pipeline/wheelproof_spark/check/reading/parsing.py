"""The first stage: each line is parsed by itself, strictly; rows of bronze are made of them."""

from collections.abc import Iterable, Iterator, Sequence
from typing import cast

import pyarrow as pa

from wheelproof_spark.check.reading.splits import PlacedLine, Split
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
from wheelproof_spec.history.line_parser import Event, Rejection

HEADER, BODY, END = range(3)
_ROWS = 4_096
_BYTES = 2 << 20
"""The bytes that a worker sends at once: four times as many take 36 MiB more, and are no faster."""

Key = tuple[str, str, int, int, str]
"""Format, run, rank, seq and thread: see the schema."""

BronzeRow = tuple[tuple[object, ...], int]
"""The values of a row of bronze, and how many bytes its lines have."""

NO_KEY = (None,) * 5


def key_of(event: Event) -> Key | None:
    """Return the key of a line; None for a vector, which belongs to no run."""
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


def splits_of(batches: Iterator[pa.RecordBatch]) -> Iterator[Split]:
    """Yield the splits that a task reads."""
    for batch in batches:
        for group in cast("list[list[object]]", batch.column(0).to_pylist()):
            yield from (record_of(Split, split) for split in group)


def parsed(line: PlacedLine) -> tuple[Event, Key] | str:
    """Return the event of a line and its key, or why the line is not judged."""
    if line.problem is not None:
        return line.problem
    event = parse_line(line.raw)
    if isinstance(event, Rejection):
        return event.problem
    key = key_of(event)
    return "is a vector: run it with `wheelproof vectors`" if key is None else (event, key)


def batches_of_rows(rows: Iterable[BronzeRow]) -> Iterator[pa.RecordBatch]:
    """Yield rows of bronze, as many at once as a task may hold."""
    held, size = list[tuple[object, ...]](), 0
    for row, length in rows:
        held.append(row)
        size += length
        if len(held) >= _ROWS or size >= _BYTES:
            yield _batch(held)
            held, size = [], 0
    if held:
        yield _batch(held)


def _batch(rows: Sequence[tuple[object, ...]]) -> pa.RecordBatch:
    arrays = [
        pa.array(column, field.type)
        for column, field in zip(zip(*rows, strict=True), BRONZE_ARROW, strict=True)
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=BRONZE_ARROW)
