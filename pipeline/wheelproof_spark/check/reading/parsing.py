"""The first stage: reads splits and parses each line by itself, strictly."""

from collections.abc import Callable, Iterator
from typing import cast

import pyarrow as pa

from wheelproof_spark.check.reading.splits import PlacedLine, Split, placed_lines
from wheelproof_spark.tables.schemas import BRONZE_ARROW
from wheelproof_spec.traces.line_parser import Event, Rejection, parse_line
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

HEADER, BODY, END = range(3)
_ROWS = 4_096
_BYTES = 8 << 20

Key = tuple[str, str, int, int, str]
"""Format, run, rank, seq and thread: see the schema."""


def parser() -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Return what a task runs."""

    def parse(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        table = _Table()
        for split in _splits(batches):
            lines = 0
            for placed in placed_lines(split):
                lines += 1
                table.add(split, lines, placed)
                if table.full():
                    yield table.take()
            table.account(split, lines)
        yield table.take()

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
        for group in cast("list[list[dict[str, object]]]", batch.column(0).to_pylist()):
            for one in group:
                yield Split(
                    file_id=cast(int, one["file_id"]),
                    path=cast(str, one["path"]),
                    start=cast(int, one["start"]),
                    end=cast(int, one["end"]),
                )


class _Table:
    """Rows of bronze on their way out."""

    def __init__(self) -> None:
        self._rows: list[tuple[object, ...]] = []
        self._bytes = 0

    def add(self, split: Split, line: int, placed: PlacedLine) -> None:
        """Add a line: good or quarantined."""
        raw, problem = placed.raw, placed.problem
        if problem is None:
            event = parse_line(raw)
            if isinstance(event, Rejection):
                problem = event.problem
            else:
                key = key_of(event)
                if key is not None:
                    self._append("good", split, line, placed.offset, key, None, raw)
                    return
                problem = "is a vector: run it with `wheelproof vectors`"
        self._append("quarantined", split, line, placed.offset, _NO_KEY, problem, raw)

    def account(self, split: Split, lines: int) -> None:
        """Add how many lines the split had."""
        self._append("split", split, lines, split.end, _NO_KEY, None, None)

    def full(self) -> bool:
        """Tell whether it is time to hand them on."""
        return len(self._rows) >= _ROWS or self._bytes >= _BYTES

    def take(self) -> pa.RecordBatch:
        """Return the rows, and begin anew."""
        columns = list(zip(*self._rows, strict=True)) if self._rows else [()] * len(BRONZE_ARROW)
        self._rows, self._bytes = [], 0
        arrays = [
            pa.array(column, one.type) for column, one in zip(columns, BRONZE_ARROW, strict=True)
        ]
        return pa.RecordBatch.from_arrays(arrays, schema=BRONZE_ARROW)

    def _append(
        self,
        kind: str,
        split: Split,
        line: int,
        offset: int,
        key: tuple[object, ...],
        reason: str | None,
        raw: bytes | None,
    ) -> None:
        self._rows.append((kind, split.file_id, split.start, line, offset, *key, reason, raw))
        self._bytes += len(raw) if raw else 0


_NO_KEY = (None,) * 5
