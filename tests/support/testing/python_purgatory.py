"""The reference's purgatory, as the machine of `wheelproof_spec.testing` calls it."""

import threading
from collections.abc import Sequence

from wheelproof.clock import ManualClock
from wheelproof.purgatory import DelayedOperation, DelayedOperationPurgatory
from wheelproof.sync import DeferredExecutor
from wheelproof.timer import SystemTimer
from wheelproof.units import Millis
from wheelproof_spec.testing import PythonOperation


class ReferencePurgatory:
    """A DelayedOperationPurgatory whose clock only `advance` moves; expiries run in the call."""

    purgatory_class: "type[DelayedOperationPurgatory[_Waiting]]" = DelayedOperationPurgatory

    def __init__(self, tick_ms: int, wheel_size: int, start_ms: int, purge_interval: int) -> None:
        self._clock = ManualClock(start_ms)
        self._executor = DeferredExecutor()
        self._expires = threading.Lock()
        timer = SystemTimer(
            "under test",
            tick_ms=tick_ms,
            wheel_size=wheel_size,
            clock=self._clock,
            executor=self._executor,
        )
        self._purgatory = self.purgatory_class(
            "under test", timer, purge_interval=purge_interval, shards=2, reaper_enabled=False
        )
        self._waiting: dict[str, _Waiting] = {}

    def try_complete_else_watch(
        self, operation: PythonOperation, watch_keys: Sequence[str]
    ) -> bool:
        """Hand an operation of the reference in, which calls the given one."""
        waiting = self._waiting[operation.name] = _Waiting(operation)
        completed = self._purgatory.try_complete_else_watch(waiting, watch_keys)
        self._expire()
        return completed

    def check_and_complete(self, key: str) -> int:
        """Try the operations of a key."""
        return self._purgatory.check_and_complete(key)

    def cancel_for_key(self, key: str) -> list[PythonOperation]:
        """Give the operations of a key up."""
        return [waiting.operation for waiting in self._purgatory.cancel_for_key(key)]

    def force_complete(self, operation: PythonOperation) -> bool:
        """Complete an operation."""
        return self._waiting[operation.name].force_complete()

    def watched(self) -> int:
        """Return the number of watches."""
        return self._purgatory.watched()

    def num_delayed(self) -> int:
        """Return how many operations wait for their time-outs."""
        return self._purgatory.num_delayed()

    def num_keys(self) -> int:
        """Return how many keys have a list."""
        return self._purgatory.num_keys()

    def advance(self, to_ms: int) -> None:
        """Move the clock, then the timer, which purges."""
        self._clock.advance_to(to_ms)
        self._purgatory.advance_clock(Millis(0))
        self._expire()

    def close(self) -> None:
        """Shut the purgatory down."""
        self._purgatory.close()

    def _expire(self) -> None:
        # Not inside the timer: an expiry waits for its operation, and who has that may cancel.
        with self._expires:
            self._executor.run_pending()


class _Waiting(DelayedOperation):
    __slots__ = ("operation",)

    def __init__(self, operation: PythonOperation) -> None:
        super().__init__(operation.delay_ms)
        self.operation = operation

    def try_complete(self) -> bool:
        return self.operation.predicate() and self.force_complete()

    def on_complete(self) -> None:
        self.operation.on_complete()

    def on_expiration(self) -> None:
        self.operation.on_expiration()
