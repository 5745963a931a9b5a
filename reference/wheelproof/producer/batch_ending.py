"""How batches end, or get another try (semantics.md 4.5 - 4.7)."""

from collections.abc import Iterable

from wheelproof.producer.accumulator_state import AccumulatorState
from wheelproof.producer.errors import DeliveryTimeoutError, IllegalStateError
from wheelproof.producer.producer_batch import ProducerBatch
from wheelproof.units import Millis


def _place(batch: ProducerBatch) -> tuple[int, ...]:
    return batch.place


class BatchEnding(AccumulatorState):
    """The part of a record accumulator that hears how requests went, and what is too late."""

    def complete_batch(self, batch: ProducerBatch, base_offset: int) -> bool:
        """Take note of a response: stored at `base_offset`; False if it had failed before.

        TLA+: Complete of RecordAccumulator.
        """
        self._require_in_flight(batch)
        self._request_is_over(batch)
        return self._ended(batch, batch.complete(base_offset))

    def fail_batch(self, batch: ProducerBatch, error: Exception) -> bool:
        """Take note of a response with an error that is final; False if it had failed before.

        TLA+: Fail of RecordAccumulator.
        """
        self._require_in_flight(batch)
        self._request_is_over(batch)
        return self._ended(batch, batch.complete_exceptionally(error))

    def reenqueue(self, batch: ProducerBatch, now_ms: Millis) -> None:
        """Take note of a response after which the batch is tried again (semantics.md 4.6).

        Raises IllegalStateError if the batch has ended or is not in flight.
        TLA+: Reenqueue of RecordAccumulator.
        """
        self._require_to_be_tried_again(batch)
        self._request_is_over(batch)
        batch.reenqueued(now_ms)
        queue = self._queues.get_or_create(batch.partition)
        with queue.monitor:
            queue.batches.appendleft(batch)

    def split_and_reenqueue(self, batch: ProducerBatch) -> int:
        """Take note of a response that calls the batch too large (semantics.md 4.6).

        Its records go to the head of the queue in smaller batches, the number of which is returned.
        Raises IllegalStateError if the batch has ended, is not in flight or has one record only.
        TLA+: Split of RecordAccumulator.
        """
        self._require_to_be_tried_again(batch)
        children = batch.split(self.config.batch_size)
        self._request_is_over(batch)
        for child in reversed(children):
            # Incomplete before the parent leaves: a flush finds one or the other.
            self._incomplete.add(child)
            queue = self._queues.get_or_create(batch.partition)
            with queue.monitor:
                queue.batches.appendleft(child)
        self.deallocate(batch)
        return len(children)

    def expired_batches(self, now_ms: Millis) -> list[ProducerBatch]:
        """Return what can no longer be delivered in time, queued or in flight (semantics.md 4.5).

        What was queued is taken out. The caller hands each batch to `expire`, in this order and
        outside every monitor. TLA+: Expire of RecordAccumulator.
        """
        expired = [batch for batch in self._in_flight if self._has_expired(batch, now_ms)]
        for queue in self._queues.all().values():
            with queue.monitor:
                while queue.batches and self._has_expired(queue.batches[0], now_ms):
                    batch = queue.batches.popleft()
                    batch.close_for_record_appends()
                    expired.append(batch)
        return self._in_order_of_appends(expired)

    def expire(self, batch: ProducerBatch) -> bool:
        """End a batch whose time is over, by a DeliveryTimeoutError.

        If it is in flight, its memory comes back with the response.
        """
        self._in_flight.pop(batch, None)
        error = DeliveryTimeoutError(
            f"records for {batch.partition} were not delivered within "
            f"{self.config.delivery_timeout_ms} ms"
        )
        return self._ended(batch, batch.complete_exceptionally(error))

    def deallocate(self, batch: ProducerBatch) -> None:
        """Forget a batch that has ended, and give its memory back (semantics.md 4.7).

        Raises IllegalStateError if the batch is not incomplete.
        """
        self._incomplete.remove(batch)
        self._give_memory_back(batch)

    def in_flight(self) -> tuple[ProducerBatch, ...]:
        """Return the batches that wait for a response and have not ended; the sender's to ask."""
        return tuple(self._in_flight)

    def _has_expired(self, batch: ProducerBatch, now_ms: Millis) -> bool:
        return batch.has_reached_delivery_timeout(self.config.delivery_timeout_ms, now_ms)

    def _request_is_over(self, batch: ProducerBatch) -> None:
        batch.in_flight = False
        self._in_flight.pop(batch, None)

    def _ended(self, batch: ProducerBatch, now: bool) -> bool:
        if now:
            self.deallocate(batch)
        else:
            # It had expired or been aborted on its way; only its memory was still kept.
            self._give_memory_back(batch)
        return now

    def _give_memory_back(self, batch: ProducerBatch) -> None:
        if self._may_be_read(batch):
            return
        buffer, batch.buffer = batch.buffer, None
        if not batch.is_split_batch:
            self._free.deallocate(buffer)

    def _may_be_read(self, batch: ProducerBatch) -> bool:
        return batch.in_flight

    def _require_in_flight(self, batch: ProducerBatch) -> None:
        if not batch.in_flight:
            raise IllegalStateError(f"no request with this batch of {batch.partition} is under way")

    def _require_to_be_tried_again(self, batch: ProducerBatch) -> None:
        self._require_in_flight(batch)
        if batch.is_done():
            raise IllegalStateError(f"the batch of {batch.partition} has ended: fail it instead")

    def _in_order_of_appends(self, batches: Iterable[ProducerBatch]) -> list[ProducerBatch]:
        """Sort batches that are going to end, for the order of a partition's callbacks (4.11)."""
        return sorted(batches, key=_place)
