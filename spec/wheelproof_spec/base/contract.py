"""Contract profiles: what an implementation promises if the specification leaves a choice.

A profile has a name of `CONTRACTS`, and may be weakened by parameters: ``exact,late_ticks=2`` is a
timer that may run a task up to two ticks late, and ``never-early,order=by_tick`` one that may run
the tasks of one tick in any order. `contract_of` reads such a name.

>>> contract_of("exact,late_ticks=2").owes_ms(now_ms=100, tick_ms=10)
80
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache
from itertools import product


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
    """Which of two tasks that wait is submitted first, by one call or by two (standard 1.9).

    A task that is late keeps its turn: what is due later waits for it.
    """

    BY_DUE_TIME = "by_due_time"
    """By due time; tasks that are due at the same time in any order (standard 1.9)."""
    BY_TICK = "by_tick"
    """By the tick in which they are due; tasks that are due in one tick in any order."""
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
        return now_ms - self.lateness_in_ms(tick_ms)

    def lateness_in_ms(self, tick_ms: int) -> int:
        """Return how long after its due time a task may still wait, in milliseconds."""
        return self.lateness_ms + self.late_ticks * tick_ms

    def comes_first(self, due_ms: int, other_due_ms: int, tick_ms: int) -> bool:
        """Tell whether of two tasks that wait the one due at `due_ms` is submitted first.

        If not, the other one may be. All three are in milliseconds.
        """
        match self.order:
            case FiringOrder.BY_DUE_TIME:
                return due_ms < other_due_ms
            case FiringOrder.BY_TICK:
                return due_ms // tick_ms < other_due_ms // tick_ms
            case FiringOrder.ANY:
                return False

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
    order=FiringOrder.BY_DUE_TIME,
    truncates=True,
)
"""Kafka's SystemTimer, and the reference (standard 1.1, 1.7 - 1.9)."""

NEVER_EARLY = TimerContract(
    name="never-early", rounding=Rounding.UP, lateness_ms=0, order=FiringOrder.BY_DUE_TIME
)
"""A timer that rounds up: a task never runs before its deadline."""

HASHED_WHEEL = TimerContract(
    name="hashed-wheel", rounding=Rounding.NEXT, lateness_ms=0, order=FiringOrder.BY_DUE_TIME
)
"""A wheel that runs the tasks of a tick when the tick is over, as Netty's HashedWheelTimer does."""

EXACT = TimerContract(
    name="exact", rounding=Rounding.EXACT, lateness_ms=0, order=FiringOrder.BY_DUE_TIME
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

MOST_LATE_TICKS = 8
"""How late a contract may allow a task to run, in ticks; beyond that little would be judged."""
PARAMETERS = f"late_ticks=0 to {MOST_LATE_TICKS}, order={'|'.join(FiringOrder)}"
"""What may follow the name of a contract, each behind a comma."""


class UnknownContractError(ValueError):
    """A profile is no name of a contract, or has a parameter that there is not."""


@lru_cache(maxsize=256)
def contract_of(profile: str) -> TimerContract:
    """Return the contract of a profile: a name, and parameters behind commas.

    Raises UnknownContractError.
    """
    name, *parameters = profile.split(",")
    contract = CONTRACTS.get(name)
    if contract is None:
        raise UnknownContractError(f"there is no contract {name!r}")
    for parameter in parameters:
        key, _, value = parameter.partition("=")
        if key == "late_ticks" and value in _LATE_TICKS:
            contract = replace(contract, late_ticks=int(value))
        elif key == "order" and value in tuple(FiringOrder):
            contract = replace(contract, order=FiringOrder(value))
        else:
            raise UnknownContractError(f"{parameter!r} is none of {PARAMETERS}")
    return replace(contract, name=profile)


_LATE_TICKS = frozenset(map(str, range(MOST_LATE_TICKS + 1)))


def is_contract(profile: str) -> bool:
    """Tell whether a timer may declare this profile."""
    try:
        contract_of(profile)
    except UnknownContractError:
        return False
    return True


def strongest_first() -> Iterator[str]:
    """Yield the profiles of a timer: those that allow less lateness first, then less disorder."""
    bases = (EXACT, NEVER_EARLY, HASHED_WHEEL, KAFKA)
    named = {replace(contract, name=""): name for name, contract in CONTRACTS.items()}
    for late, order, base in product(range(MOST_LATE_TICKS + 1), FiringOrder, bases):
        if order is FiringOrder.BY_TICK and base.rounding is not Rounding.EXACT:
            # All due times are whole ticks: that is the order by due time.
            continue
        lateness = f",late_ticks={late}" if late else ""
        disorder = "" if order is base.order else f",order={order}"
        contract = replace(base, name="", late_ticks=late, order=order)
        yield named.get(contract, f"{base.name}{lateness}{disorder}")
