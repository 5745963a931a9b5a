"""The budget of a cell: CPU time, so that other work on the machine takes nothing from it."""

import os
import time
from collections.abc import Callable

TIMES_THE_BUDGET = 8
"""How many budgets of wall-clock time a cell may take: it may wait, or the machine is busy."""


def used_s() -> float:
    """Return the CPU time of this process and of the children it has waited for, in seconds."""
    return sum(os.times()[:4])


class Budget:
    """A budget of `seconds` on `clock`, which shows CPU time; it begins when it is made."""

    def __init__(self, seconds: float, clock: Callable[[], float] = used_s) -> None:
        self._clock = clock
        self._until = clock() + seconds
        self._at_the_latest = time.monotonic() + TIMES_THE_BUDGET * seconds

    def over(self) -> bool:
        """Tell whether the budget is used up."""
        return self._clock() >= self._until or time.monotonic() >= self._at_the_latest
