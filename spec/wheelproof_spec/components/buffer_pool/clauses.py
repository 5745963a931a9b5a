"""What an implementation of the buffer pool may declare as its limit."""

from enum import StrEnum


class PoolLimit(StrEnum):
    """A part of the domain that is known to be too much for some implementations."""

    TWO_GIB = "Domain.TwoGiBOfPooledBuffers"
    GIVEN_BACK_TWICE = "Domain.BufferGivenBackTwice"
    SIZE_OUTSIDE = "Domain.SizeOutsideThePool"
