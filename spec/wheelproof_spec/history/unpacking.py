"""Unpacks a file piece by piece: all bytes before a damaged place are returned."""

import io
import zlib
from collections.abc import Callable
from typing import TYPE_CHECKING, BinaryIO, Protocol

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

GZIP = b"\x1f\x8b"

_PIECE = 2_048
"""How many packed bytes are taken at a time: a few of them can unpack to 128 KiB."""


class Frame(Protocol):
    """The unpacker of one member of a gzip file, or of one frame of zstd."""

    @property
    def eof(self) -> bool:
        """Whether its end was reached."""
        ...

    @property
    def unused_data(self) -> bytes:
        """The bytes after its end."""
        ...

    def decompress(self, data: bytes, /) -> bytes:
        """Return the bytes that `data` unpacks to."""
        ...


class Unpacked(io.RawIOBase):
    """The unpacked bytes of `packed`, all of its frames; `kind` names them in a sentence.

    Reading raises EOFError at the place where the file is cut off or damaged, after all bytes
    before that place have been read.
    """

    def __init__(
        self,
        packed: BinaryIO,
        kind: str,
        new_frame: Callable[[], Frame],
        error: type[Exception] = zlib.error,
    ) -> None:
        """Begin; a frame raises `error` for damaged data."""
        super().__init__()
        self._packed, self._kind, self._new_frame, self._error = packed, kind, new_frame, error
        self._frame = new_frame()
        self._begun = False
        self._rest = b""
        self._ready = memoryview(b"")

    def readable(self) -> bool:
        """Tell that it can be read."""
        return True

    def readinto(self, buffer: "WriteableBuffer", /) -> int:
        """Fill the buffer; return how many bytes came, 0 at the end."""
        target = memoryview(buffer).cast("B")
        while not self._ready:
            if not self._unpack():
                return 0
        count = min(len(target), len(self._ready))
        target[:count] = self._ready[:count]
        self._ready = self._ready[count:]
        return count

    def _unpack(self) -> bool:
        piece = b""
        while not piece:
            piece = self._rest or self._packed.read(_PIECE)
            self._rest = b""
            if not piece:
                if self._begun:
                    raise EOFError(f"the file ends inside a {self._kind} frame")
                return False
            # A file may be padded with zeros between frames, and after the last one.
            piece = piece if self._begun else piece.lstrip(b"\0")
        try:
            self._ready = memoryview(self._frame.decompress(piece))
        except self._error as error:
            raise EOFError(str(error)) from error
        self._begun = True
        if self._frame.eof:
            self._rest = self._frame.unused_data
            self._frame = self._new_frame()
            self._begun = False
        return True


def gunzipped(packed: BinaryIO) -> io.BufferedReader:
    """Return the unpacked bytes of a gzip file, all of its members."""
    return buffered(Unpacked(packed, "gzip", lambda: zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)))


def buffered(unpacked: Unpacked) -> io.BufferedReader:
    """Return the stream with a buffer, to be read line by line."""
    return io.BufferedReader(unpacked, 1 << 16)
