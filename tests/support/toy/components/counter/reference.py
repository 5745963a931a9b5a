"""A counter with a lock, and one without; behind the door that all implementations use."""

from wheelproof import sync
from wheelproof_spec.base.calls import Reset
from wheelproof_spec.drive.driver.serve import ServedComponent, served

from .component import (
    DEFINITION,
    CounterCall,
    CounterObservation,
    Increment,
)


class BoundedCounter:
    """Counts up to a bound, whoever calls."""

    def __init__(self, bound: int) -> None:
        self._bound = bound
        self._lock = sync.lock("counter")
        self._count = sync.volatile(0, "count")

    def increment(self) -> bool:
        with self._lock:
            return self._increment()

    def value(self) -> int:
        return self._count.get()

    def _increment(self) -> bool:
        count = self._count.get()
        if count >= self._bound:
            return False
        self._count.set(count + 1)
        return True


class RacyCounter(BoundedCounter):
    """Reads and writes without the lock between them."""

    def increment(self) -> bool:
        return self._increment()


class ForgetfulCounter(BoundedCounter):
    """Forgets the bound."""

    def _increment(self) -> bool:
        self._count.set(self._count.get() + 1)
        return True


class CounterPort:
    def __init__(self, counter_class: type[BoundedCounter] = BoundedCounter) -> None:
        self._class = counter_class
        self._counter = counter_class(0)

    def perform(self, call: CounterCall) -> CounterObservation:
        if isinstance(call, Reset):
            self._counter = self._class(call.config.bound)
            return CounterObservation()
        if isinstance(call, Increment):
            return CounterObservation(counted=self._counter.increment())
        return CounterObservation(value=self._counter.value())


def serve() -> ServedComponent:
    return served(DEFINITION, CounterPort())


SERVE = serve
