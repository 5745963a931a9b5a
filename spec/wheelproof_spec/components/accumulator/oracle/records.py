"""Reads the records of a request in Kafka's format v2, as a broker does (standard 4.1)."""

from collections.abc import Iterator
from io import BytesIO

from wheelproof_spec.components.accumulator.oracle.sizes import EMPTY_BATCH

Header = tuple[bytes | None, bytes | None]
SentRecord = tuple[int, int, bytes | None, bytes | None, tuple[Header, ...]]
"""The differences of timestamp and offset to the batch's; key, value and headers."""


def records_of(request: bytes) -> Iterator[SentRecord]:
    """Yield the records of a batch; raises AssertionError if lengths do not add up."""
    sent = BytesIO(request[EMPTY_BATCH:])
    while sent.tell() < len(request) - EMPTY_BATCH:
        body = BytesIO(_text(sent) or b"")
        assert body.read(1) == b"\0", "there are no attributes"
        yield _number(body), _number(body), _text(body), _text(body), tuple(_headers(body))
        assert not body.read(), "a record is shorter than it says"


def _headers(body: BytesIO) -> Iterator[Header]:
    for _ in range(_number(body)):
        yield _text(body), _text(body)


def _number(sent: BytesIO) -> int:
    """Read a zigzag number: 7 bits in each byte, the lowest first; the lowest bit is the sign."""
    bits = shift = 0
    byte = 0x80
    while byte & 0x80:
        (byte,) = sent.read(1)
        bits |= (byte & 0x7F) << shift
        shift += 7
    return ~(bits >> 1) if bits & 1 else bits >> 1


def _text(sent: BytesIO) -> bytes | None:
    """Read bytes that follow their length; the length -1 stands for None."""
    size = _number(sent)
    found = None if size == -1 else sent.read(size)
    assert found is None or len(found) == size, f"{size} bytes are promised, and not there"
    return found
