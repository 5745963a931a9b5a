"""Real defects, brought back one by one as variants of the reference.

A variant is a subclass that replaces one small method; the reference itself knows nothing of it.
"""

from wheelproof_spec.known_bugs.known_bug import Finder, KnownBug, Sight, find_bug
from wheelproof_spec.known_bugs.producer_table import (
    ACCUMULATOR_BUGS,
    BUFFER_POOL_BUGS,
    AccumulatorBug,
    BufferPoolBug,
)
from wheelproof_spec.known_bugs.purgatory_table import PURGATORY_BUGS, PurgatoryBug
from wheelproof_spec.known_bugs.replication_table import REPLICATION_BUGS, ReplicationBug
from wheelproof_spec.known_bugs.table import KNOWN_BUGS
from wheelproof_spec.known_bugs.timer_table import TIMER_BUGS, TimerBug

__all__ = [
    "ACCUMULATOR_BUGS",
    "BUFFER_POOL_BUGS",
    "KNOWN_BUGS",
    "PURGATORY_BUGS",
    "REPLICATION_BUGS",
    "TIMER_BUGS",
    "AccumulatorBug",
    "BufferPoolBug",
    "Finder",
    "KnownBug",
    "PurgatoryBug",
    "ReplicationBug",
    "Sight",
    "TimerBug",
    "find_bug",
]
