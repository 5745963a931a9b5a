"""The load of an accumulator: callers that append and flush, beside a sender."""

import random
from itertools import count

from wheelproof.producer import BufferPool, RecordAccumulator
from wheelproof.topic_partition import TopicPartition
from wheelproof_spec.components.accumulator.component import AccumulatorConfig
from wheelproof_spec.components.accumulator.recording.calls import RecordedAccumulator
from wheelproof_spec.components.accumulator.recording.sender import Sender
from wheelproof_spec.components.accumulator.reference import reference_config
from wheelproof_spec.history.recording.callers import Callers
from wheelproof_spec.history.recording.load_recorder import LoadRecorder

_OTHER = TopicPartition("other", 2)
_PARTITIONS = (TopicPartition("topic", 0), TopicPartition("topic", 1), _OTHER)
_BATCH_SIZE = 512
_BACKOFF_MS = 2
_LONG_MS, _SHORT_MS = 60_000, 30
_LONGEST_VALUE = 200
_LONGEST_BLOCK_MS = 50


class AccumulatorLoad:
    """A load of an accumulator with a pool of its own.

    If the callers are hurried, batches expire, and it is closed by force during appends.
    """

    def __init__(self, *, hurried: bool) -> None:
        self._hurried = hurried
        self.config = AccumulatorConfig(
            total_memory=16 * _BATCH_SIZE,
            batch_size=_BATCH_SIZE,
            linger_ms=2,
            retry_backoff_ms=_BACKOFF_MS,
            retry_backoff_max_ms=_BACKOFF_MS,
            delivery_timeout_ms=_SHORT_MS if hurried else _LONG_MS,
            topics={str(_OTHER): _OTHER.topic},
            callbacks="in_order",
            gives_back="at_once",
        )

    def run(self, recorder: LoadRecorder, callers: Callers) -> None:
        """Use the accumulator until every record has been called back."""
        pool = BufferPool(self.config.total_memory, _BATCH_SIZE)
        accumulator = RecordAccumulator(pool, reference_config(self.config))
        recorded = RecordedAccumulator(accumulator, pool, recorder, _PARTITIONS)
        sender = Sender(recorded, callers.seed)
        calls, last = count(), callers.operations * 9 // 10

        def act(dice: random.Random, _: int) -> None:
            if next(calls) == last and self._hurried:
                recorded.close()
                sender.abort()
            _act(recorded, dice)

        sender.start()
        try:
            callers.act(act)
            if not self._hurried:
                recorded.flush()
                recorded.close()
        finally:
            sender.finish()
        recorded.look()


def _act(recorded: RecordedAccumulator, dice: random.Random) -> None:
    choice = dice.randrange(200)
    if choice == 0:
        recorded.flush()
    elif choice < 3:
        recorded.look()
    else:
        partition, size = dice.choice(_PARTITIONS), dice.randrange(_LONGEST_VALUE)
        recorded.append(partition, size, dice.randrange(_LONGEST_BLOCK_MS))


def load(callers: Callers) -> AccumulatorLoad:
    """Return the load of one history."""
    return AccumulatorLoad(hurried=callers.hurried)
