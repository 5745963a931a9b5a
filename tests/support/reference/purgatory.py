"""Operations and purgatories for tests, on a manual clock unless said otherwise."""

import threading
from collections.abc import Callable, Hashable

from wheelproof.clock import ManualClock
from wheelproof.purgatory import (
    CompletionDiscipline,
    DelayedOperation,
    DelayedOperationPurgatory,
)
from wheelproof.sync import DeferredExecutor
from wheelproof.timer import SystemTimer
from wheelproof.units import Millis

STUCK_AFTER_S = 120.0
NEVER_MS = 1_000_000


class Operation(DelayedOperation):
    """Ends when `ready` is set; counts its callbacks, and raises where it is told to."""

    __slots__ = ("checks", "completed", "expired", "raises_in_check", "raises_in_complete", "ready")

    def __init__(
        self, delay_ms: int = NEVER_MS, discipline: CompletionDiscipline | None = None
    ) -> None:
        super().__init__(delay_ms, discipline=discipline)
        self.ready = False
        self.checks = 0
        self.completed = 0
        self.expired = 0
        self.raises_in_check: int | None = None
        """The number of the check that raises, the first being 1."""
        self.raises_in_complete = False

    def try_complete(self) -> bool:
        """Test `ready`."""
        self.checks += 1
        if self.checks == self.raises_in_check:
            raise ValueError("the predicate raises")
        return self.ready and self.force_complete()

    def on_complete(self) -> None:
        """Count."""
        self.completed += 1
        if self.raises_in_complete:
            raise ValueError("the callback raises")

    def on_expiration(self) -> None:
        """Count."""
        self.expired += 1


class CallingOperation(Operation):
    """Calls a function when it is completed."""

    __slots__ = ("_on_complete",)

    def __init__(self, delay_ms: int, on_complete: Callable[[], None]) -> None:
        super().__init__(delay_ms)
        self._on_complete = on_complete

    def on_complete(self) -> None:
        """Count and call."""
        super().on_complete()
        self._on_complete()


class Bench:
    """A purgatory without a reaper, its clock, and an executor that runs when told."""

    def __init__(self, purge_interval: int = 1_000) -> None:
        self.clock = ManualClock()
        self.executor = DeferredExecutor()
        timer = SystemTimer("tested", clock=self.clock, executor=self.executor)
        self.purgatory = DelayedOperationPurgatory[Operation](
            "tested", timer, purge_interval=purge_interval, reaper_enabled=False
        )

    def watched(self, *keys: Hashable, delay_ms: int = NEVER_MS) -> Operation:
        """Return a new operation that waits."""
        operation = Operation(delay_ms)
        assert not self.purgatory.try_complete_else_watch(operation, keys)
        return operation

    def advance(self, duration_ms: int) -> None:
        """Let time pass, expire and purge."""
        self.clock.advance(duration_ms)
        self.purgatory.advance_clock(Millis(0))
        self.executor.run_pending()

    def contents(self) -> tuple[int, int, int]:
        """Return the numbers of watches, keys and time-outs."""
        purgatory = self.purgatory
        return purgatory.watched(), purgatory.num_keys(), purgatory.num_delayed()


def await_event(event: threading.Event) -> None:
    """Wait until another thread has set the event."""
    assert event.wait(STUCK_AFTER_S), "nobody sets the event"


def run_threads(*bodies: Callable[[], None]) -> None:
    """Run each body on a thread of its own, all at once, until all have ended."""
    threads = [threading.Thread(target=body, daemon=True) for body in bodies]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(STUCK_AFTER_S)
    assert not any(thread.is_alive() for thread in threads), "a thread does not end"
