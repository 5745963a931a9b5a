"""Reads files line by line in bounded memory, whatever they contain.

A line that is too long is skipped in pieces. A packed file may not unpack to more than a multiple
of its size. A last line without a line end counts as cut off.
"""

import sys
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from wheelproof_spec.base.errors import InputRejectedError
from wheelproof_spec.history.line_parser import LINE_LIMIT, Rejection
from wheelproof_spec.history.unpacking import GZIP, gunzipped

STANDARD_INPUT = Path("-")
MOST_UNPACKED = 200
"""How many times its own size a packed file may unpack to, once it is beyond `FREE_BYTES`."""
FREE_BYTES = 64 << 20

_ZIP = b"PK\x03\x04"
_REMEDY = "name a file of JSON Lines, plain or packed with gzip"


class _Lines(Protocol):
    """What can be read line by line."""

    def readline(self, size: int, /) -> bytes: ...


def read_lines(path: Path) -> Iterator[bytes | Rejection]:
    """Yield the lines of a file (`-` is standard input), or why a line is not judged.

    Raises InputRejectedError if the file cannot be read.
    """
    try:
        with _opened(path) as stream:
            yield from lines_of(stream)
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputRejectedError(str(path), None, f"cannot be read ({reason})", _REMEDY) from error


def lines_of(stream: _Lines, limit: int = LINE_LIMIT) -> Iterator[bytes | Rejection]:
    """Yield the lines of a stream; a line longer than `limit` bytes is skipped."""
    try:
        while line := stream.readline(limit + 1):
            if line.endswith(b"\n"):
                yield line
            elif len(line) > limit:
                _pass_over(stream, limit)
                yield Rejection(f"has more than {limit:,} bytes")
            else:
                yield Rejection("has no line end: the file was cut off")
    except EOFError as error:
        yield Rejection(f"cannot be unpacked: {error}")
    except _TooMuchError as error:
        yield Rejection(str(error))


def _pass_over(stream: _Lines, limit: int) -> None:
    while (piece := stream.readline(limit)) and not piece.endswith(b"\n"):
        pass


@contextmanager
def _opened(path: Path) -> Generator[_Lines]:
    if path == STANDARD_INPUT:
        yield sys.stdin.buffer
        return
    with path.open("rb") as raw:
        head = raw.read(4)
        raw.seek(0)
        if head.startswith(_ZIP):
            raise InputRejectedError(str(path), None, "is a zip archive", "unpack it first")
        if not head.startswith(GZIP):
            yield raw
            return
        size = path.stat().st_size
        with gunzipped(raw) as unpacked:
            yield _Bounded(unpacked, max(FREE_BYTES, MOST_UNPACKED * size))


class _TooMuchError(Exception):
    """A packed file unpacks to too much."""


class _Bounded:
    """An unpacked stream that raises an error after too many bytes."""

    def __init__(self, stream: _Lines, limit: int) -> None:
        self._stream = stream
        self._limit = limit
        self._left = limit

    def readline(self, size: int, /) -> bytes:
        line = self._stream.readline(size)
        self._left -= len(line)
        if self._left < 0:
            raise _TooMuchError(f"comes after {self._limit:,} unpacked bytes, which is too much")
        return line
