"""Real defects, brought back one by one as variants of the reference.

A variant is a subclass that replaces one small method; the reference itself knows nothing of it.
"""

from wheelproof_spec.base.known_bug import Finder, KnownBug, Sight, find_bug
from wheelproof_spec.components.accumulator.bug_table import (
    ACCUMULATOR_BUGS,
    AccumulatorBug,
)
from wheelproof_spec.components.buffer_pool.bug_table import (
    BUFFER_POOL_BUGS,
    BufferPoolBug,
)
from wheelproof_spec.components.bug_table import KNOWN_BUGS
from wheelproof_spec.components.purgatory.bug_table import PURGATORY_BUGS, PurgatoryBug
from wheelproof_spec.components.replication.bug_table import REPLICATION_BUGS, ReplicationBug
from wheelproof_spec.components.timer.bug_table import TIMER_BUGS, TimerBug

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
