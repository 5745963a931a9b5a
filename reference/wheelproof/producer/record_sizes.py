"""How many bytes a record takes in a batch of Kafka's format v2, as pure functions.

A batch begins with a header of RECORD_BATCH_OVERHEAD bytes. A record is its length, attributes,
the differences of its timestamp and offset to the batch's, key, value and headers; every number is
a variable-length integer, zigzag-encoded. (Kafka's documentation, "Record Batch" and "Record".)

    >>> from wheelproof.producer.record_sizes import payload_size, record_size, varint_size
    >>> varint_size(300)
    2
    >>> record_size(0, 0, payload_size(None, b"payload", ()))
    14
"""

from collections.abc import Sequence

RECORD_BATCH_OVERHEAD = 61
"""The bytes before the first record of a batch."""

MAX_RECORD_OVERHEAD = 21
"""The most that length, attributes, timestamp and offset of a record take, in bytes."""

_ATTRIBUTES = 1
_NO_BYTES = -1
"""The length that stands for a key or a value that is absent."""


def zigzag(number: int) -> int:
    """Return `number` mapped to 0, 1, 2, ... so that small ones of either sign stay small."""
    return 2 * number if number >= 0 else -2 * number - 1


def varint_size(number: int) -> int:
    """Return how many bytes the variable-length encoding of `number` takes: 7 bits in each."""
    rest = zigzag(number) >> 7
    size = 1
    while rest:
        rest >>= 7
        size += 1
    return size


def bytes_size(data: bytes | None) -> int:
    """Return how many bytes a key or a value takes, with its length."""
    if data is None:
        return varint_size(_NO_BYTES)
    return varint_size(len(data)) + len(data)


def payload_size(
    key: bytes | None, value: bytes | None, headers: Sequence[tuple[str, bytes | None]]
) -> int:
    """Return how many bytes key, value and headers take together."""
    size = bytes_size(key) + bytes_size(value) + varint_size(len(headers))
    return size + sum(bytes_size(name.encode()) + bytes_size(data) for name, data in headers)


def record_size(offset_delta: int, timestamp_delta: int, payload: int) -> int:
    """Return how many bytes a record takes, given the size of its payload."""
    body = _ATTRIBUTES + varint_size(timestamp_delta) + varint_size(offset_delta) + payload
    return varint_size(body) + body


def batch_size_upper_bound(payload: int) -> int:
    """Return how many bytes a batch of one record never exceeds (standard 4.1)."""
    return RECORD_BATCH_OVERHEAD + MAX_RECORD_OVERHEAD + payload
