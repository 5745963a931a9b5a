"""The batches that have gone back to the head of their queue, and what may be drained before them.

A batch that is tried again, or split, goes to the head (standard 4.6). It is there for certain once
that call has returned. Until its records are drained or have ended, only a batch that went back
later stands before it. While it backs off, nothing else of its partition is drained (4.3).
"""

from dataclasses import dataclass, field

from wheelproof_spec.base.results.violation import Violation
from wheelproof_spec.components.accumulator.calls import DrainedBatch, Partition
from wheelproof_spec.components.accumulator.component import AccumulatorClause
from wheelproof_spec.components.accumulator.history.record import Batch, Record

_NOT_YET = 2**62


@dataclass(slots=True, eq=False)
class Retry:
    """A batch that has gone back, with the events at which that began and ended."""

    began: int
    in_parts: bool
    """Whether it was split: its parts may be drained one by one."""
    ended: int = _NOT_YET
    waiting: dict[Record, None] = field(default_factory=dict[Record, None])
    """Its records that have not been drained since, in their order."""

    def still_waiting(self) -> tuple[Record, ...]:
        """Return the records that wait; a batch of which one has ended is queued no more."""
        over = [record for record in self.waiting if record.called_back is not None]
        if over and not self.in_parts:
            self.waiting.clear()
        for record in over:
            self.waiting.pop(record, None)
        return tuple(self.waiting)


class Retries:
    """The batches of each partition that have gone back to its queue."""

    def __init__(self) -> None:
        self._retries: dict[Partition, list[Retry]] = {}
        self._open: dict[int, Retry] = {}
        self.lost_track = False
        """Whether an unknown batch has gone back: it may stand before any other."""

    def begins(self, batch: Batch, index: int, *, in_parts: bool) -> None:
        """Record that a batch goes back from event `index` on."""
        self.drained(batch.partition, batch.records)
        retry = Retry(index, in_parts, waiting=dict.fromkeys(batch.records))
        self._retries.setdefault(batch.partition, []).append(retry)
        self._open[index] = retry

    def ends(self, began: int, index: int) -> None:
        """Record that the call of event `began` has returned: its batch is at the head."""
        retry = self._open.pop(began, None)
        if retry is not None:
            retry.ended = index

    def fails(self, began: int, batch: Batch) -> None:
        """Record that the call of event `began` was refused: its batch has not gone back."""
        retry = self._open.pop(began, None)
        if retry is not None:
            retry.waiting.clear()
            self.drained(batch.partition, ())

    def judge(
        self, began: int, taken: DrainedBatch, records: tuple[Record, ...]
    ) -> Violation | None:
        """Judge a batch that a drain took, which began at event `began`."""
        if self.lost_track or not records:
            return None
        gone_back = self._retries.get(taken.partition, ())
        waiting = [retry for retry in gone_back if retry.still_waiting()]
        mine = next((retry for retry in waiting if records[0] in retry.waiting), None)
        for retry in waiting:
            may_be_behind = mine is not None and mine.ended > retry.began
            if retry is not mine and retry.ended < began and not may_be_behind:
                return _overtaken(taken, records[0], next(iter(retry.waiting)))
        if mine is None:
            return None
        left = mine.still_waiting()
        if left[: len(records)] != records or not (mine.in_parts or left == records):
            told = [record.name for record in left]
            expected = f"{'the first of' if mine.in_parts else 'the batch of'} {told}"
            return AccumulatorClause.DRAINS_THE_HEADS.broken(
                expected,
                f"the drain takes batch {taken.batch!r} of {list(taken.records)}",
                f"batch {taken.batch!r} has {list(taken.records)}, but the batch that went back "
                f"had {told} (standard 4.6)",
            )
        return None

    def drained(self, partition: Partition, records: tuple[Record, ...]) -> None:
        """Record that these records are queued no more."""
        left: list[Retry] = []
        for retry in self._retries.pop(partition, ()):
            for record in records:
                retry.waiting.pop(record, None)
            if retry.still_waiting():
                left.append(retry)
        if left:
            self._retries[partition] = left


def _overtaken(taken: DrainedBatch, first: Record, earlier: Record) -> Violation:
    return AccumulatorClause.DRAINS_THE_HEADS.broken(
        f"{earlier.name!r} before {first.name!r}",
        f"the drain takes batch {taken.batch!r}: {first.name!r} comes first",
        f"the drain took {first.name!r} before {earlier.name!r}, whose batch had gone back to the "
        f"head of {taken.partition!r} (standard 4.6)",
    )
