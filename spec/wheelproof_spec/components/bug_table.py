"""The table of known bugs: one entry each, from which docs and tests are made.

Each component has its own table; this one is all of them, in the order of the documentation.
"""

from wheelproof_spec.base.known_bug import KnownBug
from wheelproof_spec.components.accumulator.bug_table import (
    ACCUMULATOR_BUGS,
)
from wheelproof_spec.components.buffer_pool.bug_table import (
    BUFFER_POOL_BUGS,
)
from wheelproof_spec.components.purgatory.bug_table import PURGATORY_BUGS
from wheelproof_spec.components.replication.bug_table import REPLICATION_BUGS
from wheelproof_spec.components.timer.bug_table import TIMER_BUGS

KNOWN_BUGS: tuple[KnownBug, ...] = (
    *TIMER_BUGS,
    *PURGATORY_BUGS,
    *REPLICATION_BUGS,
    *BUFFER_POOL_BUGS,
    *ACCUMULATOR_BUGS,
)
