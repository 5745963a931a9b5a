"""Pictures of an accumulator's driven case: the deques, the batches in flight, and the pool."""

from wheelproof.producer import ProducerBatch, RecordAccumulator
from wheelproof.producer.buffer_pool import BufferPoolUsage
from wheelproof_spec.base.codec.driven import DrivenWire
from wheelproof_spec.base.drawing import Markup, chip, shelf
from wheelproof_spec.base.strict_json import JsonObject
from wheelproof_spec.components.accumulator.component import DEFINITION, AccumulatorObservation
from wheelproof_spec.components.accumulator.port import records_of
from wheelproof_spec.components.accumulator.reference import ReferenceAccumulatorPort
from wheelproof_spec.components.buffer_pool.view import memory_bar

_WIRE = DrivenWire(DEFINITION)


class AccumulatorView:
    """A view that follows a case on the reference's accumulator."""

    def __init__(self, profile: str) -> None:
        del profile
        self._port = _VisibleAccumulator()
        self._seen = AccumulatorObservation()

    def perform(self, operation: str, content: JsonObject, answer: JsonObject) -> JsonObject:
        """Make a call and return what the reference answers; see `CaseView`."""
        del answer
        call = _WIRE.parse_call(operation, content)
        self._seen = AccumulatorObservation()
        self._seen = self._port.perform(call)
        return _WIRE.answer(call, self._seen)

    def picture(self) -> Markup:
        """Return the deques, their heads on the left, and the ledger of the pool."""
        port = self._port
        rows = [shelf("clock", [chip(f"{port.now_ms():,} ms")])]
        rows += [
            shelf(f"partition {number}", [chip(batch) for batch in batches], "empty")
            for number, batches in port.deques()
        ]
        called_back = [
            f"{callback.record}: {'stored' if callback.error is None else callback.error}"
            for callback in self._seen.called_back
        ]
        rows += [
            shelf("in flight", [chip(batch, "flies") for batch in port.in_flight()]),
            shelf("waits", [chip(name) for name in port.waiting()], "nobody"),
            shelf("called back in this step", [chip(told, "done") for told in called_back]),
            memory_bar(port.usage(), []),
        ]
        return Markup("").join(rows)


class _OpenAccumulator(RecordAccumulator):
    def deques(self) -> list[tuple[int, tuple[ProducerBatch, ...]]]:
        return sorted(
            (partition.partition, tuple(queue.batches))
            for partition, queue in self._queues.all().items()
        )


class _VisibleAccumulator(ReferenceAccumulatorPort):
    def __init__(self) -> None:
        super().__init__(_OpenAccumulator)

    def now_ms(self) -> int:
        return self._clock.hi_res_clock_ms()

    def usage(self) -> BufferPoolUsage:
        return self._port.pool.usage()

    def waiting(self) -> tuple[str, ...]:
        return tuple(self._threads)

    def in_flight(self) -> list[str]:
        return [f"{name}: {self._contents(self._port.batch(name))}" for name in self._requests]

    def deques(self) -> list[tuple[int, list[str]]]:
        accumulator = self._port.accumulator
        found = accumulator.deques() if isinstance(accumulator, _OpenAccumulator) else []
        return [(number, [self._contents(batch) for batch in batches]) for number, batches in found]

    def _contents(self, batch: ProducerBatch) -> str:
        names = " ".join(records_of(batch))
        return f"{names or 'no record'} ({batch.estimated_size_in_bytes():,} B)"


VIEW = AccumulatorView
