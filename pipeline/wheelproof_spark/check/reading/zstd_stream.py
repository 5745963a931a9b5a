"""Unpacks zstd piece by piece, and notices a file that was cut off."""

import io
from typing import TYPE_CHECKING, BinaryIO

from zstandard import ZstdDecompressor, ZstdError

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

MAGIC = b"\x28\xb5\x2f\xfd"

# A block of a few packed bytes can unpack to 128 KiB, so that little is taken at a time.
_PIECE = 2_048


class ZstdStream(io.RawIOBase):
    """The unpacked bytes of `packed`, all of its frames.

    Reading raises EOFError where the file is cut off or damaged.
    """

    def __init__(self, packed: BinaryIO) -> None:
        self._packed = packed
        self._frame = ZstdDecompressor().decompressobj()
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
        piece = self._rest or self._packed.read(_PIECE)
        self._rest = b""
        if not piece:
            if self._begun:
                raise EOFError("the file ends inside a zstd frame")
            return False
        try:
            self._ready = memoryview(self._frame.decompress(piece))
        except ZstdError as error:
            raise EOFError(str(error)) from error
        self._begun = True
        if self._frame.eof:
            self._rest = self._frame.unused_data
            self._frame = ZstdDecompressor().decompressobj()
            self._begun = False
        return True
