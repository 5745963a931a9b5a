"""The places of the batches of one partition, from the answers to appends.

An append takes its place in the log between its invocation and its return, and its answer tells the
place. Consecutive places make the known log, batch by batch. A batch beyond a gap waits until the
gap is filled.
"""

from wheelproof_spec.base.history.clock import NEVER
from wheelproof_spec.base.results.violation import Violation
from wheelproof_spec.components.replication.component import ReplicationClause
from wheelproof_spec.components.replication.history.requests import Batch
from wheelproof_spec.components.replication.model import LedgerLog

_NEVER = -1


class Places:
    """The log of a partition as far as it is known, and the batches beyond that."""

    def __init__(self, segment_bytes: int) -> None:
        """Begin with an empty log."""
        self.unplaced: dict[Batch, None] = {}
        self._unplaced_records = 0
        self._latest_invoked = _NEVER
        self.log = LedgerLog(segment_bytes)
        self._batches: list[Batch] = []
        """The batch of each record of the log."""
        self._ahead: dict[int, Batch] = {}
        """The batches beyond a gap, by their first offsets."""
        self._taken: dict[int, Batch] = {}
        """The batch of each record beyond a gap."""
        self._ahead_records = 0
        self._sure: dict[Batch, None] = {}
        """The batches that are in the log, nobody knows where."""
        self._sure_records = 0
        self.unsure_from = NEVER
        """The offset from which on the begins of segments are unknown: a segment that begins where
        the log is truncated stays, and the batch that began it may be unknown."""
        self._lost: dict[int, list[Batch]] = {}
        """The batches that were truncated at an offset before the log was known up to there."""
        self.end_low = 0
        """The lower bound of the log's end, from evidence other than the log."""

    @property
    def end_high(self) -> int:
        """The upper bound of the log's end."""
        return self.log.end + self._ahead_records + self._unplaced_records

    def is_boundary(self, offset: int) -> bool:
        """Tell whether an append may have ended before `offset`, where the log is known."""
        batches = self._batches
        at_an_end = not offset or offset == len(batches)
        return at_an_end or batches[offset - 1] is not batches[offset]

    def batch_base(self, offset: int) -> int:
        """Return the lower bound of the begin of an offset's batch."""
        if offset <= self.log.end:
            return self.log.batch_base(offset)
        if (batch := self._taken.get(offset)) is not None:
            assert batch.base is not None
            return batch.base
        if offset - 1 in self._taken or offset >= self.end_high:
            return offset
        longest = max((len(batch.records) for batch in self.unplaced), default=1)
        return max(self.log.end, offset + 1 - longest)

    def reaches(self, offset: int) -> None:
        """Record that the log surely reaches `offset`."""
        self.end_low = max(self.end_low, offset)

    def expect(self, batch: Batch) -> None:
        """Record that a batch may be appended from now on."""
        self.unplaced[batch] = None
        self._unplaced_records += len(batch.records)

    def forget(self, batch: Batch) -> None:
        """Record that a batch will not be appended any more, or that its place is known."""
        if batch in self._sure:
            del self._sure[batch]
            self._sure_records -= len(batch.records)
        if batch in self.unplaced:
            del self.unplaced[batch]
            self._unplaced_records -= len(batch.records)

    def surely_has(self, batch: Batch) -> int | None:
        """Record that a batch is in the log; return its base if nothing else can be there."""
        if not self._taken and len(self.unplaced) == 1 and batch in self.unplaced:
            return self.log.end
        if batch not in self._sure:
            self._sure[batch] = None
            self._sure_records += len(batch.records)
        self.reaches(self.log.end + len(self._taken) + self._sure_records)
        return None

    def stands(self, batch: Batch, offset: int) -> bool:
        """Tell whether the record at an offset, which was put there with a batch, still stands."""
        if offset < self.log.end:
            return self._batches[offset] is batch
        return self._taken.get(offset) is batch

    def put(self, batch: Batch) -> Violation | None:
        """Put a batch at its place, then the batches that follow it; return a violation, if any."""
        return self._put_ahead(batch) or self._fill_gaps() or self.too_far()

    def lost(self, batch: Batch, base: int) -> None:
        """Record a batch that has been truncated since: it may have begun a segment at `base`."""
        if base == self.unsure_from and self.log.end <= base:
            self._lost.setdefault(base, []).append(batch)
            self.unsure_from = NEVER
            self._lose_again()

    def holds(self, batch: Batch) -> bool:
        """Tell whether a batch is still where it was put."""
        assert batch.base is not None
        if batch.base < self.log.end:
            return self._batches[batch.base] is batch
        return self._ahead.get(batch.base) is batch

    def may_hold(self, batch: Batch, base: int) -> bool:
        """Tell whether a batch may be at `base`, as far as is known."""
        if base < self.log.end:
            return self._batches[base] is batch
        return self._ahead.get(base, batch) is batch

    def truncate(self, offset: int) -> None:
        """Truncate the log; the records before the offset may still be unknown."""
        self._keep_what_stood_at(offset)
        if offset <= self.log.end:
            for batch in [one for one in self.unplaced if one.request.ended is not None]:
                self.forget(batch)
            self.log.truncate(offset)
            del self._batches[offset:]
        self._sure.clear()
        self._sure_records = 0
        for base in [base for base in self._ahead if base >= offset]:
            self._ahead_records -= len(self._ahead.pop(base).records)
        for batch in self._ahead.values():
            batch.cut = min(batch.cut, offset)
        for taken in [taken for taken in self._taken if taken >= offset]:
            del self._taken[taken]
        self.end_low = offset

    def too_far(self) -> Violation | None:
        """Judge whether enough records were appended to fill the gaps."""
        if self.end_low <= self.end_high:
            return None
        return wrong_place(
            f"the log ends at {self.end_high} at most",
            f"it reaches to {self.end_low}",
            "no more was appended",
        )

    def _keep_what_stood_at(self, offset: int) -> None:
        """Remember the batch that is lost at `offset`: it may have begun a segment, which stays."""
        for base in [base for base in self._lost if base > offset]:
            del self._lost[base]
        if offset <= self.unsure_from:
            self.unsure_from = NEVER
        if offset in self._ahead:
            self._lost.setdefault(offset, []).append(self._ahead[offset])
        elif offset > 0 and self.log.end <= offset < self.end_high:
            self.unsure_from = min(self.unsure_from, offset)

    def _lose_again(self) -> None:
        """Append the batches that were truncated at the log's end, and truncate them again."""
        for batch in self._lost.pop(self.log.end, ()):
            assert batch.epoch is not None
            self.log.truncate(self.log.append(batch.records, batch.epoch))

    def _put_ahead(self, batch: Batch) -> Violation | None:
        """Put a batch at its base, up to the cut; return a violation if another is there."""
        assert batch.base is not None
        end = min(batch.next_offset, batch.cut)
        for offset in range(batch.base, end):
            other = self._taken.setdefault(offset, batch)
            if other is not batch:
                return wrong_place(
                    f"{batch} are where nothing else is",
                    f"{other} are there too",
                    f"{batch} and {other} are at the same offset {offset}",
                )
        self._ahead[batch.base] = batch
        self._ahead_records += len(batch.records)
        self.end_low = max(self.end_low, end)
        return None

    def _fill_gaps(self) -> Violation | None:
        """Append the batches that follow the known log."""
        self._lose_again()
        while (batch := self._ahead.pop(self.log.end, None)) is not None:
            assert batch.epoch is not None
            self._ahead_records -= len(batch.records)
            first = self.log.append(batch.records, batch.epoch)
            self._batches += [batch] * len(batch.records)
            if batch.cut < self.log.end:
                self.log.truncate(batch.cut)
                del self._batches[batch.cut :]
            for offset in range(first, self.log.end):
                del self._taken[offset]
            self._lose_again()
            request = batch.request
            if request.ended is not None and request.ended < self._latest_invoked:
                return wrong_place(
                    f"{batch} come before what was asked for later",
                    "a later append is before them",
                    f"{batch} come after an append that began when they were already in the log",
                )
            self._latest_invoked = max(self._latest_invoked, request.invoked)
        return None


def wrong_place(expected: str, observed: str, reason: str) -> Violation:
    """Return the violation of a wrong place in the answer to an append."""
    return ReplicationClause.ANSWER_IS_RIGHT.broken(expected, observed, reason)
