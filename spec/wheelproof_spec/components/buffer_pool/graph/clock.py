"""The clock of the compared BufferPool: a cell that goes on by steps of its own.

It knows which of the pool's readings it is asked for. An allocation reads it once for its deadline,
and then twice for each wait: before, which decides nothing, and after, which decides whether the
time is over.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, auto

from wheelproof import sync
from wheelproof.units import Millis
from wheelproof_spec.engines.explore.program import forget
from wheelproof_spec.engines.explore.runtime.runtime import ControlledRuntime


class Reading(Enum):
    """What the clock is read for."""

    DEADLINE = auto()
    BEFORE_WAIT = auto()
    AFTER_WAIT = auto()


@dataclass(slots=True)
class _Reader:
    readings: int = 0
    deadline_ms: int = 0


class PoolClock:
    """The time, and for each client by name how far it is with its allocation."""

    def __init__(self, limits_ms: Mapping[str, int]) -> None:
        self.cell = sync.atomic_integer(0, "now")
        self._limits_ms = limits_ms
        self._readers = {name: _Reader() for name in limits_ms}
        self._runtime = sync.current_runtime()

    def begin_allocation(self) -> None:
        """Note that the calling client begins an allocation."""
        self._readers[self.reader()].readings = 0

    def hi_res_clock_ms(self) -> Millis:
        """Return the time."""
        name = self.reader()
        reader = self._readers[name]
        reader.readings += 1
        time_ms = Millis(self.cell.get())
        if reader.readings == 1:
            reader.deadline_ms = time_ms + self._limits_ms[name]
        return time_ms

    def wait_until(self, lock: sync.Lock, condition: sync.Condition, deadline_ms: Millis) -> None:
        """Wait to be notified, or to be let go when the time is over."""
        del lock
        condition.wait(deadline_ms)

    def tick(self) -> None:
        """Go on by a millisecond, for ever."""
        while True:
            forget()
            self.cell.add_and_get(1)

    def reader(self) -> str:
        """Return the name of the thread that is running."""
        assert isinstance(self._runtime, ControlledRuntime)
        return self._runtime.caller().name

    def reading(self, client: str) -> Reading:
        """Return what the latest reading of a client was for, or the one under way is."""
        readings = self._readers[client].readings
        if readings <= 1:
            return Reading.DEADLINE
        return Reading.AFTER_WAIT if readings % 2 else Reading.BEFORE_WAIT

    def is_over(self, client: str) -> bool:
        """Tell whether the time of a client's allocation is over."""
        return self.cell.get() >= self._readers[client].deadline_ms
