"""Judges whether each partition of a node gets its turn in drains (standard 4.3)."""

from collections import Counter
from collections.abc import Callable

from wheelproof_spec.base.history.clock import NEVER
from wheelproof_spec.base.results.tally import Tally
from wheelproof_spec.base.results.violation import Violation
from wheelproof_spec.components.accumulator.calls import Drain, Drained, Partition
from wheelproof_spec.components.accumulator.component import AccumulatorClause
from wheelproof_spec.components.accumulator.history.queues import FirstOwed
from wheelproof_spec.components.accumulator.history.record import Batch, Record


class Turns:
    """The count of how often drains pass over a drainable partition, as in the driven judge.

    A partition is surely drainable if one of its records waited all the time, if no call can have
    muted it, and if none of its batches can be backing off.
    """

    def __init__(self, waiting: FirstOwed, tally: Tally) -> None:
        """Begin; `waiting` has the records that wait to be drained."""
        self._waiting = waiting
        self._tests = tally.tests
        self._muting: dict[Partition, int] = {}
        """The partitions that may be muted, and the event of the last call to mute each one."""
        self._open_mutes: Counter[Partition] = Counter()
        self._back: dict[Partition, list[Batch]] = {}
        self._passes: dict[int, tuple[tuple[Partition, ...], dict[Partition, int]]] = {}
        self._most_bytes: dict[Partition, int] = {}
        """The most bytes that a batch of each partition can have."""
        self._stopped: dict[int, tuple[tuple[Partition, ...], Partition]] = {}
        """Where the last drain of each node has surely stopped, among which partitions."""
        self.unnamed = False
        """Whether a drain has not named its partitions."""
        self.lost_track = False
        """Whether an unknown batch was re-enqueued or split: it may wait in any queue."""

    def asked(self, partition: Partition, most_bytes: int) -> None:
        """Record that an append began, whose batch may have that many bytes."""
        self._most_bytes[partition] = max(most_bytes, self._most_bytes.get(partition, 0))

    def mute_begins(self, partition: Partition, index: int) -> None:
        """Record that a mute call began: the partition may be muted from now on."""
        self._muting[partition] = index
        self._open_mutes[partition] += 1

    def mute_ends(self, partition: Partition) -> None:
        """Record that a mute call has returned."""
        self._open_mutes[partition] -= 1

    def unmute_ends(self, partition: Partition, began: int) -> None:
        """Record that an unmute call returned that had begun at event `began`."""
        if not self._open_mutes[partition] and self._muting.get(partition, began) < began:
            del self._muting[partition]

    def back(self, batch: Batch) -> None:
        """Record that a batch returned to its queue, where it may back off."""
        self._back.setdefault(batch.partition, []).append(batch)

    def not_back(self, batch: Batch) -> None:
        """Record that a batch did not return to its queue."""
        left = [other for other in self._back.pop(batch.partition, ()) if other is not batch]
        if left:
            self._back[batch.partition] = left

    def drained(
        self,
        began: int,
        call: Drain,
        answer: Drained,
        may_hold: Callable[[Partition], bool],
        *,
        alone: bool,
    ) -> Violation | None:
        """Judge a drain that has ended; `alone` if no other sender call overlapped it.

        `may_hold` tells whether a partition may have queued records.
        """
        stopped = self._stopped.pop(call.node, None)
        led, counts = self._passes.pop(call.node, ((), dict[Partition, int]()))
        self.unnamed = self.unnamed or (not call.partitions and bool(answer.batches))
        if not call.partitions or not alone:
            # A drain of no partition passes over none: if it took nothing, keep the counts.
            if not answer.batches and alone:
                self._passes[call.node] = led, counts
                if stopped is not None:
                    self._stopped[call.node] = stopped
            return None
        taken = {batch.partition for batch in answer.batches}
        passed = [
            partition
            for partition in call.partitions
            if partition not in taken and self.waits(partition, began)
        ]
        if not passed:
            return None
        if not taken:
            self._tests(AccumulatorClause.DRAINS_THE_HEADS)
            return AccumulatorClause.DRAINS_THE_HEADS.broken(
                f"the drain takes the head of {passed[0]!r}",
                "the drain takes nothing",
                f"the drain took nothing, but a record of {passed[0]!r} was waiting, and a first "
                "batch is never too large (standard 4.3)",
            )
        too_little = self._leaves_what_fits(call, answer, passed)
        if too_little is not None:
            return too_little
        self._tests(AccumulatorClause.DRAIN_IS_FAIR)
        stop = _stop(call, taken, passed, may_hold)
        if stop is not None:
            self._stopped[call.node] = call.partitions, stop
        if stopped is not None and stopped[0] == call.partitions and stopped[1] in passed:
            return AccumulatorClause.DRAIN_IS_FAIR.broken(
                f"the drain begins at {stopped[1]!r}",
                f"the drain takes batches of {sorted(taken, key=str)}",
                f"the drain passed over {stopped[1]!r}, where the last drain of node {call.node} "
                "had stopped (standard 4.3)",
            )
        before = counts if led == call.partitions else {}
        counts = {partition: before.get(partition, 0) + 1 for partition in passed}
        self._passes[call.node] = call.partitions, counts
        for partition, count in counts.items():
            if count >= len(call.partitions):
                return AccumulatorClause.DRAIN_IS_FAIR.broken(
                    f"{partition!r} has its turn among {list(call.partitions)}",
                    f"{partition!r} was passed over {count} times",
                    f"the drains of node {call.node} passed over {partition!r} {count} times, last "
                    f"for {sorted(taken, key=str)} (standard 4.3)",
                )
        return None

    def _leaves_what_fits(
        self, call: Drain, answer: Drained, passed: list[Partition]
    ) -> Violation | None:
        """Return the violation if a drain passed over a batch that had room for sure."""
        if not call.max_size:
            return None
        self._tests(AccumulatorClause.DRAINS_THE_HEADS)
        took = sum(self._most_bytes.get(batch.partition, call.max_size) for batch in answer.batches)
        for partition in passed:
            if took + self._most_bytes.get(partition, call.max_size) <= call.max_size:
                return AccumulatorClause.DRAINS_THE_HEADS.broken(
                    f"the drain takes the head of {partition!r}",
                    f"the drain takes {[batch.batch for batch in answer.batches]}",
                    f"the drain left a record that waits in {partition!r}, though all have room in "
                    f"{call.max_size} bytes (standard 4.3)",
                )
        return None

    def waits(self, partition: Partition, since: int) -> bool:
        """Tell whether the partition could be drained all the time since event `since`."""
        if partition in self._muting or self.may_back_off(partition):
            return False
        return self.holds(partition, since)

    def holds(self, partition: Partition, since: int) -> bool:
        """Tell whether a record was queued all the time since event `since`, muted or not."""
        first = self._waiting.first_undrained(partition)
        return first is not None and first.returned is not None and first.returned < since

    def first_waiting(self, partition: Partition) -> Record | None:
        """Return the record of a partition that has waited longest."""
        return self._waiting.first_undrained(partition)

    def accepted_ms(self, partition: Partition) -> int:
        """Return the latest time at which the first waiting record can have been accepted."""
        first = self._waiting.first_undrained(partition)
        return NEVER if first is None else first.accepted_ms

    def may_back_off(self, partition: Partition) -> bool:
        """Tell whether a batch of the partition may wait for its next attempt."""
        back = [batch for batch in self._back.pop(partition, ()) if _is_unfinished(batch)]
        if back:
            self._back[partition] = back
        return bool(back) or self.lost_track


def _stop(
    call: Drain,
    taken: set[Partition],
    passed: list[Partition],
    may_hold: Callable[[Partition], bool],
) -> Partition | None:
    """Return where a drain has surely stopped: at the only one that it may have passed over.

    A history does not tell in which order the drain goes round. So if it may have passed over more
    than one, it is not known at which of them it stopped.
    """
    left = [name for name in call.partitions if name not in taken]
    left = [name for name in left if name in passed or may_hold(name)]
    return left[0] if left == passed and not left[1:] else None


def _is_unfinished(batch: Batch) -> bool:
    return any(record.called_back is None for record in batch.records)
