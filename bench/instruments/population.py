"""What a timer costs among many others."""

import random
import statistics
from collections.abc import Callable
from dataclasses import dataclass

from instruments.contestants import Contestant
from instruments.stopwatch import bytes_each, garbage_collector, microseconds_each

LONGEST_DELAY_MS = 60_000
CANCELLED_PERCENT = 90


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """Processor time in microseconds, with `live` timers in the population.

    `pair_us` is for one add plus cancel while all of them live. `life_us` is for one timer of the
    population itself: its add, and for CANCELLED_PERCENT of them, chosen at random, its cancel.
    """

    contestant: str
    live: int
    collector: bool
    pair_us: float
    life_us: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """How many timers and how often; every random choice comes from `seed`."""

    pairs: int
    rounds: int
    seed: int

    def delays(self, count: int) -> list[int]:
        """Return `count` delays in milliseconds."""
        source = random.Random(self.seed)
        return [source.randint(1, LONGEST_DELAY_MS) for _ in range(count)]


def measure_cost(
    name: str, make: Callable[[], Contestant], workload: Workload, live: int, *, collector: bool
) -> Cost:
    """Fill a new contestant with `live` timers, measure pairs, then cancel most of them."""
    population = workload.delays(live)
    pairs = workload.delays(workload.pairs)
    cancelled = live * CANCELLED_PERCENT // 100
    chosen = random.Random(workload.seed).sample(range(live), cancelled)
    contestant = make()
    try:
        with garbage_collector(enabled=collector):
            life_us = microseconds_each(lambda: contestant.fill(population), live)
            pair_us = statistics.median(
                microseconds_each(lambda: contestant.add_and_cancel(pairs), workload.pairs)
                for _ in range(workload.rounds)
            )
            life_us += microseconds_each(lambda: contestant.cancel(chosen), live)
    finally:
        contestant.close()
    return Cost(contestant=name, live=live, collector=collector, pair_us=pair_us, life_us=life_us)


def measure_bytes(make: Callable[[], Contestant], workload: Workload, count: int) -> float:
    """Return the bytes of one of `count` timers that wait."""
    population = workload.delays(count)
    contestant = make()
    try:
        return bytes_each(lambda: contestant.fill(population), count)
    finally:
        contestant.close()
