"""The table of known bugs: one entry each, from which docs and tests are made.

Each component has its own table; this one is all of them, in the order of the documentation.
"""

from wheelproof_spec.known_bugs.known_bug import KnownBug
from wheelproof_spec.known_bugs.timer_table import TIMER_BUGS

KNOWN_BUGS: tuple[KnownBug, ...] = (*TIMER_BUGS,)
