"""Sequential specifications: short, obviously right, and open exactly where the rules are.

The oracle says WHAT: what a component may answer to each call. It mirrors the abstract TLA+
modules (the oracle's timer is Timer.tla) and imports the standard library alone.
"""

from wheelproof_spec.oracle.contract import (
    HASHED_WHEEL,
    KAFKA,
    NEVER_EARLY,
    FiringOrder,
    Rounding,
    TimerContract,
)
from wheelproof_spec.oracle.timer import HeapTimer, Violation

__all__ = [
    "HASHED_WHEEL",
    "KAFKA",
    "NEVER_EARLY",
    "FiringOrder",
    "HeapTimer",
    "Rounding",
    "TimerContract",
    "Violation",
]
