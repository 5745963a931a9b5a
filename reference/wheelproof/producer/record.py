"""A record as the application hands it in, and its bytes.

How much memory a batch needs is known before anything is written, from the sizes of its records.

>>> from wheelproof.producer.record import Record, varint
>>> record = Record(timestamp_ms=0, value=b"payload")
>>> len(record.encoded(0, 0))
14
>>> varint(300).hex()
'd804'
"""

from collections.abc import Iterator
from dataclasses import dataclass

from wheelproof.producer.record_sizes import batch_size_upper_bound, payload_size, zigzag


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """A record for one partition; `timestamp_ms` is the time that the application gives it."""

    timestamp_ms: int
    key: bytes | None = None
    value: bytes | None = None
    headers: tuple[tuple[str, bytes | None], ...] = ()

    def payload_size(self) -> int:
        """Return how many bytes key, value and headers take in a batch."""
        return payload_size(self.key, self.value, self.headers)

    def batch_size_upper_bound(self) -> int:
        """Return how many bytes a batch of this record alone never exceeds."""
        return batch_size_upper_bound(self.payload_size())

    def encoded(self, offset_delta: int, timestamp_delta: int) -> bytes:
        """Return the record's bytes in a batch of format v2."""
        body = b"".join(
            (
                b"\0",
                varint(timestamp_delta),
                varint(offset_delta),
                _sized(self.key),
                _sized(self.value),
                varint(len(self.headers)),
                *self._encoded_headers(),
            )
        )
        return varint(len(body)) + body

    def _encoded_headers(self) -> Iterator[bytes]:
        for name, data in self.headers:
            yield _sized(name.encode())
            yield _sized(data)


def varint(number: int) -> bytes:
    """Return `number` as a variable-length integer: zigzag-encoded, lowest bits first."""
    rest = zigzag(number)
    encoded = bytearray()
    while rest >= 0x80:
        encoded.append(rest & 0x7F | 0x80)
        rest >>= 7
    encoded.append(rest)
    return bytes(encoded)


def _sized(data: bytes | None) -> bytes:
    return varint(-1) if data is None else varint(len(data)) + data
