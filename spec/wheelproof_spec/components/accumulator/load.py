"""Callers that append and flush; a sender is beside them."""

import random
from itertools import count

from wheelproof.producer import (
    AccumulatorConfig,
    BufferPool,
    Record,
    RecordAccumulator,
    TopicPartition,
)
from wheelproof_spec.components.accumulator.events import (
    AccumulatorSettings,
    AppendAnswer,
    AppendAsked,
)
from wheelproof_spec.components.accumulator.sender import NamedCallback, Sender
from wheelproof_spec.components.buffer_pool.events import (
    MemoryAnswer,
)
from wheelproof_spec.engines.history.recording.callers import Callers
from wheelproof_spec.engines.history.recording.load_recorder import NOTHING, LoadRecorder

_PARTITIONS = tuple(TopicPartition("topic", number) for number in range(3))
_BATCH_SIZE = 512
_TOTAL = 16 * _BATCH_SIZE
_LINGER_MS = 2
_BACKOFF_MS = 2
_LONG_MS, _SHORT_MS = 60_000, 30
_LONGEST_VALUE = 200
_LONGEST_BLOCK_MS = 50


class AccumulatorLoad:
    """An accumulator over a pool of its own.

    If the callers are hurried, batches expire, and it is closed by force while others append.
    """

    def __init__(self, *, hurried: bool) -> None:
        self._hurried = hurried
        self._names = count()
        self._pool = BufferPool(_TOTAL, _BATCH_SIZE)
        self._accumulator = RecordAccumulator(
            self._pool,
            AccumulatorConfig(
                batch_size=_BATCH_SIZE,
                linger_ms=_LINGER_MS,
                retry_backoff_ms=_BACKOFF_MS,
                retry_backoff_max_ms=_BACKOFF_MS,
                delivery_timeout_ms=_SHORT_MS if hurried else _LONG_MS,
            ),
        )

    @property
    def config(self) -> AccumulatorSettings:
        """The settings of the accumulator, and what it claims."""
        return AccumulatorSettings(
            batch_size=_BATCH_SIZE,
            total=_TOTAL,
            linger_ms=_LINGER_MS,
            delivery_timeout_ms=self._accumulator.config.delivery_timeout_ms,
            callbacks="in_order",
            gives_back="at_once",
        )

    def run(self, recorder: LoadRecorder, callers: Callers) -> None:
        """Use the accumulator until every record has been called back."""
        accumulator = self._accumulator
        sender = Sender(accumulator, recorder, _PARTITIONS, callers.seed)
        calls, last = count(), callers.operations * 9 // 10

        def act(dice: random.Random, _: int) -> None:
            if next(calls) == last and self._hurried:
                recorder.do("close", NOTHING, accumulator.close)
                sender.abort()
            self._act(recorder, dice)

        sender.start()
        try:
            callers.act(act)
            if not self._hurried:
                self._flush(recorder)
                recorder.do("close", NOTHING, accumulator.close)
        finally:
            sender.finish()

    def _act(self, recorder: LoadRecorder, dice: random.Random) -> None:
        choice, pool = dice.randrange(200), self._pool
        if choice == 0:
            self._flush(recorder)
        elif choice < 5:
            recorder.call(
                "available_memory", NOTHING, lambda: MemoryAnswer(bytes=pool.available_memory())
            )
        else:
            self._append(recorder, dice)

    def _append(self, recorder: LoadRecorder, dice: random.Random) -> None:
        name, partition = f"r{next(self._names)}", dice.choice(_PARTITIONS)
        value, block_ms = bytes(dice.randrange(_LONGEST_VALUE)), dice.randrange(_LONGEST_BLOCK_MS)

        def append() -> AppendAnswer:
            result = self._accumulator.append(
                partition,
                Record(timestamp_ms=0, value=value),
                NamedCallback(name, recorder),
                max_time_to_block_ms=block_ms,
            )
            return AppendAnswer(
                batch_is_full=result.batch_is_full, new_batch=result.new_batch_created
            )

        asked = AppendAsked(
            record=name, partition=str(partition), bytes=len(value), max_block_ms=block_ms
        )
        recorder.call("append", asked, append)

    def _flush(self, recorder: LoadRecorder) -> None:
        def flush() -> None:
            self._accumulator.begin_flush()
            self._accumulator.await_flush_completion()

        recorder.do("flush", NOTHING, flush)
