"""What an implementation of the record accumulator may declare as its limit."""

from enum import StrEnum


class AccumulatorLimit(StrEnum):
    """A part of the domain that is known to be too much for some implementations."""

    MEMORY_FAULTS = "Domain.MemoryThatFails"
    SPLIT = "Domain.SplitBelowTheBatchSize"
    SPLIT_OF_ONE = "Domain.SplitOfOneRecord"
    GROWING_BACKOFF = "Domain.BackoffThatGrows"
