"""Records in a batch of Kafka's format v2: their sizes, and how a broker reads them (standard 4.1).

Kafka's documentation ("Record Batch", "Record") defines it. A batch is a header and then records.
A record has its length, attributes, the differences of its timestamp and offset to the batch's,
key, value and headers. Numbers are variable-length integers: zigzag-encoded, 7 bits to a byte.

`record_size` and `upper_bound` are for records that have a value and nothing else.
"""

from collections.abc import Iterator
from io import BytesIO

EMPTY_BATCH = 61
"""The size of a batch without records: its header."""

_MOST_OVERHEAD = 21
"""The most bytes that length, attributes, timestamp and offset of a record can take."""
_ATTRIBUTES = _SAME_TIMESTAMP = _NO_KEY = _NO_HEADERS = 1

Header = tuple[bytes | None, bytes | None]
SentRecord = tuple[int, int, bytes | None, bytes | None, tuple[Header, ...]]
"""The differences of timestamp and offset to the batch's; key, value and headers."""


def record_size(number: int, value: int) -> int:
    """Return the size of a record with `value` bytes in its value, after `number` other records."""
    body = _ATTRIBUTES + _SAME_TIMESTAMP + _varint_size(number) + _payload(value)
    return _varint_size(body) + body


def upper_bound(value: int) -> int:
    """Return the most bytes of a batch of one such record: an append requests so many."""
    return EMPTY_BATCH + _MOST_OVERHEAD + _payload(value)


def _payload(value: int) -> int:
    return _NO_KEY + _varint_size(value) + value + _NO_HEADERS


def _varint_size(number: int) -> int:
    """Return the size of a number that is not negative; zigzag doubles it."""
    return max(-(-(2 * number).bit_length() // 7), 1)


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
