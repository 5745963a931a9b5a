"""Where records wait for the sender, in batches: RecordAccumulator."""

from wheelproof.producer.batch_draining import BatchDraining
from wheelproof.producer.batch_ending import BatchEnding
from wheelproof.producer.errors import ProducerAbortedError
from wheelproof.producer.partition_queues import PartitionQueue
from wheelproof.producer.producer_batch import ProducerBatch
from wheelproof.producer.record_appending import RecordAppending


class RecordAccumulator(RecordAppending, BatchDraining, BatchEnding):
    """Batches of records for many partitions, in the memory of a pool.

    Any number of threads may append, flush and close. One thread, the sender, does everything else.

    A flush also waits for the records of batches that are split meanwhile (KAFKA-9312), and the
    memory of a batch goes back to the pool only when no request can be reading it any more
    (KAFKA-19012), as in Kafka since these were mended. Unlike Kafka's, the callbacks of a partition
    run in the order of its appends also when batches expire or are aborted;
    docs/findings-producer.md has the counterexamples.
    TLA+: RecordAccumulator.
    """

    def begin_flush(self) -> None:
        """Make everything ready, until `await_flush_completion` returns (semantics.md 4.8)."""
        self._flushes_in_progress.add_and_get(1)

    def await_flush_completion(self) -> None:
        """Wait for every record that has been accepted up to now.

        Raises ThreadInterruptedError if interrupted; the flush is over in any case.
        TLA+: AwaitFlush of RecordAccumulator.
        """
        try:
            self._await_incomplete()
        finally:
            self._flushes_in_progress.add_and_get(-1)

    def close(self) -> None:
        """Accept no more records; what is queued becomes ready (semantics.md 4.9).

        TLA+: Close of RecordAccumulator.
        """
        self._closed.set(True)
        self._free.close()

    def abort_incomplete_batches(self) -> None:
        """End every batch by a ProducerAbortedError (semantics.md 4.10).

        Goes on until no append is under way, so it ends only if the accumulator has been closed or
        nobody appends without end. Kafka spins meanwhile; this waits.
        TLA+: Abort of RecordAccumulator.
        """
        appending = True
        while appending:
            completed = self._appends_in_progress.completed()
            self._abort_batches()
            appending = self._appends_in_progress.await_another(completed)
        # The last of them may have made a batch after the others were aborted.
        self._abort_batches()

    def has_undrained(self) -> bool:
        """Tell whether a batch waits in a queue."""
        for queue in self._queues.all().values():
            with queue.monitor:
                if queue.batches:
                    return True
        return False

    def has_incomplete(self) -> bool:
        """Tell whether a record has been accepted and has no outcome yet."""
        return not self._incomplete.is_empty()

    def _await_incomplete(self) -> None:
        for result in self._incomplete.request_results():
            result.await_all()

    def _abort_batches(self) -> None:
        error = ProducerAbortedError("the producer was closed by force")
        for batch in self._in_order_of_appends(self._incomplete.copy_all()):
            queue = self._queues.get_or_create(batch.partition)
            with queue.monitor:
                batch.close_for_record_appends()
                self._remove_from_queue(queue, batch)
            self._in_flight.pop(batch, None)
            batch.abort(error)
            self.deallocate(batch)

    def _remove_from_queue(self, queue: PartitionQueue, batch: ProducerBatch) -> None:
        if batch in queue.batches:
            queue.batches.remove(batch)
