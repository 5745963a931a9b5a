"""Judges the answers to `ready`, as far as the history determines them (standard 4.2).

A batch was made before the append of any of its records returned, and after the append of the
oldest record that it can hold began. These two bounds say how long the batch has waited.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from wheelproof_spec.base.history.clock import HistoryClock
from wheelproof_spec.base.results.tally import Tally
from wheelproof_spec.base.results.violation import Violation
from wheelproof_spec.components.accumulator.calls import NEVER_MS, Partition, Readiness, Ready
from wheelproof_spec.components.accumulator.component import AccumulatorClause, AccumulatorConfig
from wheelproof_spec.components.accumulator.history.queues import Queues
from wheelproof_spec.components.accumulator.history.record import Record
from wheelproof_spec.components.accumulator.history.turns import Turns

_ROUNDING_MS = 1
"""An implementation with fractions of a millisecond may round the time left down."""


@dataclass(frozen=True, slots=True)
class _Check:
    index: int
    least_ms: int
    gone: Mapping[Partition, int]
    closed: bool


class Checks:
    """The judge of answers to `ready`, if no other sender call overlaps the call."""

    def __init__(
        self,
        config: AccumulatorConfig,
        clock: HistoryClock,
        turns: Turns,
        queues: Queues,
        oldest_ms: Callable[[Partition], int],
        tally: Tally,
    ) -> None:
        """Begin; `oldest_ms` returns the earliest time of making a batch of a partition."""
        self._config = config
        self._clock = clock
        self._turns = turns
        self._queues = queues
        self._oldest_ms = oldest_ms
        self._tests = tally.tests
        self._asked: Counter[Partition] = Counter()
        self._gone: Counter[Partition] = Counter()
        self._check: _Check | None = None

    def asked(self, partition: Partition) -> None:
        """Record that an append began: its record may be queued from now on."""
        self._asked[partition] += 1

    def gone(self, records: Iterable[Record]) -> None:
        """Record that records are queued no more: drained, called back or refused."""
        for record in records:
            self._gone[record.partition] += record.may_be_queued
            record.may_be_queued = False

    def back(self, records: Iterable[Record]) -> None:
        """Record that records may be queued again, unless they have ended."""
        for record in records:
            if record.called_back is None and not record.may_be_queued:
                record.may_be_queued = True
                self._gone[record.partition] -= 1

    def begin(self, index: int, *, closed: bool) -> None:
        """Record that a call to `ready` began; `closed` if a close had returned."""
        self._check = _Check(index, self._clock.least, dict(self._gone), closed)

    def judge(self, call: Ready, answer: Readiness, *, alone: bool) -> Violation | None:
        """Return what is wrong with an answer; `alone` if no other sender call overlapped."""
        check = self._check
        if check is None or not alone:
            return None
        led = call.led()
        return (
            self._nothing_to_send(check, led, answer)
            or self._wrong_topic(check, led, answer)
            or self._too_late(check, led, answer)
            or self._too_early(check, led, answer)
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
        reason = "it leads no partition that may have a queued record and may not be muted"
        return _wrong(clause, f"node {min(empty)} is not ready", "it is", reason)

    def _wrong_topic(
        self, check: _Check, led: Mapping[Partition, int], answer: Readiness
    ) -> Violation | None:
        clause, topic_of = AccumulatorClause.NAMES_TOPICS, self._config.topic_of
        told = set(answer.unknown_leader_topics)
        orphans = [partition for partition in self._asked if partition not in led]
        if told or orphans:
            self._tests(clause)
        perhaps = {topic_of(name) for name in orphans if self._may_hold(check, name)}
        surely = {topic_of(name) for name in orphans if self._turns.waits(name, check.index)}
        if surely <= told <= perhaps:
            return None
        expected = f"topics without a leader: {sorted(surely)}, and perhaps {sorted(perhaps)}"
        reason = "of these records wait in partitions that have no leader"
        return _wrong(clause, expected, f"{sorted(told)}", reason)

    def _too_late(
        self, check: _Check, led: Mapping[Partition, int], answer: Readiness
    ) -> Violation | None:
        linger_ms, delay_ms = self._config.linger_ms, answer.next_ready_check_delay_ms
        for partition, node in led.items():
            if not self._turns.waits(partition, check.index):
                continue
            accepted_ms = self._turns.accepted_ms(partition)
            left_ms = linger_ms - max(check.least_ms - accepted_ms, 0)
            reason = f"a record has waited in {partition!r} for {linger_ms - left_ms} ms at least"
            is_due = left_ms <= 0 or check.closed
            if is_due:
                self._tests(AccumulatorClause.READY_TELLS_THE_TRUTH)
            if node in answer.ready_nodes:
                continue
            if is_due:
                clause = AccumulatorClause.READY_TELLS_THE_TRUTH
                return _wrong(clause, f"node {node} is ready", "it is not", reason)
            clause = AccumulatorClause.CHECKS_AGAIN_IN_TIME
            if isinstance(delay_ms, int) and self._tests(clause) and delay_ms > left_ms:
                told = "never" if delay_ms >= NEVER_MS else f"in {delay_ms} ms"
                return _wrong(clause, f"next check in {left_ms} ms at most", told, reason)
        return None

    def _too_early(
        self, check: _Check, led: Mapping[Partition, int], answer: Readiness
    ) -> Violation | None:
        delay_ms, clause = (
            answer.next_ready_check_delay_ms,
            AccumulatorClause.CHECKS_AGAIN_IN_TIME,
        )
        held = [partition for partition in led if self._may_hold(check, partition)]
        if not isinstance(delay_ms, int) or not held or any(map(self._turns.may_back_off, held)):
            return None
        oldest_ms = min(map(self._oldest_ms, held))
        left_ms = self._config.linger_ms - (self._clock.high - oldest_ms) - _ROUNDING_MS
        if left_ms <= 0 or (self._tests(clause) and delay_ms >= left_ms):
            return None
        reason = f"no batch can be older than {self._clock.high - oldest_ms} ms"
        expected = f"next check in {left_ms} ms at least"
        return _wrong(clause, expected, f"in {delay_ms} ms", reason)

    def _may_send(self, check: _Check, partition: Partition) -> bool:
        muted = self._queues.is_muted_since(partition, check.index)
        return not muted and self._may_hold(check, partition)

    def _may_hold(self, check: _Check, partition: Partition) -> bool:
        return self._asked[partition] > check.gone.get(partition, 0)


def _wrong(clause: AccumulatorClause, expected: str, observed: str, reason: str) -> Violation:
    return clause.broken(expected, observed, f"{reason} (standard 4.2)")
