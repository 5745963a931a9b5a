"""The size in bytes of a record in a batch of Kafka's format v2, if it only has a value.

Kafka's documentation ("Record Batch", "Record") defines it. A batch is a header and then records.
A record has its length, attributes, the differences of its timestamp and offset to the batch's,
key, value and headers. Numbers are variable-length integers: zigzag-encoded, 7 bits to a byte.
"""

EMPTY_BATCH = 61
"""The size of a batch without records: its header."""

_MOST_OVERHEAD = 21
"""The most bytes that length, attributes, timestamp and offset of a record can take."""
_ATTRIBUTES = _SAME_TIMESTAMP = _NO_KEY = _NO_HEADERS = 1


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
