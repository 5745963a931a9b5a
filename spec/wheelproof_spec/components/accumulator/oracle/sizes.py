"""How many bytes a record takes in a batch of Kafka's format v2, if it has a value and no more.

Kafka's documentation ("Record Batch", "Record") says how: after a header a batch has its records,
each with its length, attributes, the differences of its timestamp and offset to the batch's, key,
value and headers. Every number is a variable-length integer: zigzag-encoded, 7 bits to a byte.
"""

EMPTY_BATCH = 61
"""The size of a batch without records: its header."""

_MOST_OVERHEAD = 21
"""More than length, attributes, timestamp and offset of a record ever take."""
_ATTRIBUTES = _SAME_TIMESTAMP = _NO_KEY = _NO_HEADERS = 1


def record_size(number: int, value: int) -> int:
    """Return what a record with a value of so many bytes takes behind `number` other records."""
    body = _ATTRIBUTES + _SAME_TIMESTAMP + _varint_size(number) + _payload(value)
    return _varint_size(body) + body


def upper_bound(value: int) -> int:
    """Return what a batch of one such record never exceeds: it is what an append asks for."""
    return EMPTY_BATCH + _MOST_OVERHEAD + _payload(value)


def _payload(value: int) -> int:
    return _NO_KEY + _varint_size(value) + value + _NO_HEADERS


def _varint_size(number: int) -> int:
    """Return the size of a number that is not negative; zigzag doubles it."""
    return max(-(-(2 * number).bit_length() // 7), 1)
