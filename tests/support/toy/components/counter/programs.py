"""Two threads that count, with a lock and without."""

from functools import partial

from wheelproof_explore.program import Scenario
from wheelproof_lab.worlds.making import discarding, program

from .reference import BoundedCounter, RacyCounter


def two_threads(counter_class: type[BoundedCounter]) -> Scenario:
    """Two threads count at the same time."""
    counter = counter_class(5)

    def check() -> None:
        assert counter.value() == 2, f"two were counted, and it says {counter.value()}"

    count = discarding(counter.increment)
    return Scenario(threads={"one": count, "two": count}, check=check)


TWO = program("counter-two", partial(two_threads, BoundedCounter))
RACY = program("counter-racy", partial(two_threads, RacyCounter))
