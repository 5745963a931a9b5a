"""The result of a batch: what many futures and flushes wait for.

Records, flushes and closes wait for the same event, so it is one object that all of them share.

>>> from wheelproof.clock import ManualClock
>>> from wheelproof.producer.accumulator.produce_request_result import ProduceRequestResult
>>> result = ProduceRequestResult(ManualClock())
>>> result.completed()
False
>>> result.done(42, None, None)
>>> result.outcome()
(42, None, None)

Invariants:

- It is done once and for good; what it holds does not change afterwards.
- What waits for all is done only when the batches that a split has made are done, too.
"""

from typing import Annotated

from wheelproof import sync
from wheelproof.clock import Clock
from wheelproof.sync import GuardedBy
from wheelproof.units import Millis


class ProduceRequestResult:
    """Set once, and then done for good (standard 4.11).

    A batch that was split is done at the split, but its records are not: `await_all` waits for the
    batches that they went to as well (KAFKA-9312).
    """

    __slots__ = (
        "_clock",
        "_dependents",
        "_done",
        "_is_done",
        "_lock",
        "base_offset",
        "error",
        "log_append_time_ms",
    )

    base_offset: Annotated[int, GuardedBy("_lock")]
    log_append_time_ms: Annotated[int | None, GuardedBy("_lock")]
    error: Annotated[Exception | None, GuardedBy("_lock")]

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = sync.lock("ProduceRequestResult.lock")
        self._done = sync.condition(self._lock, "ProduceRequestResult.done")
        self._is_done: Annotated[bool, GuardedBy("_lock")] = False
        self._dependents: Annotated[tuple[ProduceRequestResult, ...], GuardedBy("_lock")] = ()

    def done(
        self,
        base_offset: int,
        error: Exception | None,
        dependents: "tuple[ProduceRequestResult, ...]" = (),
        log_append_time_ms: int | None = None,
    ) -> None:
        """Publish the result: the offset of the first record, or an error.

        `log_append_time_ms` is when the broker appended, if the topic's records take that time.
        `dependents` are the results of the batches into which this one was split.
        """
        with self._lock:
            self.base_offset = base_offset
            self.log_append_time_ms = log_append_time_ms
            self.error = error
            self._dependents = dependents
            self._is_done = True
            self._done.notify_all()

    def completed(self) -> bool:
        """Tell whether the result is there."""
        with self._lock:
            return self._is_done

    def outcome(self) -> tuple[int, int | None, Exception | None]:
        """Return base offset, time of the append and error; only once the result is there."""
        with self._lock:
            return self.base_offset, self.log_append_time_ms, self.error

    def await_done(self, deadline_ms: int | None = None) -> bool:
        """Wait until the result is there, or the clock shows `deadline_ms`; tell whether it is.

        Raises ThreadInterruptedError if interrupted.
        """
        with self._lock:
            while not self._is_done:
                if deadline_ms is None:
                    self._done.wait()
                elif self._clock.hi_res_clock_ms() >= deadline_ms:
                    return False
                else:
                    self._clock.wait_until(self._lock, self._done, Millis(deadline_ms))
            return True

    def await_all(self) -> None:
        """Wait for the results of all records, wherever a split has put them (standard 4.8)."""
        pending: list[ProduceRequestResult] = [self]
        while pending:
            result = pending.pop()
            result.await_done()
            pending.extend(result.dependents())

    def dependents(self) -> "tuple[ProduceRequestResult, ...]":
        """Return the results of the batches into which this one was split."""
        with self._lock:
            return self._dependents
