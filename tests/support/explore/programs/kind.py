"""A kind of object that threads read and write at once."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Kind:
    """How an object is made, and expressions that read or write it, as `d`."""

    made: str
    readers: str
    writers: str
