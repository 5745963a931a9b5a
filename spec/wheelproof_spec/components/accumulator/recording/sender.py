"""The sender and its broker on one thread, which does what the work asks of it over and over.

At most one batch of each partition is in flight.
"""

import time
from collections.abc import Sequence

from wheelproof import sync
from wheelproof.producer import ProducerBatch
from wheelproof_spec.components.accumulator.calls import Drain, Expire, Ready
from wheelproof_spec.components.accumulator.recording.calls import RecordedAccumulator
from wheelproof_spec.components.accumulator.work import RespondToOne
from wheelproof_spec.history.recording.callers import LoadFailedError
from wheelproof_spec.history.recording.work import Make, Pause


class Sender:
    """The thread that serves an accumulator until it is told to finish or to abort."""

    def __init__(self, recorded: RecordedAccumulator, steps: Sequence[Make | Pause]) -> None:
        self._recorded = recorded
        self._steps = steps
        self._in_flight: list[ProducerBatch] = []
        self._is_ready = False
        self._thread = sync.thread(self._work, "sender")
        self._finishing = self._aborting = False
        self._failure: BaseException | None = None

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def abort(self) -> None:
        """Make the sender abort all incomplete batches."""
        self._aborting = True

    def finish(self) -> None:
        """Let the sender end all batches, and wait for it; raises LoadFailedError if it failed."""
        self._finishing = True
        self._thread.join()
        if self._failure is not None:
            raise LoadFailedError(f"the sender failed: {self._failure!r}") from self._failure

    def _work(self) -> None:
        try:
            self._serve()
        except BaseException as failure:
            self._failure = failure
            # No caller may wait for a sender that has failed.
            self._recorded.accumulator.close()
            self._recorded.accumulator.abort_incomplete_batches()

    def _serve(self) -> None:
        while not self._is_over():
            for step in self._steps:
                if self._is_over():
                    break
                self._do(step)
        if self._aborting:
            self._recorded.abort()
            for batch in self._in_flight:
                # The responses to aborted batches still arrive.
                self._recorded.store(batch)

    def _is_over(self) -> bool:
        finished = self._finishing and not self._recorded.accumulator.has_incomplete()
        return self._aborting or (finished and not self._in_flight)

    def _do(self, step: Make | Pause) -> None:
        if isinstance(step, Pause):
            time.sleep(step.us / 1e6)
            return
        match step.call:
            case Ready():
                self._is_ready = self._recorded.is_ready(step.call)
            case Drain(max_size=max_size):
                self._in_flight += self._recorded.drain_and_mute(max_size, ready=self._is_ready)
            case RespondToOne(batch=number, answer=answer):
                if self._in_flight:
                    batch = self._in_flight.pop(number % len(self._in_flight))
                    self._answer(batch, answer)
                    self._recorded.unmute(batch)
            case _:
                assert isinstance(step.call, Expire)
                self._recorded.expire()

    def _answer(self, batch: ProducerBatch, answer: str) -> None:
        if answer == "again" and not batch.is_done():
            self._recorded.reenqueue(batch)
        elif answer == "failed":
            self._recorded.fail(batch)
        else:
            self._recorded.store(batch)
