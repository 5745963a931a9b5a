"""Real defects, brought back one by one as variants of the reference.

A variant is a subclass that replaces one small method; the reference itself knows nothing of it.
"""

from wheelproof_spec.known_bugs.known_bug import Finder, KnownBug, find_bug
from wheelproof_spec.known_bugs.table import KNOWN_BUGS
from wheelproof_spec.known_bugs.timer_table import TIMER_BUGS, TimerBug

__all__ = ["KNOWN_BUGS", "TIMER_BUGS", "Finder", "KnownBug", "TimerBug", "find_bug"]
