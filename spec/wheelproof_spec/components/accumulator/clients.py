"""The producers and the sender of a recorded accumulator, for bursts and loads."""

from collections import Counter
from collections.abc import Callable
from itertools import count

from wheelproof.producer import RecordAccumulator
from wheelproof_spec.base.calls import AvailableMemory
from wheelproof_spec.base.codec.vocabulary import Wire
from wheelproof_spec.components.accumulator.calls import (
    Append,
    Callback,
    Drain,
    Drained,
    DrainedBatch,
    FlushInProgress,
    HasIncomplete,
    Mute,
    Partition,
    Readiness,
    Ready,
    Reenqueue,
    Respond,
)
from wheelproof_spec.components.accumulator.component import AccumulatorConfig
from wheelproof_spec.components.accumulator.port import (
    AccumulatorAnswer,
    AccumulatorRequest,
    RecordAccumulatorPort,
)
from wheelproof_spec.history.recording.load_recorder import LoadRecorder, RecordedPort


class Clients:
    """An accumulator whose calls are recorded; one thread makes the sender's calls."""

    def __init__(
        self,
        config: AccumulatorConfig,
        recorder: LoadRecorder,
        accumulator_class: type[RecordAccumulator] = RecordAccumulator,
    ) -> None:
        """Make the accumulator."""
        self.port = RecordAccumulatorPort(
            config, self._called_back, Wire.RECORDED, accumulator_class
        )
        self._calls = RecordedPort(self.port, recorder)
        self._recorder = recorder
        self._records = count()
        self._then: dict[str, Callable[[], object]] = {}
        self._offsets: Counter[Partition] = Counter()

    def perform(self, call: AccumulatorRequest) -> AccumulatorAnswer | None:
        """Make and record a call; see `RecordedPort.perform`."""
        return self._calls.perform(call)

    # Calls of any thread

    def append(
        self,
        partition: Partition,
        size: int,
        max_time_to_block_ms: int,
        then: Callable[[], object] | None = None,
    ) -> None:
        """Append a record of `size` bytes with a unique name; its callback ends with `then`."""
        name = f"r{next(self._records)}"
        if then is not None:
            self._then[name] = then
        append = Append(
            record=name,
            partition=partition,
            size=size,
            max_time_to_block_ms=max_time_to_block_ms,
        )
        self.perform(append)

    def read_gauges(self) -> None:
        """Ask for all three."""
        for gauge in (AvailableMemory(), HasIncomplete(), FlushInProgress()):
            self.perform(gauge)

    # The sender's calls

    def is_ready(self, asked: Ready, node: int) -> bool:
        """Ask which nodes are ready; tell whether this one is."""
        answer = self.perform(asked)
        assert isinstance(answer, Readiness)
        return node in answer.ready_nodes

    def drain(self, asked: Drain) -> tuple[DrainedBatch, ...]:
        """Drain a node."""
        answer = self.perform(asked)
        assert isinstance(answer, Drained)
        return answer.batches

    def drain_and_mute(self, asked: Drain) -> tuple[DrainedBatch, ...]:
        """Drain a node, and mute the partitions of what was drained."""
        drained = self.drain(asked)
        for batch in drained:
            self.perform(Mute(partition=batch.partition))
        return drained

    def answer(self, batch: DrainedBatch, how: str) -> None:
        """Answer a batch: stored at the next offset of its partition, failed, or again."""
        match how:
            case "again":
                self.perform(Reenqueue(batch=batch.batch))
            case "failed":
                self.perform(Respond(batch=batch.batch))
            case _:
                offset = self._offsets[batch.partition]
                self._offsets[batch.partition] += len(batch.records)
                self.perform(Respond(batch=batch.batch, offset=offset))

    def _called_back(self, callback: Callback) -> None:
        """Record a callback, and make its call."""
        self._recorder.begins(callback)
        then = self._then.pop(callback.record, None)
        if then is not None:
            then()
