"""The input of one task: a piece of a plain file, or a packed file as a whole."""

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, NamedTuple
from urllib.parse import unquote_to_bytes

from zstandard import ZstdDecompressor, ZstdError

from wheelproof_spark.check.reading.parquet_lines import MAGIC as PARQUET
from wheelproof_spark.check.reading.parquet_lines import parquet_lines
from wheelproof_spec.history.line_parser import LINE_LIMIT, Rejection
from wheelproof_spec.history.reader import FREE_BYTES, MOST_UNPACKED, lines_of
from wheelproof_spec.history.unpacking import GZIP, Unpacked, buffered, gunzipped

ZSTD = b"\x28\xb5\x2f\xfd"
ZIP = b"PK\x03\x04"
MOST_KEPT = 4_096
"""The number of bytes that are kept of a line that is too long."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Split:
    """The lines of a file that begin at `start` bytes or later, and before `end`.

    `path` is quoted as in an address, since a file name may not be text.
    """

    file_id: int
    path: str
    start: int
    end: int


class PlacedLine(NamedTuple):
    """A line without its end, its offset, and the reason if it is not judged.

    A named tuple is made in a third of the time of a frozen dataclass, and each line makes one.
    """

    offset: int
    raw: bytes
    problem: str | None


def is_packed(path: Path) -> bool:
    """Tell whether a file can only be read from its beginning; raises OSError."""
    _require_file(path)
    with path.open("rb") as stream:
        return stream.read(4).startswith((GZIP, ZSTD, ZIP, PARQUET))


def placed_lines(split: Split) -> Iterator[PlacedLine]:
    """Yield every line of the split; a file that cannot be read is one line with that problem."""
    position = split.start
    try:
        for line in _lines_of(Path(os.fsdecode(unquote_to_bytes(split.path))), split):
            yield line
            position = line.offset
    except OSError as error:
        yield PlacedLine(position, b"", f"cannot be read ({error.strerror or error})")


def _lines_of(path: Path, split: Split) -> Iterator[PlacedLine]:
    _require_file(path)
    with path.open("rb") as raw:
        yield from lines_in(raw, split)


def lines_in(raw: BinaryIO, split: Split) -> Iterator[PlacedLine]:
    """Yield the lines of a split of an open file; raises OSError if it cannot be read."""
    head = raw.read(4)
    size = raw.seek(0, os.SEEK_END)
    raw.seek(0)
    if head.startswith(ZIP):
        raise OSError("it is a zip archive")
    if head.startswith(PARQUET):
        yield from _rows(raw)
    elif head.startswith(GZIP):
        yield from _lines(_Placed(gunzipped(raw), split, size))
    elif head.startswith(ZSTD):
        unpacked = Unpacked(raw, "zstd", lambda: ZstdDecompressor().decompressobj(), ZstdError)
        yield from _lines(_Placed(buffered(unpacked), split, size))
    else:
        yield from _lines(_Placed(raw, split, None))


def _require_file(path: Path) -> None:
    """Raise OSError if it is not a file: reading a pipe would block without end."""
    mode = path.stat().st_mode
    if stat.S_ISDIR(mode):
        # A folder that cannot be listed raises OSError with the reason.
        next(path.iterdir(), None)
    if not stat.S_ISREG(mode):
        raise OSError("it is no regular file")


def _rows(raw: BinaryIO) -> Iterator[PlacedLine]:
    """Yield the rows of a Parquet file: their offsets are their numbers, from 0."""
    row = 0
    try:
        for line in parquet_lines(raw):
            yield _row(row, line)
            row += 1
    except (ValueError, OSError) as error:
        # The library adds the position in its own source code, which is of no use here.
        reason = str(error).partition("\n")[0]
        yield PlacedLine(row, b"", f"cannot be read as Parquet ({reason})")


def _row(row: int, line: bytes | None) -> PlacedLine:
    if line is None:
        return PlacedLine(row, b"", "is null")
    if b"\n" in line:
        return PlacedLine(row, line[:MOST_KEPT], "has a line end inside")
    if len(line) > LINE_LIMIT:
        return PlacedLine(row, line[:MOST_KEPT], f"has more than {LINE_LIMIT:,} bytes")
    return PlacedLine(row, line, None)


def _lines(placed: "_Placed") -> Iterator[PlacedLine]:
    for line in lines_of(placed):
        if isinstance(line, Rejection):
            yield PlacedLine(placed.line_start, placed.head, line.problem)
        else:
            yield PlacedLine(placed.line_start, line[:-1], None)
        placed.begin_line()


class _Placed:
    """A stream that knows where each line begins, and ends with the split's last line."""

    def __init__(self, stream: BinaryIO, split: Split, packed_bytes: int | None) -> None:
        self._stream = stream
        self._end = split.end
        self._limit: int | None = None
        self.position = split.start
        if packed_bytes is not None:
            # Offsets in a packed file count unpacked bytes.
            self._limit = max(FREE_BYTES, MOST_UNPACKED * packed_bytes)
            self._end = self._limit + 1
        elif split.start:
            stream.seek(split.start - 1)
            self.position -= 1
            self._to_next_line()
        self.line_start = self.position
        self.head = b""
        self._inside = False

    def begin_line(self) -> None:
        """Record that a new line begins."""
        self.line_start = self.position
        self.head = b""
        self._inside = False

    def readline(self, size: int, /) -> bytes:
        """Return at most `size` bytes of a line, or nothing at the end of the split."""
        if not self._inside and self.position >= self._end:
            return b""
        line = self._stream.readline(size)
        self.position += len(line)
        if self._limit is not None and self.position > self._limit:
            raise EOFError(f"more than {self._limit:,} bytes came out of it")
        if not self._inside:
            self.head = line[:MOST_KEPT]
            self._inside = True
        return line

    def _to_next_line(self) -> None:
        # A line that is longer than the split is read once, by the split that it begins in.
        while self.position < self._end and (piece := self._stream.readline(LINE_LIMIT)):
            self.position += len(piece)
            if piece.endswith(b"\n"):
                return
