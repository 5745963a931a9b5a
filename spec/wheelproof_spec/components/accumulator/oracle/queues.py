"""The sender's part of the oracle: the queues of the partitions, and the batches in flight."""

from collections import deque
from collections.abc import Collection, Iterator, Mapping

from wheelproof_spec.components.accumulator.calls import (
    NEVER_MS,
    Append,
    Drain,
    DrainedBatch,
    Partition,
)
from wheelproof_spec.components.accumulator.oracle.batches import Batch, Rules
from wheelproof_spec.components.accumulator.oracle.readiness import Outlook
from wheelproof_spec.components.accumulator.oracle.records import upper_bound


class Queues:
    """The batches of an accumulator; its clock shows `now_ms`."""

    def __init__(self, rules: Rules) -> None:
        """Begin with empty queues."""
        self.rules = rules
        self.now_ms = rules.config.start_ms
        self.in_flight: dict[str, Batch] = {}
        self._queues: dict[Partition, deque[Batch]] = {}
        self._muted: set[Partition] = set()
        self._passes: dict[int, tuple[tuple[Partition, ...], dict[Partition, int]]] = {}

    # Appends

    def has_room(self, call: Append) -> bool | None:
        """Tell whether the last batch of the partition has room for the record; None: not known."""
        queue = self._queues.get(call.partition)
        return queue[-1].has_room(call.size) if queue else False

    def lacks_room(self, call: Append) -> None:
        """Close the last batch of the partition to appends if it has no room for the record."""
        queue = self._queues.get(call.partition)
        if not queue:
            return
        room = queue[-1].has_room(call.size)
        if room is False:
            queue[-1].closed = True
        elif room is None:
            queue[-1].told_full = None

    def close_last(self, partition: Partition) -> None:
        """Close the last batch of the partition to appends."""
        queue = self._queues.get(partition)
        if queue:
            queue[-1].closed = True

    def why_not_wait(self, call: Append, *, closed: bool) -> str | None:
        """Return why an append has nothing to wait for; None: it may wait (standard 3.9)."""
        behind = bool(self._queues.get(call.partition)) and not self.has_room(call)
        if self.rules.leave_waiting is not None and behind:
            self.rules.leave_waiting()
            self.close_last(call.partition)
            return None
        needed, free = self.rules.memory_for(call.size), self.free_memory()
        in_vain = closed or needed <= free
        return f"closed: {closed}; {needed} bytes of {free}" if in_vain else None

    def begin_batch(self, call: Append) -> None:
        """Add a new batch for a record."""
        self.close_last(call.partition)
        batch = Batch(
            partition=call.partition,
            limit=self.rules.memory_for(call.size),
            created_ms=self.now_ms,
            last_attempt_ms=self.now_ms,
            measured=self.rules.measured,
        )
        self._queues.setdefault(call.partition, deque()).append(batch)

    def put(self, call: Append, told_full: bool | None) -> tuple[Batch, bool | None]:
        """Put a record into the last batch; return the batch, and whether a batch is full now.

        `told_full` is what the implementation says about a full batch.
        """
        queue = self._queues[call.partition]
        last = queue[-1]
        last.put(call.record, call.size)
        last.told_full = told_full if len(queue) == 1 else None
        return last, last.is_full() if len(queue) == 1 or not last.measured else True

    # The sender

    def ready(self, leaders: Mapping[Partition, int], *, hurried: bool) -> Outlook:
        """Return which nodes are ready, and how long the other queues have to wait."""
        outlook = Outlook()
        for partition, queue in self._queues.items():
            leader = leaders.get(partition)
            head = self._head(partition)
            if leader is None and queue:
                outlook.topics.add(self.rules.config.topic_of(partition))
            elif leader is not None and head is not None:
                sendable = self._is_sendable(partition, hurried=hurried)
                if sendable:
                    outlook.nodes.add(leader)
                    continue
                if sendable is None:
                    outlook.perhaps.add(leader)
                outlook.waits.append((leader, self.rules.time_left_ms(head, self.now_ms)))
        return outlook

    def drain(self, call: Drain, seen: tuple[DrainedBatch, ...], *, hurried: bool) -> str | None:
        """Take the drained batches; return what is wrong with them in words, or None.

        `hurried` says whether a batch need not linger (standard 4.2).
        """
        taken: set[Partition] = set()
        least = most = 0
        for drained in seen:
            partition = drained.partition
            head = self._head(partition) if partition in call.partitions else None
            if (
                head is None
                or self.rules.is_backing_off(head, self.now_ms)
                or partition in taken
                or tuple(head.records) != drained.records
                or drained.batch in self.in_flight
                or self._lingers(partition, hurried=hurried)
            ):
                wrong = f"{drained.batch} has {list(drained.records)}"
                return f"{wrong}, which are no head of a queue of {list(call.partitions)}"
            if taken and least + head.least > call.max_size:
                return f"{drained.batch} makes the request larger than {call.max_size} bytes"
            head.closed = True
            least += head.least
            most += head.most
            taken.add(partition)
            self.in_flight[drained.batch] = self._queues[partition].popleft()
        left = [partition for partition in call.partitions if partition not in taken]
        if taken and any(self._may_stop(partition, call.max_size - most) for partition in left):
            return None
        for head in map(self._drainable, left):
            if head is not None:
                where = f"partition {head.partition}"
                return f"{where} has {head.records} to send, and nothing was taken"
        return None

    def passed_over(self, call: Drain, seen: tuple[DrainedBatch, ...]) -> Partition | None:
        """Mute the partitions of the drain; return a partition that was passed over too often.

        As long as a node leads the same partitions, its drains pass over a drainable partition at
        most once for each of the other partitions (standard 4.3).
        """
        taken = {drained.partition for drained in seen}
        led, counts = self._passes.get(call.node, ((), {}))
        before = counts if led == call.partitions else {}
        counts = {
            partition: before.get(partition, 0) + 1
            for partition in call.partitions
            if partition not in taken and self._drainable(partition) is not None
        }
        self._passes[call.node] = call.partitions, counts
        self._muted |= taken
        too_often = (
            partition for partition, count in counts.items() if count >= len(call.partitions)
        )
        return next(too_often, None)

    def answered(self, name: str) -> Batch:
        """Remove a batch from those in flight, and unmute its partition."""
        batch = self.in_flight.pop(name)
        self._muted.discard(batch.partition)
        return batch

    def reenqueue(self, name: str) -> None:
        """Put a batch in flight back at the head of its queue for another attempt."""
        batch = self.answered(name)
        batch.attempts += 1
        batch.last_attempt_ms = self.now_ms
        self._queues[batch.partition].appendleft(batch)

    def split(self, name: str, size: int, sizes: Mapping[str, int]) -> int:
        """Split a batch into batches of `size` bytes; return how many; `sizes` has record sizes."""
        batch = self.answered(name)
        parts: list[Batch] = []
        for record in batch.records:
            if not parts or not parts[-1].has_room(sizes[record]):
                part = Batch(
                    partition=batch.partition,
                    limit=max(size, upper_bound(sizes[record])),
                    created_ms=batch.created_ms,
                    last_attempt_ms=batch.created_ms,
                    pooled=False,
                )
                parts.append(part)
            parts[-1].put(record, sizes[record])
        for part in reversed(parts):
            part.closed = True
            self._queues[batch.partition].appendleft(part)
        return len(parts)

    def ending(self, *, late_alone: bool, told: Collection[str] = ()) -> Iterator[Batch]:
        """Yield the batches that end: those queued, then those in flight, which keep their memory.

        If it is not known whether a batch is late, it ends if its first record is in `told`.
        """

        def ends(batch: Batch) -> bool:
            late = not late_alone or self.rules.is_late(batch, self.now_ms)
            return batch.records[0] in told if late is None else late

        for queue in self._queues.values():
            for batch in [queued for queued in queue if ends(queued)]:
                queue.remove(batch)
                yield batch
        for batch in self.in_flight.values():
            if not batch.ended and ends(batch):
                yield batch

    # Queries

    def splittable(self) -> tuple[str, ...]:
        """Return the batches in flight that can be split."""
        return tuple(
            name
            for name, batch in self.in_flight.items()
            if not batch.ended and len(batch.records) > 1
        )

    def head_sizes(self, partitions: Collection[Partition]) -> list[int]:
        """Return the least size of the next batch of each partition that has one."""
        heads = map(self._head, partitions)
        return [head.least for head in heads if head is not None]

    def unfinished(self) -> bool:
        """Tell whether anything is queued or in flight."""
        return bool(self.in_flight) or self.is_any_queued()

    def is_any_queued(self) -> bool:
        """Tell whether a batch is queued."""
        return any(self._queues.values())

    def is_any_incomplete(self) -> bool:
        """Tell whether a batch has not ended."""
        return self.is_any_queued() or any(not batch.ended for batch in self.in_flight.values())

    def next_expiry_ms(self) -> int:
        """Return when the oldest batch that has not ended expires (standard 4.5)."""
        queued = (batch for queue in self._queues.values() for batch in queue)
        flying = (batch for batch in self.in_flight.values() if not batch.ended)
        return min(map(self.rules.expires_ms, (*queued, *flying)), default=NEVER_MS)

    def free_memory(self) -> int:
        """Return the memory that no batch holds, in bytes."""
        queued = (batch for queue in self._queues.values() for batch in queue)
        held = sum(batch.limit for batch in (*queued, *self.in_flight.values()) if batch.pooled)
        return self.rules.config.total_memory - held

    def _is_sendable(self, partition: Partition, *, hurried: bool) -> bool | None:
        first = self._head(partition)
        backing_off = first is None or self.rules.is_backing_off(first, self.now_ms)
        if first is None or backing_off:
            return False
        full = len(self._queues[partition]) > 1 or first.is_full()
        lingered = self.rules.has_lingered(first, self.now_ms)
        if hurried or full or lingered:
            return None if backing_off is None else True
        return None if full is None or lingered is None else False

    def _drainable(self, partition: Partition) -> Batch | None:
        """Return the head of a queue, if it is surely neither muted nor backing off."""
        head = self._head(partition)
        sure = head is not None and self.rules.is_backing_off(head, self.now_ms) is False
        if self.rules.drains_what_is_ready:
            sure = self._is_sendable(partition, hurried=False) is True
        return head if sure else None

    def _lingers(self, partition: Partition, *, hurried: bool) -> bool:
        """Tell whether a drain that leaves what lingers has to leave the head of a queue."""
        rules = self.rules
        return rules.drains_what_is_ready and self._is_sendable(partition, hurried=hurried) is False

    def _may_stop(self, partition: Partition, room: int) -> bool:
        """Tell whether a drain with `room` bytes left may stop at this partition.

        A drain may begin at any partition, and stops at the first head that does not fit. Later
        heads stay in their queues, even smaller ones (standard 4.3).
        """
        head = self._head(partition)
        if head is None or self.rules.is_backing_off(head, self.now_ms):
            return False
        return head.most > room

    def _head(self, partition: Partition) -> Batch | None:
        """Return the head of a queue, unless its partition is muted."""
        queue = self._queues.get(partition)
        return None if not queue or partition in self._muted else queue[0]
