"""What one task reads: a piece of a plain file, or a packed file as a whole."""

import gzip
import io
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from wheelproof_spark.zstd_stream import MAGIC as ZSTD
from wheelproof_spark.zstd_stream import ZstdStream
from wheelproof_spec.traces.line_parser import LINE_LIMIT, Rejection
from wheelproof_spec.traces.reader import FREE_BYTES, MOST_UNPACKED, lines_of

GZIP = b"\x1f\x8b"
ZIP = b"PK\x03\x04"
MOST_KEPT = 4_096
"""How many bytes of a line that is too long are kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Split:
    """The lines of a file that begin at `start` bytes or later, and before `end`."""

    file_id: int
    path: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class PlacedLine:
    """A line without its end, where it begins, and why it is not judged, if it is not."""

    offset: int
    raw: bytes
    problem: str | None


def is_packed(path: Path) -> bool:
    """Tell whether a file can only be read from its beginning; raises OSError."""
    with path.open("rb") as stream:
        return stream.read(4).startswith((GZIP, ZSTD, ZIP))


def placed_lines(split: Split) -> Iterator[PlacedLine]:
    """Yield every line of the split; a file that cannot be read is one line with that problem."""
    placed: _Placed | None = None
    try:
        with _opened(Path(split.path)) as (stream, packed_bytes):
            placed = _Placed(stream, split, packed_bytes)
            yield from _lines(placed)
    except OSError as error:
        reason = error.strerror or str(error)
        offset = split.start if placed is None else placed.position
        yield PlacedLine(offset, b"", f"cannot be read ({reason})")


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
            # Offsets of a packed file are those of what it unpacks to.
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
        """Say that what comes next is a new line."""
        self.line_start = self.position
        self.head = b""
        self._inside = False

    def readline(self, size: int, /) -> bytes:
        """Return at most `size` bytes of a line; nothing once the split is over."""
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
        while piece := self._stream.readline(LINE_LIMIT):
            self.position += len(piece)
            if piece.endswith(b"\n"):
                return


@contextmanager
def _opened(path: Path) -> Generator[tuple[BinaryIO, int | None]]:
    """Open a file; for a packed one, return its size too."""
    with path.open("rb") as raw:
        head = raw.read(4)
        raw.seek(0)
        size = path.stat().st_size
        if head.startswith(ZIP):
            raise OSError(f"{path.name} is a zip archive")
        if head.startswith(GZIP):
            with gzip.open(raw) as unpacked:
                yield io.BufferedReader(unpacked, 1 << 16), size
        elif head.startswith(ZSTD):
            yield io.BufferedReader(ZstdStream(raw), 1 << 16), size
        else:
            yield raw, None
