"""The oracle's accumulator: queues of batches, what is in flight, and what each record got.

It follows an implementation: after each call it is told what was appended, drained and told to
whom, and answers whether the rules allow that in this state (semantics.md 4). Records, batches and
flushes have names. How many bytes a record takes is asked of `RecordSizes`. TLA+:
RecordAccumulator.
"""

from collections import deque
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from wheelproof_spec.base.violation import Violation


class AccumulatorClause(StrEnum):
    """What an accumulator is judged by; a violation names one of them as its rule."""

    COMPLETES_ONCE = "Accumulator.RecordCompletesExactlyOnce"
    IN_ORDER = "Accumulator.CallbacksInTheOrderOfTheAppends"
    RIGHT_OUTCOME = "Accumulator.RecordGetsTheOutcomeOfItsBatch"
    APPEND_FINDS_ROOM = "Accumulator.AppendUsesTheLastBatchIfItHasRoom"
    APPEND_ENDS_FOR_A_REASON = "Accumulator.AppendEndsForAReason"
    NO_APPEND_WAITS_IN_VAIN = "Accumulator.NoAppendWaitsForWhatIsThere"
    DRAINS_THE_HEADS = "Accumulator.DrainTakesTheHeadsOfTheQueues"
    DRAIN_IS_FAIR = "Accumulator.DrainPassesNobodyOverForLong"
    SPLITS_BY_SIZE = "Accumulator.SplitMakesBatchesOfTheSize"
    READY_TELLS_THE_TRUTH = "Accumulator.ReadyTellsTheTruth"
    EXPIRES_IN_TIME = "Accumulator.ExpiresWhatIsLate"
    FLUSH_WAITS = "Accumulator.FlushWaitsForWhatWasAccepted"
    FLUSH_ENDS = "Accumulator.FlushEndsAndCountsNoMore"
    NOTHING_IS_LEFT = "Accumulator.NothingThatEndedIsLeft"
    MEMORY_IS_CONSERVED = "Accumulator.MemoryIsConserved"
    NOT_OVERWRITTEN = "Accumulator.ARequestIsNotOverwritten"
    KEEPS_TO_ITS_DOMAIN = "Accumulator.KeepsToItsDomain"


@dataclass(frozen=True, slots=True, kw_only=True)
class AccumulatorContract:
    """What an accumulator promises beyond what all do.

    With `ends_in_order` the callbacks of a partition run in the order of its appends also when
    batches expire or are aborted, queued and in flight at once.
    """

    name: str
    ends_in_order: bool


WHEELPROOF_ACCUMULATOR = AccumulatorContract(name="wheelproof", ends_in_order=True)
"""What the reference promises."""

KAFKA_ACCUMULATOR = AccumulatorContract(name="kafka", ends_in_order=False)
"""What Kafka does (docs/findings.md)."""


class AppendOutcome(StrEnum):
    """How an append ended."""

    ACCEPTED = "accepted"
    EXHAUSTED = "exhausted"
    CLOSED = "closed"
    INTERRUPTED = "interrupted"
    FAILED = "failed"


class RecordOutcome(StrEnum):
    """What a record's callback was told."""

    STORED = "stored"
    FAILED = "failed"
    EXPIRED = "expired"
    ABORTED = "aborted"


class RecordSizes(Protocol):
    """How many bytes records take, given the size of their payloads."""

    def empty_batch(self) -> int:
        """Return the size of a batch without records."""
        ...

    def in_batch(self, number: int, payload: int) -> int:
        """Return what a record takes that has `number` records before it."""
        ...

    def upper_bound(self, payload: int) -> int:
        """Return what a batch of one record never exceeds."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class AccumulatorRules:
    """The configuration; sizes in bytes, times in milliseconds."""

    total_memory: int
    batch_size: int
    linger_ms: int
    retry_backoff_ms: int
    retry_backoff_max_ms: int
    delivery_timeout_ms: int


@dataclass(frozen=True, slots=True)
class Appended:
    """An append that has ended; whether a batch is full, and whether one is new."""

    record: str
    outcome: AppendOutcome
    full: bool = False
    new_batch: bool = False

    def __str__(self) -> str:
        full = ", its batch is full" if self.full else ""
        new_batch = ", its batch is new" if self.new_batch else ""
        return f"append of {self.record!r}: {self.outcome}{full}{new_batch}"


@dataclass(frozen=True, slots=True)
class Told:
    """A callback that was called."""

    record: str
    outcome: RecordOutcome
    offset: int | None = None

    def __str__(self) -> str:
        where = "" if self.offset is None else f" at offset {self.offset}"
        return f"{self.record!r} is told: {self.outcome}{where}"


@dataclass(slots=True)
class Batch:
    """A batch that has not ended, or whose memory is still kept."""

    partition: int
    limit: int
    written: int
    created_ms: int
    last_attempt_ms: int
    records: list[str] = field(default_factory=list[str])
    attempts: int = 0
    closed: bool = False
    pooled: bool = True
    ended: bool = False


@dataclass(slots=True)
class _Pending:
    partition: int
    payload: int
    deadline_ms: int
    may_fail: bool


class BatchLedger:
    """An accumulator whose operations are instantaneous."""

    def __init__(
        self,
        rules: AccumulatorRules,
        sizes: RecordSizes,
        start_ms: int,
        contract: AccumulatorContract = WHEELPROOF_ACCUMULATOR,
    ) -> None:
        """Make an empty accumulator whose clock shows `start_ms` milliseconds."""
        self.rules = rules
        self._contract = contract
        self.now_ms = start_ms
        self.closed = False
        self.muted: set[int] = set()
        self.in_flight: dict[str, Batch] = {}
        self.queues: dict[int, deque[Batch]] = {}
        self.pending: dict[str, _Pending] = {}
        self.flushes: dict[str, set[str]] = {}
        # Who came later into batches that a flush waits for; after a split they may end later, too.
        self._companions: dict[str, set[str]] = {}
        self.unsettled: dict[int, list[str]] = {}
        self.interrupted: set[str] = set()
        self._sizes = sizes
        self._payloads: dict[str, int] = {}
        self._passes: dict[int, tuple[tuple[int, ...], dict[int, int]]] = {}
        self._expected: dict[str, tuple[RecordOutcome, int | None]] = {}

    def append(
        self, record: str, partition: int, payload: int, timeout_ms: int, *, may_fail: bool
    ) -> None:
        """A thread asks for a record to be taken."""
        self._payloads[record] = payload
        deadline_ms = self.now_ms + timeout_ms
        self.pending[record] = _Pending(partition, payload, deadline_ms, may_fail)
        queue = self.queues.setdefault(partition, deque())
        if not self.closed and queue and not self._has_room(queue[-1], payload):
            queue[-1].closed = True

    def refuse(self, record: str, partition: int, payload: int) -> None:
        """A record that can never be taken was refused; the batch that lacked room is closed."""
        self.append(record, partition, payload, 0, may_fail=True)
        del self.pending[record]

    def observe_append(self, seen: Appended) -> Violation | None:
        """An append has ended; in the order in which they did."""
        pending = self.pending.pop(seen.record, None)
        if pending is None:
            return self._wrong(AccumulatorClause.APPEND_ENDS_FOR_A_REASON, "it waits", str(seen))
        if seen.outcome is not AppendOutcome.ACCEPTED:
            return self._refused(seen, pending)
        queue = self.queues[pending.partition]
        roomy = bool(queue) and self._has_room(queue[-1], pending.payload)
        if self.closed or roomy == seen.new_batch:
            expected = f"closed: {self.closed}, room in the last batch: {roomy}"
            return self._wrong(AccumulatorClause.APPEND_FINDS_ROOM, expected, str(seen))
        if seen.new_batch:
            if queue:
                queue[-1].closed = True
            queue.append(self._batch(pending.partition, pending.payload, self.rules.batch_size))
        batch = queue[-1]
        for name, awaited in self.flushes.items():
            if not awaited.isdisjoint(batch.records):
                self._companions[name].add(seen.record)
        batch.written += self._sizes.in_batch(len(batch.records), pending.payload)
        batch.records.append(seen.record)
        self.unsettled.setdefault(pending.partition, []).append(seen.record)
        full = len(queue) > 1 or self._is_full(batch)
        if full != seen.full:
            return self._wrong(AccumulatorClause.APPEND_FINDS_ROOM, f"full: {full}", str(seen))
        return None

    def drain(
        self, partitions: Sequence[int], most: int, seen: Mapping[str, tuple[str, ...]]
    ) -> str | None:
        """Take what was drained for a node that leads `partitions`, of `most` bytes.

        Returns what is wrong with it in words, or None.
        """
        size = 0
        drained: list[Batch] = []
        for name, records in seen.items():
            batch = self._head_with(partitions, records)
            if batch is None:
                wrong = f"{name} has {list(records)}"
                return f"{wrong}, which are no head of a queue of {list(partitions)}"
            if drained and size + batch.written > most:
                return f"{name} makes the request larger than {most} bytes"
            self.queues[batch.partition].popleft()
            batch.closed = True
            size += batch.written
            drained.append(batch)
            self.in_flight[name] = batch
        taken = {batch.partition for batch in drained}
        for partition in partitions:
            head = self._drainable(partition) if partition not in taken else None
            if head is not None and (not drained or size + head.written <= most):
                return f"partition {partition} has {head.records} to send, and nothing was taken"
        return None

    def passed_over(self, node: int, partitions: Sequence[int], taken: Set[int]) -> int | None:
        """Return a partition that `node` has passed over too often, after it took from `taken`.

        As long as a node leads the same partitions, it passes over one that could be drained at
        most once for each of the others (semantics.md 4.3).
        """
        led, counts = self._passes.get(node, ((), {}))
        before = counts if led == tuple(partitions) else {}
        counts = {
            partition: before.get(partition, 0) + 1
            for partition in partitions
            if partition not in taken and self._drainable(partition) is not None
        }
        self._passes[node] = tuple(partitions), counts
        return next((one for one, count in counts.items() if count >= len(partitions)), None)

    def ready(self, leaders: Mapping[int, int]) -> tuple[set[int], bool]:
        """Return the nodes that are ready, and whether a leader is missing."""
        nodes: set[int] = set()
        unknown = False
        for partition, queue in self.queues.items():
            if not queue:
                continue
            leader = leaders.get(partition)
            if leader is None:
                unknown = True
            elif partition not in self.muted and self._is_sendable(queue):
                nodes.add(leader)
        return nodes, unknown

    def finish(self, name: str, outcome: RecordOutcome, offset: int | None = None) -> None:
        """The response to a batch in flight is final; its memory is free."""
        batch = self.in_flight.pop(name)
        if not batch.ended:
            self._end(batch, outcome, offset)

    def retry(self, name: str) -> None:
        """The response to a batch in flight asks for another attempt."""
        batch = self.in_flight.pop(name)
        batch.attempts += 1
        batch.last_attempt_ms = self.now_ms
        self.queues[batch.partition].appendleft(batch)

    def split(self, name: str, size: int) -> int:
        """The response to a batch in flight asks for batches of `size` bytes: returns how many."""
        batch = self.in_flight.pop(name)
        children: list[Batch] = []
        for record in batch.records:
            payload = self._payloads[record]
            if not children or not self._has_room(children[-1], payload):
                child = self._batch(batch.partition, payload, size)
                child.created_ms = child.last_attempt_ms = batch.created_ms
                child.pooled = False
                children.append(child)
            children[-1].written += self._sizes.in_batch(len(children[-1].records), payload)
            children[-1].records.append(record)
        for child in reversed(children):
            child.closed = True
            self.queues[batch.partition].appendleft(child)
        return len(children)

    def expire(self) -> None:
        """What is too late ends, queued or in flight."""
        for queue in self.queues.values():
            while queue and self._is_late(queue[0]):
                self._end(queue.popleft(), RecordOutcome.EXPIRED, None)
        for batch in self.in_flight.values():
            if not batch.ended and self._is_late(batch):
                self._end(batch, RecordOutcome.EXPIRED, None)

    def abort(self) -> None:
        """Everything ends; the memory of what is in flight is kept for its response."""
        for queue in self.queues.values():
            while queue:
                self._end(queue.popleft(), RecordOutcome.ABORTED, None)
        for batch in self.in_flight.values():
            if not batch.ended:
                self._end(batch, RecordOutcome.ABORTED, None)

    def flush(self, name: str) -> None:
        """A thread waits for what has been accepted."""
        self.flushes[name] = {record for queue in self.unsettled.values() for record in queue}
        self._companions[name] = set()

    def observe_told(self, seen: Told) -> Violation | None:
        """A callback was called; in the order in which they were."""
        expected = self._expected.pop(seen.record, None)
        if expected is None:
            clause = _clause_of(seen.outcome)
            return self._wrong(clause, "no callback for it now", str(seen))
        if expected != (seen.outcome, seen.offset):
            return self._wrong(
                AccumulatorClause.RIGHT_OUTCOME, str(Told(seen.record, *expected)), str(seen)
            )
        for records in self.unsettled.values():
            if seen.record in records:
                if records[0] != seen.record and self._in_order(seen.outcome):
                    expected_first = f"{records[0]!r}, appended before, is told first"
                    return self._wrong(AccumulatorClause.IN_ORDER, expected_first, str(seen))
                records.remove(seen.record)
        for awaited in (*self.flushes.values(), *self._companions.values()):
            awaited.discard(seen.record)
        return None

    def observe_flushed(self, name: str, *, interrupted: bool) -> Violation | None:
        """A flush has ended."""
        awaited = self.flushes.pop(name)
        del self._companions[name]
        if awaited and not (interrupted and name in self.interrupted):
            clause = AccumulatorClause.FLUSH_WAITS
            return self._wrong(clause, f"{name!r} waits for {sorted(awaited)}", "it has ended")
        return None

    def settled(self) -> Violation | None:
        """Return what should have happened by now, nobody being able to go on."""
        if self._expected:
            outcome, _ = next(iter(self._expected.values()))
            clause = _clause_of(outcome)
            return self._wrong(clause, f"told: {list(self._expected)}", "no callback")
        for name, awaited in self.flushes.items():
            if not (awaited or self._companions[name]) or name in self.interrupted:
                return self._wrong(AccumulatorClause.FLUSH_ENDS, f"{name!r} has ended", "it waits")
        for number, (record, pending) in enumerate(self.pending.items()):
            needed = max(self.rules.batch_size, self._sizes.upper_bound(pending.payload))
            if number == 0 and (self.closed or needed <= self.free_memory()):
                clause = AccumulatorClause.NO_APPEND_WAITS_IN_VAIN
                reason = f"closed: {self.closed}; {needed} bytes of {self.free_memory()}"
                return self._wrong(clause, f"{record!r} does not wait ({reason})", "it waits")
            if pending.deadline_ms <= self.now_ms or record in self.interrupted:
                clause = AccumulatorClause.APPEND_ENDS_FOR_A_REASON
                return self._wrong(clause, f"{record!r} has ended", "it waits")
        return None

    def gauges(
        self,
        *,
        available: int | None,
        undrained: bool | None,
        incomplete: bool | None,
        flushing: bool | None,
    ) -> Violation | None:
        """Compare what the accumulator says of itself, if it does, with the ledger."""
        queued = any(self.queues.values())
        live = queued or any(not batch.ended for batch in self.in_flight.values())
        if undrained not in (None, queued) or incomplete not in (None, live):
            return self._wrong(
                AccumulatorClause.NOTHING_IS_LEFT,
                f"queued: {queued}, incomplete: {live}",
                f"queued: {undrained}, incomplete: {incomplete}",
            )
        if flushing not in (None, bool(self.flushes)):
            expected = f"flushing: {bool(self.flushes)}"
            return self._wrong(AccumulatorClause.FLUSH_ENDS, expected, f"flushing: {flushing}")
        most = self.free_memory()
        if available is None or available == most or (self.pending and 0 <= available <= most):
            return None
        clause = AccumulatorClause.MEMORY_IS_CONSERVED
        return self._wrong(clause, f"{most} bytes available", f"{available} bytes available")

    def free_memory(self) -> int:
        """Return what no batch holds, in bytes."""
        queued = [batch for queue in self.queues.values() for batch in queue]
        held = [batch.limit for batch in (*queued, *self.in_flight.values()) if batch.pooled]
        return self.rules.total_memory - sum(held)

    def _refused(self, seen: Appended, pending: _Pending) -> Violation | None:
        reasons = {
            AppendOutcome.EXHAUSTED: self.now_ms >= pending.deadline_ms,
            AppendOutcome.CLOSED: self.closed,
            AppendOutcome.INTERRUPTED: seen.record in self.interrupted,
            AppendOutcome.FAILED: pending.may_fail,
        }
        if reasons[seen.outcome]:
            return None
        clause = AccumulatorClause.APPEND_ENDS_FOR_A_REASON
        return self._wrong(clause, f"no reason for {seen.outcome}", str(seen))

    def _batch(self, partition: int, payload: int, size: int) -> Batch:
        return Batch(
            partition=partition,
            limit=max(size, self._sizes.upper_bound(payload)),
            written=self._sizes.empty_batch(),
            created_ms=self.now_ms,
            last_attempt_ms=self.now_ms,
        )

    def _has_room(self, batch: Batch, payload: int) -> bool:
        if batch.closed:
            return False
        size = self._sizes.in_batch(len(batch.records), payload)
        return not batch.records or batch.written + size <= batch.limit

    def _is_full(self, batch: Batch) -> bool:
        return batch.closed or batch.written >= batch.limit

    def _backoff_ms(self, batch: Batch) -> int:
        if not batch.attempts:
            return 0
        doubled = self.rules.retry_backoff_ms << (batch.attempts - 1)
        return min(doubled, self.rules.retry_backoff_max_ms)

    def _is_backing_off(self, batch: Batch) -> bool:
        return self.now_ms - batch.last_attempt_ms < self._backoff_ms(batch)

    def _is_sendable(self, queue: deque[Batch]) -> bool:
        first = queue[0]
        if self._is_backing_off(first):
            return False
        hurried = self.closed or bool(self.flushes) or bool(self.pending)
        lingered = self.now_ms - first.last_attempt_ms >= self.rules.linger_ms
        return hurried or lingered or len(queue) > 1 or self._is_full(first)

    def _drainable(self, partition: int) -> Batch | None:
        queue = self.queues.get(partition)
        if not queue or partition in self.muted or self._is_backing_off(queue[0]):
            return None
        return queue[0]

    def _head_with(self, partitions: Sequence[int], records: tuple[str, ...]) -> Batch | None:
        for partition in partitions:
            head = self._drainable(partition)
            if head is not None and tuple(head.records) == records:
                return head
        return None

    def _is_late(self, batch: Batch) -> bool:
        return self.now_ms - batch.created_ms >= self.rules.delivery_timeout_ms

    def _end(self, batch: Batch, outcome: RecordOutcome, offset: int | None) -> None:
        batch.ended = True
        for number, record in enumerate(batch.records):
            self._expected[record] = (outcome, None if offset is None else offset + number)

    def _in_order(self, outcome: RecordOutcome) -> bool:
        ended_early = outcome in (RecordOutcome.EXPIRED, RecordOutcome.ABORTED)
        return self._contract.ends_in_order or not ended_early

    def _wrong(self, clause: AccumulatorClause, expected: str, observed: str) -> Violation:
        reason = f"it is {self.now_ms} ms; waiting: {list(self.pending)}"
        return Violation(rule=clause, expected=expected, observed=observed, reason=reason)


def _clause_of(outcome: RecordOutcome) -> AccumulatorClause:
    """Return the clause that a callback breaks which comes too early, or not at all."""
    if outcome is RecordOutcome.EXPIRED:
        return AccumulatorClause.EXPIRES_IN_TIME
    return AccumulatorClause.COMPLETES_ONCE
