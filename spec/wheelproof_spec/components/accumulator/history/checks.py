"""Judges the answers to `ready`, as far as the history determines them (standard 4.2).

A batch was made before the append of any of its records returned, and after the append of the
oldest record that it can hold began. These two bounds say how long the batch has waited.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from wheelproof_spec.base.history.bounds import Bounds
from wheelproof_spec.base.history.clock import HistoryClock, VirtualClock
from wheelproof_spec.base.results.tally import Tally
from wheelproof_spec.base.results.violation import Violation
from wheelproof_spec.components.accumulator.calls import NEVER_MS, Partition, Readiness, Ready
from wheelproof_spec.components.accumulator.component import AccumulatorClause, AccumulatorConfig
from wheelproof_spec.components.accumulator.history.flushes import Flushes
from wheelproof_spec.components.accumulator.history.queues import Queues
from wheelproof_spec.components.accumulator.history.record import Record
from wheelproof_spec.components.accumulator.history.turns import Turns

_OVERHEAD = 512
"""More bytes than the headers of a batch and of a record take."""
_ROUNDING_MS = 1
"""An implementation with fractions of a millisecond may round the time left down."""


@dataclass(frozen=True, slots=True)
class _Check:
    """A call to `ready`, and what was known when it began: it may have read everything then."""

    index: int
    least_ms: int
    gone: Mapping[Partition, int]
    behind: Mapping[Partition, Record]
    full: Mapping[Partition, Record]
    closed: bool


class Checks:
    """The judge of answers to `ready`, if no other sender call overlaps the call."""

    def __init__(
        self,
        config: AccumulatorConfig,
        clock: HistoryClock,
        turns: Turns,
        queues: Queues,
        flushes: Flushes,
        oldest_ms: Callable[[Partition], int],
        tally: Tally,
    ) -> None:
        """Begin; `oldest_ms` returns the earliest time of making a batch of a partition."""
        self._flushes = flushes
        self._rounding_ms = 0 if isinstance(clock, VirtualClock) else _ROUNDING_MS
        self._config = config
        self._clock = clock
        self._turns = turns
        self._queues = queues
        self._oldest_ms = oldest_ms
        self._tests = tally.tests
        self._asked: Counter[Partition] = Counter()
        self._gone: Counter[Partition] = Counter()
        self._left: Counter[Partition] = Counter()
        """How many records have left each queue; one that came back and left again counts twice."""
        self._queued: dict[Partition, dict[Record, None]] = {}
        """The records that may be queued, and were never drained."""
        self._behind: dict[Partition, Record] = {}
        """The record of each partition that made a batch last."""
        self._full: dict[Partition, Record] = {}
        """The record of each partition whose append met a full batch last."""
        self._refused_at: dict[Partition, int] = {}
        """The last event at which an append to a partition was refused."""
        self._appends = Bounds()
        """How many appends may be under way: each of them may wait for memory."""
        self._first: dict[Partition, Record] = {}
        self._check: _Check | None = None

    def asked(self, record: Record) -> None:
        """Record that an append began: its record may be queued from now on."""
        partition = record.partition
        self._not_first(partition)
        record.is_first = not self.may_hold(partition)
        if record.is_first:
            self._first[partition] = record
        record.left_then = self._left[partition]
        self._queued.setdefault(partition, {})[record] = None
        self._asked[partition] += 1
        self._appends.change(most=1)

    def ended(self, record: Record, index: int) -> None:
        """Record that an append was accepted or refused at event `index`."""
        self._appends.change(most=-1)
        if record.refused:
            self._refused_at[record.partition] = index
        if record.new_batch is None and record.is_first and not record.refused:
            record.new_batch = True
        if record.new_batch:
            self._behind[record.partition] = record
        if record.batch_is_full:
            self._full[record.partition] = record

    def may_hold(self, partition: Partition) -> bool:
        """Tell whether a record of the partition may be queued now."""
        return self._asked[partition] > self._gone[partition]

    def gone(self, records: Iterable[Record]) -> None:
        """Record that records are queued no more: drained, called back or refused."""
        for record in records:
            self._gone[record.partition] += record.may_be_queued
            self._left[record.partition] += record.may_be_queued
            record.may_be_queued = False
            self._queued[record.partition].pop(record, None)

    def back(self, records: Iterable[Record]) -> None:
        """Record that records may be queued again, unless they have ended."""
        for record in records:
            self._not_first(record.partition)
            if record.called_back is None and not record.may_be_queued:
                record.may_be_queued = True
                self._gone[record.partition] -= 1

    def begin(self, index: int, *, closed: bool) -> None:
        """Record that a call to `ready` began; `closed` if a close had returned."""
        self._flushes.begin_read(index)
        self._appends.begin_read(index)
        self._check = _Check(
            index,
            self._clock.least,
            dict(self._gone),
            dict(self._behind),
            dict(self._full),
            closed,
        )

    def forget(self, index: int) -> None:
        """Record that a call to `ready` has no answer."""
        self._flushes.may_go_on(index)
        self._appends.seen(index)

    def judge(
        self, index: int, call: Ready, answer: Readiness, *, alone: bool, may_be_closed: bool
    ) -> Violation | None:
        """Return what is wrong with the answer to the call of event `index`.

        `alone` says that no other sender call overlapped it, `may_be_closed` that a close had begun
        before it ended.
        """
        may_flush, appends = self._flushes.may_go_on(index), self._appends.seen(index)
        in_no_hurry = not (may_be_closed or may_flush or appends is None or appends[1])
        check = self._check
        if check is None or not alone:
            return None
        led = call.led()
        return (
            self._nothing_to_send(check, led, answer)
            or self._wrong_topic(check, led, answer)
            or self._too_late(check, led, answer)
            or self._too_early(check, led, answer)
            or self._too_soon(check, led, answer, in_no_hurry=in_no_hurry)
        )

    def _nothing_to_send(
        self, check: _Check, led: Mapping[Partition, int], answer: Readiness
    ) -> Violation | None:
        if not answer.ready_nodes:
            return None
        clause = AccumulatorClause.READY_TELLS_THE_TRUTH
        self._tests(clause)
        full = {node for partition, node in led.items() if self._may_send(check, partition)}
        empty = set(answer.ready_nodes) - full
        if not empty:
            return None
        node = f"node {min(empty)}"
        reason = f"{node} was reported ready, but leads no unmuted partition with a queued record"
        return _wrong(clause, f"{node} is not ready", f"{node} is ready", reason)

    def _wrong_topic(
        self, check: _Check, led: Mapping[Partition, int], answer: Readiness
    ) -> Violation | None:
        clause, topic_of = AccumulatorClause.NAMES_TOPICS, self._config.topic_of
        told = set(answer.unknown_leader_topics)
        orphans = [partition for partition in self._asked if partition not in led]
        if told or orphans:
            self._tests(clause)
        perhaps = {topic_of(name) for name in orphans if self._may_hold(check, name)}
        surely = {topic_of(name) for name in orphans if self._turns.holds(name, check.index)}
        if surely <= told <= perhaps:
            return None
        expected = f"topics without a leader: {sorted(surely)}, and perhaps {sorted(perhaps)}"
        reason = f"ready named the topics {sorted(told)}, but right is: {expected}"
        return _wrong(clause, expected, f"{sorted(told)}", reason)

    def _too_late(
        self, check: _Check, led: Mapping[Partition, int], answer: Readiness
    ) -> Violation | None:
        linger_ms, delay_ms = self._config.linger_ms, answer.next_ready_check_delay_ms
        hurries = self._flushes.goes_on_since(check.index)
        for partition, node in led.items():
            if not self._turns.waits(partition, check.index):
                continue
            accepted_ms = self._turns.accepted_ms(partition)
            left_ms = linger_ms - max(check.least_ms - accepted_ms, 0)
            reason = f"a record has waited in {partition!r} for {linger_ms - left_ms} ms at least"
            is_due = left_ms <= 0 or check.closed or hurries
            if not is_due and self._is_sendable(check, partition):
                is_due, reason = True, f"a batch of {partition!r} is full, or another is behind it"
            if is_due:
                self._tests(AccumulatorClause.READY_TELLS_THE_TRUTH)
            if node in answer.ready_nodes:
                continue
            if is_due:
                clause = AccumulatorClause.READY_TELLS_THE_TRUTH
                what = f"node {node} was not reported ready, but {reason}"
                return _wrong(clause, f"node {node} is ready", f"node {node} is not ready", what)
            clause = AccumulatorClause.CHECKS_AGAIN_IN_TIME
            if isinstance(delay_ms, int) and self._tests(clause) and delay_ms > left_ms:
                told = "never" if delay_ms >= NEVER_MS else f"in {delay_ms} ms"
                what = f"the next check was asked for {told}, but {reason}"
                return _wrong(clause, f"next check in {left_ms} ms at most", told, what)
        return None

    def _too_early(
        self, check: _Check, led: Mapping[Partition, int], answer: Readiness
    ) -> Violation | None:
        delay_ms, clause = (
            answer.next_ready_check_delay_ms,
            AccumulatorClause.CHECKS_AGAIN_IN_TIME,
        )
        held = [partition for partition in led if self._may_send(check, partition)]
        if isinstance(delay_ms, int) and not any(
            self._may_hold(check, name) for name in self._asked
        ):
            if not self._tests(clause) or delay_ms >= NEVER_MS:
                return None
            reason = f"the next check was asked for in {delay_ms} ms, but nothing can be queued"
            return _wrong(clause, "no next check", f"one in {delay_ms} ms", reason)
        if not isinstance(delay_ms, int) or not held or any(map(self._turns.may_back_off, held)):
            return None
        oldest_ms = min(map(self._oldest_ms, held))
        left_ms = self._config.linger_ms - (self._clock.high - oldest_ms)
        left_ms -= self._rounding_ms
        if left_ms <= 0 or (self._tests(clause) and delay_ms >= left_ms):
            return None
        age_ms = self._clock.high - oldest_ms
        reason = (
            f"the next check was asked for in {delay_ms} ms, but no batch is older than {age_ms} ms"
        )
        expected = f"next check in {left_ms} ms at least"
        return _wrong(clause, expected, f"in {delay_ms} ms", reason)

    def _too_soon(
        self,
        check: _Check,
        led: Mapping[Partition, int],
        answer: Readiness,
        *,
        in_no_hurry: bool,
    ) -> Violation | None:
        """Return the violation if a node is ready whose batches all surely linger."""
        if not answer.ready_nodes or not in_no_hurry or not self._clock.judges_times:
            return None
        sendable = {
            node
            for partition, node in led.items()
            if self._may_send(check, partition) and not self._surely_lingers(check, partition)
        }
        early = set(answer.ready_nodes) - sendable
        if not early:
            return None
        node = f"node {min(early)}"
        reason = (
            f"{node} was reported ready, but nothing hurries, and each batch that it may have "
            f"queued has room and has not waited for {self._config.linger_ms} ms"
        )
        clause = AccumulatorClause.READY_TELLS_THE_TRUTH
        return _wrong(clause, f"{node} is not ready", f"{node} is ready", reason)

    def _surely_lingers(self, check: _Check, partition: Partition) -> bool:
        """Tell whether a partition has one batch at most, which has room and still lingers.

        No append is under way, so the queue has not changed since the call began but by what has
        left it. An append that was refused may have closed the batch, as one that had no room.
        """
        if self._gone[partition] != check.gone.get(partition, 0):
            return False
        queued = self._queued.get(partition, {})
        first = next(iter(queued), None)
        if first is not None and first.asked < self._refused_at.get(partition, -1):
            return False
        age_ms = self._clock.high - self._oldest_ms(partition)
        return (
            len(queued) == self._asked[partition] - self._gone[partition]
            and age_ms < self._config.linger_ms
            and not self._turns.may_back_off(partition)
            and (self._fits_in_one(queued) or _is_said_to_fit(queued))
        )

    def _fits_in_one(self, queued: Iterable[Record]) -> bool:
        most = sum(record.size + _OVERHEAD for record in queued)
        return most <= self._config.batch_size

    def _is_sendable(self, check: _Check, partition: Partition) -> bool:
        """Tell whether the head of a queue, which may be drained, is full or has one behind it.

        What an append has done during the call, the call need not have seen.
        """
        first = self._turns.first_waiting(partition)
        behind, full = check.behind.get(partition), check.full.get(partition)
        if first is None or first.returned is None or first.was_split:
            return False
        if behind is not None and first.returned < behind.asked and behind.was_never_drained:
            return True
        return full is not None and full.left_then == self._left[partition]

    def _not_first(self, partition: Partition) -> None:
        """Record that the append of the first record of a partition may meet another record."""
        first = self._first.pop(partition, None)
        if first is not None and first.returned is None:
            first.is_first = False

    def _may_send(self, check: _Check, partition: Partition) -> bool:
        muted = self._queues.is_muted_since(partition, check.index)
        return not muted and self._may_hold(check, partition)

    def _may_hold(self, check: _Check, partition: Partition) -> bool:
        return self._asked[partition] > check.gone.get(partition, 0)


def _is_said_to_fit(queued: Iterable[Record]) -> bool:
    """Tell whether answers show that these records are in one batch, which is not full."""
    records = list(queued)
    last = records[-1]
    return (
        last.batch_is_full is False
        and sum(record.new_batch is not False for record in records) == 1
        and all(record is last or _ended_before(record, last) for record in records)
    )


def _ended_before(record: Record, last: Record) -> bool:
    return record.returned is not None and record.returned < last.asked


def _wrong(clause: AccumulatorClause, expected: str, observed: str, reason: str) -> Violation:
    return clause.broken(expected, observed, f"{reason} (standard 4.2)")
