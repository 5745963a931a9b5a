"""The table of known bugs: one entry each, from which docs and tests are made.

Each component has its own table; this one is all of them, in the order of the documentation.
"""

from wheelproof_spec.known_bugs.known_bug import KnownBug
from wheelproof_spec.known_bugs.producer_table import ACCUMULATOR_BUGS, BUFFER_POOL_BUGS
from wheelproof_spec.known_bugs.purgatory_table import PURGATORY_BUGS
from wheelproof_spec.known_bugs.replication_table import REPLICATION_BUGS
from wheelproof_spec.known_bugs.timer_table import TIMER_BUGS

KNOWN_BUGS: tuple[KnownBug, ...] = (
    *TIMER_BUGS,
    *PURGATORY_BUGS,
    *REPLICATION_BUGS,
    *BUFFER_POOL_BUGS,
    *ACCUMULATOR_BUGS,
)
