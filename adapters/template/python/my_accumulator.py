from adapter import serve


class Batch:
    """Records that are sent together; it was made, or put back, at `since_ms`."""

    def __init__(self, partition: int, since_ms: int) -> None:
        self.partition, self.since_ms = partition, since_ms
        self.records: list[str] = []
        self.size, self.attempts, self.is_open = 0, 0, True


class Mine:
    """Your accumulator, seen from outside; each test case makes a new one.

    This one has no threads and no pool. If an append or a flush of yours blocks, run it on a thread
    of its own and leave it there; `happened` waits until each thread waits or has ended.
    """

    def __init__(
        self,
        batch_size: int,
        linger_ms: int,
        retry_backoff_ms: int,
        retry_backoff_max_ms: int,
        start_ms: int,
        **_: object,
    ) -> None:
        """Make an accumulator whose clock shows `start_ms`."""
        self.batch_size, self.linger_ms, self.now_ms = batch_size, linger_ms, start_ms
        self.backoff_ms, self.longest_backoff_ms = retry_backoff_ms, retry_backoff_max_ms
        self.closed = False
        self.queues: dict[int, list[Batch]] = {}
        self.in_flight: dict[str, Batch] = {}
        self.drained = 0
        self.again: dict[str, tuple[int, int]] = {}  # Records whose callback sends once more.
        self.flushes: dict[str, set[str]] = {}  # The records that each flush waits for.
        self.called_back: list[object] = []
        self.appended: list[object] = []
        self.refused: dict[str, str] = {}

    def append(
        self, record: str, partition: int, size: int, max_time_to_block_ms: int, callback: str = ""
    ) -> None:
        """Append a record; a `callback` that raises keeps nobody else from being told."""
        if self.closed:
            self.refused[record] = "closed"
            return
        queue = self.queues.setdefault(partition, [])
        full = bool(queue) and (not queue[-1].is_open or queue[-1].size + size > self.batch_size)
        is_new = full or not queue
        if full:
            queue[-1].is_open = False
        if is_new:
            queue.append(Batch(partition, self.now_ms))
        last = queue[-1]
        last.records.append(record)
        last.size += size
        last.is_open = last.size < self.batch_size
        if callback == "sends_again":
            self.again[record] = partition, size
        is_full = len(queue) > 1 or not last.is_open
        told = {"record": record, "batch_is_full": is_full, "new_batch_created": is_new}
        self.appended.append(told)

    def drain(self, node: int, partitions: list[int], max_size: int) -> dict[str, object]:
        """Take the first batch of each partition that can be sent; mute these partitions."""
        muted = {batch.partition for batch in self.in_flight.values()}
        taken: list[object] = []
        for partition in partitions:
            queue = self.queues.get(partition, [])
            if partition in muted or not self.is_ready(queue):
                continue
            self.drained += 1
            batch, name = queue.pop(0), f"b{self.drained}"
            batch.is_open = False
            self.in_flight[name] = batch
            taken.append({"batch": name, "partition": partition, "records": batch.records})
        return {"batches": taken}

    def respond(self, batch: str, offset: int | None = None) -> None:
        """End a batch: it is stored from `offset` on, or it failed; unmute its partition."""
        self.end(self.in_flight.pop(batch), offset, "Failed")

    def reenqueue(self, batch: str) -> None:
        """Put a batch back for another attempt; unmute its partition."""
        again = self.in_flight.pop(batch)
        again.attempts += 1
        again.since_ms = self.now_ms
        self.queues[again.partition].insert(0, again)

    def flush(self, flush: str) -> None:
        """Begin to wait for all records that have not been called back."""
        self.flushes[flush] = {record for batch in self.all_batches() for record in batch.records}

    def advance(self, to_ms: int) -> None:
        """Set the clock to `to_ms`."""
        self.now_ms = to_ms

    def close(self) -> None:
        """Close; nothing is accepted any more."""
        self.closed = True

    def abort(self) -> None:
        """End all batches; those in flight are still responded to."""
        batches = self.all_batches()
        self.queues = {partition: [] for partition in self.queues}
        for batch in batches:
            self.end(batch, None, "Aborted")

    def happened(self) -> dict[str, object]:
        """Return what has happened since the last answer."""
        done = [name for name, awaited in self.flushes.items() if not awaited]
        for name in done:
            del self.flushes[name]
        told: dict[str, object] = {
            "called_back": self.called_back,
            "appended": self.appended,
            "refused": self.refused,
            "flushed": dict.fromkeys(done, False),  # None of them was interrupted.
            "flush_in_progress": bool(self.flushes),
            "has_undrained": any(self.queues.values()),
            "has_incomplete": any(batch.records for batch in self.all_batches()),
        }
        self.called_back, self.appended, self.refused = [], [], {}
        return told

    def is_ready(self, queue: list[Batch]) -> bool:
        """Tell whether the first batch can be sent: neither backing off nor lingering."""
        if not queue:
            return False
        first = queue[0]
        waited_ms = self.now_ms - first.since_ms
        doubled_ms = self.backoff_ms << max(first.attempts - 1, 0)
        if first.attempts and waited_ms < min(doubled_ms, self.longest_backoff_ms):
            return False
        hurried = self.closed or bool(self.flushes)
        return hurried or len(queue) > 1 or not first.is_open or waited_ms >= self.linger_ms

    def all_batches(self) -> list[Batch]:
        """Return the batches in flight and in the queues, the oldest of a partition first."""
        return [*self.in_flight.values(), *(one for queue in self.queues.values() for one in queue)]

    def end(self, batch: Batch, offset: int | None, error: str) -> None:
        """Call back the records of a batch, which are told once."""
        records, batch.records = batch.records, []
        for place, record in enumerate(records):
            at = None if offset is None else offset + place
            told = {"record": record, "offset": at, "error": error if at is None else None}
            self.called_back.append(told)
            for awaited in self.flushes.values():
                awaited.discard(record)
            if record in self.again:
                partition, size = self.again.pop(record)
                self.append(record + "'", partition, size, 0)


if __name__ == "__main__":
    serve(
        "my-accumulator 0.1",
        "accumulator",
        "wheelproof",
        ["exact_time", "close", "flush", "reenqueue", "many_batches"],
        Mine,
    )
