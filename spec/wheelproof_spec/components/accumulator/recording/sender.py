"""The sender and its broker on one thread: ready, drain, answer, in the order of Kafka's Sender.

At most one batch of each partition is in flight.
"""

import random
import time

from wheelproof import sync
from wheelproof.producer import ProducerBatch
from wheelproof_spec.components.accumulator.recording.calls import RecordedAccumulator
from wheelproof_spec.history.recording.callers import LoadFailedError

_MAX_SIZE = 700
"""Less than two full batches, so a drain passes over some partition."""
_PAUSE_S = 0.0002


class Sender:
    """The thread that serves an accumulator until it is told to finish or to abort."""

    def __init__(self, recorded: RecordedAccumulator, seed: int) -> None:
        self._recorded = recorded
        self._dice = random.Random(seed)
        self._in_flight: list[ProducerBatch] = []
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
        recorded, accumulator = self._recorded, self._recorded.accumulator
        while not self._aborting and not (self._finishing and not accumulator.has_incomplete()):
            self._in_flight += recorded.drain_ready(_MAX_SIZE)
            time.sleep(self._dice.random() * _PAUSE_S)
            self._answer_some()
            recorded.expire()
        if self._aborting:
            recorded.abort()
            for batch in self._in_flight:
                # The responses to aborted batches still arrive.
                recorded.store(batch)

    def _answer_some(self) -> None:
        """Answer most batches in flight; the other responses come after a later drain."""
        for batch in list(self._in_flight):
            if self._dice.randrange(3) == 0:
                continue
            self._in_flight.remove(batch)
            self._answer(batch, self._dice.randrange(100))
            self._recorded.unmute(batch)

    def _answer(self, batch: ProducerBatch, outcome: int) -> None:
        if outcome < 10 and not batch.is_done():
            self._recorded.reenqueue(batch)
        elif outcome < 15:
            self._recorded.fail(batch)
        else:
            self._recorded.store(batch)
