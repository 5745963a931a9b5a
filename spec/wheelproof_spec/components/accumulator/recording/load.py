"""The reference's accumulator under the work that every accumulator is given."""

from dataclasses import replace
from functools import partial

from wheelproof.producer import BufferPool, RecordAccumulator
from wheelproof.topic_partition import TopicPartition
from wheelproof_spec.base.calls import AvailableMemory
from wheelproof_spec.base.component import Config
from wheelproof_spec.components.accumulator.calls import (
    Append,
    Flush,
    HasIncomplete,
)
from wheelproof_spec.components.accumulator.component import AccumulatorConfig
from wheelproof_spec.components.accumulator.recording.calls import RecordedAccumulator
from wheelproof_spec.components.accumulator.recording.sender import Sender
from wheelproof_spec.components.accumulator.recording.work import work
from wheelproof_spec.components.accumulator.reference import reference_config
from wheelproof_spec.components.accumulator.work import CloseAll
from wheelproof_spec.history.recording.callers import Callers
from wheelproof_spec.history.recording.load_recorder import LoadRecorder
from wheelproof_spec.history.recording.work import Make, do_work


class AccumulatorLoad:
    """An accumulator with a pool of its own, and its sender.

    If the callers are hurried, batches expire, and it is closed by force during appends.
    """

    def __init__(self, callers: Callers) -> None:
        self._work = work(callers)
        assert isinstance(self._work.config, AccumulatorConfig)
        self._settings = self._work.config
        appends = (step.call for step in self._work.steps if isinstance(step, Make))
        names = {str(call.partition) for call in appends if isinstance(call, Append)}
        self._partitions = {name: _partition(name) for name in names}

    @property
    def config(self) -> Config:
        """The settings of the accumulator, and what it claims."""
        return replace(self._settings, callbacks="in_order", gives_back="at_once")

    def run(self, recorder: LoadRecorder, callers: Callers) -> None:
        """Use the accumulator until every record has been called back."""
        pool = BufferPool(self._settings.total_memory, self._settings.batch_size)
        accumulator = RecordAccumulator(pool, reference_config(self._settings))
        recorded = RecordedAccumulator(accumulator, pool, recorder, self._partitions.values())
        sender = Sender(recorded, self._work.serving)
        sender.start()
        try:
            do_work(self._work, callers, partial(self._make, recorded, sender))
        finally:
            sender.finish()
        recorded.look()

    def _make(self, recorded: RecordedAccumulator, sender: Sender, step: Make) -> None:
        match step.call:
            case Append(partition=partition):
                recorded.append_named(step.call, self._partitions[str(partition)])
            case Flush():
                recorded.flush()
            case CloseAll(by_force=by_force):
                recorded.close()
                if by_force:
                    sender.abort()
            case AvailableMemory():
                recorded.available_memory()
            case HasIncomplete():
                recorded.has_incomplete()
            case _:
                recorded.flush_in_progress()


def _partition(name: str) -> TopicPartition:
    """Return the partition of a name as Kafka writes it."""
    topic, _, number = name.rpartition("-")
    return TopicPartition(topic, int(number))


def load(callers: Callers) -> AccumulatorLoad:
    """Return the load of one history."""
    return AccumulatorLoad(callers)
