"""The sender and its broker on one thread: ready, drain, answer, in the order of Kafka's Sender.

Of each partition one batch is in flight.
"""

import random
import time
from collections import Counter
from collections.abc import Sequence
from functools import partial
from itertools import count

from wheelproof import sync
from wheelproof.clock import SystemClock
from wheelproof.producer import (
    Cluster,
    DeliveryTimeoutError,
    NodeId,
    ProducerAbortedError,
    ProducerBatch,
    RecordAccumulator,
    RecordMetadata,
    TopicPartition,
)
from wheelproof_spec.components.accumulator.events import (
    BatchAsked,
    CallbackAsked,
    DrainAnswer,
    DrainedBatch,
    PartitionAsked,
)
from wheelproof_spec.engines.history.recording.callers import LoadFailedError
from wheelproof_spec.engines.history.recording.load_recorder import NOTHING, LoadRecorder

_NODE = NodeId(0)
_MOST_BYTES = 1_500
_PAUSE_S = 0.0002


class RefusedByBrokerError(Exception):
    """The error of a batch that the broker does not take."""


class NamedCallback:
    """The callback of a record, which knows its name."""

    __slots__ = ("_recorder", "record")

    def __init__(self, record: str, recorder: LoadRecorder) -> None:
        self.record = record
        self._recorder = recorder

    def __call__(self, metadata: RecordMetadata | None, error: Exception | None) -> None:
        """Take note of what became of the record."""
        told = CallbackAsked(
            record=self.record,
            offset=None if metadata is None or error is not None else metadata.offset,
            error=None if error is None else _reason(error),
        )
        self._recorder.begins("callback", told)


class Sender:
    """Serves an accumulator until it is told to finish, or to give up."""

    def __init__(
        self,
        accumulator: RecordAccumulator,
        recorder: LoadRecorder,
        partitions: Sequence[TopicPartition],
        seed: int,
    ) -> None:
        self._accumulator = accumulator
        self._recorder = recorder
        self._cluster = Cluster(leaders=dict.fromkeys(partitions, _NODE))
        self._clock = SystemClock()
        self._dice = random.Random(seed)
        self._offsets: Counter[TopicPartition] = Counter()
        self._in_flight: list[ProducerBatch] = []
        self._numbers = count()
        self._names: dict[ProducerBatch, str] = {}
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
            self._accumulator.close()
            self._accumulator.abort_incomplete_batches()

    def _serve(self) -> None:
        accumulator = self._accumulator
        while not self._aborting and not (self._finishing and not accumulator.has_incomplete()):
            self._send()
            time.sleep(self._dice.random() * _PAUSE_S)
            self._answer_some()
            self._recorder.do("expire", NOTHING, self._expire)
        if self._aborting:
            self._recorder.do("abort", NOTHING, accumulator.abort_incomplete_batches)
            for batch in self._in_flight:
                # Their responses come all the same.
                self._store(batch)

    def _send(self) -> None:
        accumulator, now_ms = self._accumulator, self._clock.hi_res_clock_ms()
        ready = accumulator.ready(self._cluster, now_ms).ready_nodes
        taken: list[ProducerBatch] = []

        def drain() -> DrainAnswer:
            drained = accumulator.drain(self._cluster, ready, _MOST_BYTES, now_ms)
            taken.extend(drained.get(_NODE, ()))
            return DrainAnswer(batches=tuple(map(self._described, taken)))

        self._recorder.call("drain", NOTHING, drain)
        for batch in taken:
            asked = PartitionAsked(partition=str(batch.partition))
            self._recorder.do("mute", asked, partial(accumulator.mute_partition, batch.partition))
            self._in_flight.append(batch)

    def _answer_some(self) -> None:
        """Answer most of what is in flight; a few responses come when more has been drained."""
        accumulator = self._accumulator
        for batch in list(self._in_flight):
            if self._dice.randrange(3) == 0:
                continue
            self._in_flight.remove(batch)
            self._answer(batch, self._dice.randrange(100))
            asked = PartitionAsked(partition=str(batch.partition))
            self._recorder.do(
                "unmute", asked, partial(accumulator.unmute_partition, batch.partition)
            )

    def _answer(self, batch: ProducerBatch, outcome: int) -> None:
        accumulator, asked = self._accumulator, BatchAsked(batch=self._names[batch])
        if outcome < 10 and not batch.is_done():
            now_ms = self._clock.hi_res_clock_ms()
            self._recorder.do("reenqueue", asked, lambda: accumulator.reenqueue(batch, now_ms))
        elif outcome < 15:
            self._recorder.do(
                "respond", asked, lambda: accumulator.fail_batch(batch, RefusedByBrokerError())
            )
        else:
            self._store(batch)

    def _store(self, batch: ProducerBatch) -> None:
        offset = self._offsets[batch.partition]
        self._offsets[batch.partition] += len(batch.thunks)
        self._recorder.do(
            "respond",
            BatchAsked(batch=self._names[batch]),
            lambda: self._accumulator.complete_batch(batch, offset),
        )

    def _expire(self) -> None:
        accumulator = self._accumulator
        for batch in accumulator.expired_batches(self._clock.hi_res_clock_ms()):
            accumulator.expire(batch)

    def _described(self, batch: ProducerBatch) -> DrainedBatch:
        if batch not in self._names:
            self._names[batch] = f"b{next(self._numbers)}"
        callbacks = (thunk.callback for thunk in batch.thunks)
        return DrainedBatch(
            batch=self._names[batch],
            partition=str(batch.partition),
            records=tuple(one.record for one in callbacks if isinstance(one, NamedCallback)),
        )


def _reason(error: Exception) -> str:
    match error:
        case DeliveryTimeoutError():
            return "Expired"
        case ProducerAbortedError():
            return "Aborted"
        case _:
            return type(error).__name__
