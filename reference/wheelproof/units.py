"""Domain types where a mix-up of two integers would be a bug.

Milliseconds, offsets and sizes are all integers, and one in the place of another is a silent bug.

>>> from wheelproof.units import MAX_MILLIS, Millis
>>> Millis(5) + 1
6
>>> MAX_MILLIS == 2**62 - 1
True
"""

from typing import NewType

Millis = NewType("Millis", int)
"""A time or a duration in milliseconds."""

MAX_MILLIS = Millis(2**62 - 1)
"""The largest time and the largest delay of the system's domain (standard 1.17).

Half of what a signed 64-bit integer holds, so that no sum of a clock and a delay overflows in an
implementation that uses one.
"""
