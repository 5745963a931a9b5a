"""The sender and its broker on one thread: ready, drain, answer, in the order of Kafka's Sender.

Of each partition one batch is in flight.
"""

import random
import time

from wheelproof import sync
from wheelproof.producer import ProducerBatch
from wheelproof_spec.components.accumulator.recording.calls import RecordedAccumulator
from wheelproof_spec.engines.history.recording.callers import LoadFailedError

_MAX_SIZE = 700
"""Less than two full batches: some partition is passed over."""
_PAUSE_S = 0.0002


class Sender:
    """Serves an accumulator until it is told to finish, or to give up."""

    def __init__(self, recorded: RecordedAccumulator, seed: int) -> None:
        self._recorded = recorded
        self._dice = random.Random(seed)
        self._in_flight: list[ProducerBatch] = []
        self._thread = sync.thread(self._work, "sender")
        self._finishing = self._aborting = False
        self._failure: BaseException | None = None

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def abort(self) -> None:
        """Let it give up everything that is incomplete."""
        self._aborting = True

    def finish(self) -> None:
        """Let it end what is incomplete, and wait for that; raises LoadFailedError if it cannot."""
        self._finishing = True
        self._thread.join()
        if self._failure is not None:
            raise LoadFailedError(f"the sender failed: {self._failure!r}") from self._failure

    def _work(self) -> None:
        try:
            self._serve()
        except BaseException as failure:
            self._failure = failure
            # Nobody is to wait for it.
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
                # Their responses come all the same.
                recorded.store(batch)

    def _answer_some(self) -> None:
        """Answer most of what is in flight; a few responses come when more has been drained."""
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
