"""The clock of the compared BufferPool: a cell whose ticks are separate steps.

The clock knows the purpose of each reading. An allocation reads it once for its deadline, and then
twice for each wait: the reading before the wait decides nothing, the reading after it decides
whether the time is over.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, auto

from wheelproof import sync
from wheelproof.units import Millis
from wheelproof_explore.program import forget
from wheelproof_explore.runtime.runtime import ControlledRuntime


class Reading(Enum):
    """The purpose of a clock reading."""

    DEADLINE = auto()
    BEFORE_WAIT = auto()
    AFTER_WAIT = auto()


@dataclass(slots=True)
class _Reader:
    readings: int = 0
    deadline_ms: int = 0


class PoolClock:
    """The time, and by name the readings and the deadline of each client's allocation."""

    def __init__(self, limits_ms: Mapping[str, int]) -> None:
        self.cell = sync.atomic_integer(0, "now")
        self._limits_ms = limits_ms
        self._readers = {name: _Reader() for name in limits_ms}
        self._runtime = sync.current_runtime()

    def begin_allocation(self) -> None:
        """Record that the calling client begins an allocation."""
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
        """Wait for a notification, or for the end of the time."""
        del lock
        condition.wait(deadline_ms)

    def tick(self) -> None:
        """Tick by one millisecond, in an endless loop."""
        while True:
            forget()
            self.cell.add_and_get(1)

    def reader(self) -> str:
        """Return the name of the thread that is running."""
        assert isinstance(self._runtime, ControlledRuntime)
        return self._runtime.caller().name

    def reading(self, client: str) -> Reading:
        """Return the purpose of a client's latest reading, or of its reading under way."""
        readings = self._readers[client].readings
        if readings <= 1:
            return Reading.DEADLINE
        return Reading.AFTER_WAIT if readings % 2 else Reading.BEFORE_WAIT

    def is_over(self, client: str) -> bool:
        """Tell whether the time of a client's allocation is over."""
        return self.cell.get() >= self._readers[client].deadline_ms
