"""Real defects, brought back one by one as variants of the reference.

A variant is a subclass that replaces one small method; the reference itself knows nothing of it.
"""

from wheelproof_spec.known_bugs.table import KNOWN_BUGS, Finder, KnownBug, find_known_bug

__all__ = ["KNOWN_BUGS", "Finder", "KnownBug", "find_known_bug"]
