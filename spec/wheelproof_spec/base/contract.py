"""Contract profiles: what an implementation promises if the specification leaves a choice."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class Rounding(StrEnum):
    """How a deadline becomes the moment from which a task may run."""

    DOWN = "down"
    """To the start of its tick: early by less than a tick (standard 1.8)."""
    UP = "up"
    """To the end of its tick: never early. A deadline between two ticks is due at once."""
    NEXT = "next"
    """To the end of the tick that it begins or lies in: never early, and up to a whole tick late.

    Wheels that process a tick once it is over do so (Varghese and Lauck, SOSP 1987, scheme 6).
    """
    EXACT = "exact"
    """Not at all: a task is due at the millisecond of its deadline, whatever the tick."""


class FiringOrder(StrEnum):
    """In which order the tasks that one advance submits may run."""

    BY_TICK = "by_tick"
    """By due time; tasks that are due at the same time in any order (standard 1.9)."""
    ANY = "any"
    """In any order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TimerContract:
    """The promise of a timer about when its tasks run.

    `lateness_ms` and `late_ticks` together limit how long after its due time a task may still wait
    when an advance ends, in milliseconds and ticks of the timer's own clock. With `truncates` that
    clock counts whole milliseconds, so that by a finer clock a task may run almost a millisecond
    before its due time.
    """

    name: str
    rounding: Rounding
    lateness_ms: int
    order: FiringOrder
    truncates: bool = False
    late_ticks: int = 0

    def owes_ms(self, now_ms: int, tick_ms: int) -> int:
        """Return the time up to which every due task has run when an advance to `now_ms` ends."""
        return now_ms - self.lateness_ms - self.late_ticks * tick_ms

    def due_ms(self, deadline_ms: int, tick_ms: int) -> int:
        """Return the time from which a task with this deadline may run, in milliseconds."""
        if self.rounding is Rounding.NEXT:
            return (deadline_ms // tick_ms + 1) * tick_ms
        if self.rounding is Rounding.UP:
            return -(-deadline_ms // tick_ms) * tick_ms
        if self.rounding is Rounding.EXACT:
            return deadline_ms
        return deadline_ms // tick_ms * tick_ms


KAFKA = TimerContract(
    name="kafka",
    rounding=Rounding.DOWN,
    lateness_ms=0,
    order=FiringOrder.BY_TICK,
    truncates=True,
)
"""Kafka's SystemTimer, and the reference (standard 1.1, 1.7 - 1.9)."""

NEVER_EARLY = TimerContract(
    name="never-early", rounding=Rounding.UP, lateness_ms=0, order=FiringOrder.BY_TICK
)
"""A timer that rounds up: a task never runs before its deadline."""

HASHED_WHEEL = TimerContract(
    name="hashed-wheel", rounding=Rounding.NEXT, lateness_ms=0, order=FiringOrder.BY_TICK
)
"""A wheel that runs the tasks of a tick when the tick is over, as Netty's HashedWheelTimer does."""

EXACT = TimerContract(
    name="exact", rounding=Rounding.EXACT, lateness_ms=0, order=FiringOrder.BY_TICK
)
"""A timer without ticks, or a timer that checks the deadline itself: asyncio, Tokio, Agrona."""

WITHIN_A_TICK = TimerContract(
    name="within-a-tick",
    rounding=Rounding.EXACT,
    lateness_ms=0,
    order=FiringOrder.ANY,
    late_ticks=1,
)
"""A wheel that checks deadlines, but its buckets only when the tick changes, as caches do."""

CONTRACTS: Mapping[str, TimerContract] = {
    contract.name: contract for contract in (KAFKA, NEVER_EARLY, HASHED_WHEEL, EXACT, WITHIN_A_TICK)
}
"""The contracts that a timer may declare, by name; the first is the usual one."""
