"""Bounds on the memory that records hold, and on the number of incomplete records.

A history does not show exactly when they decrease, so bounds are judged (standard 3.9).

A later answer must not contradict an earlier one (standard 4.7). While no append is under way,
nobody takes memory, and nothing becomes incomplete. While no record is called back, nothing that is
incomplete ends.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from wheelproof_spec.base.history.bounds import Bounds
from wheelproof_spec.base.results.tally import Tally
from wheelproof_spec.base.results.violation import Violation
from wheelproof_spec.components.accumulator.component import AccumulatorClause, AccumulatorConfig
from wheelproof_spec.components.accumulator.history.record import Batch, Record


@dataclass(slots=True)
class _Read:
    without_appends: bool
    """Whether no append has been under way since the question."""
    without_ends: bool
    """Whether no batch can have ended since the question."""


class _Shown:
    """What questions about memory and incomplete batches have shown so far."""

    def __init__(self) -> None:
        self._reads: dict[int, _Read] = {}
        self._floor: tuple[int, int] | None = None
        """The event of an answer since which so much memory is available, and how much."""
        self._complete: int | None = None
        """The event of an answer since which nothing is incomplete."""
        self._incomplete: int | None = None
        """The event of an answer since which something is incomplete."""
        self._is_lost = False

    def begin_read(self, call: int, *, without_appends: bool, is_settled: bool) -> None:
        """Record that a question was asked.

        `without_appends` says that no append is under way, `is_settled` that no batch may be
        ending.
        """
        self._reads[call] = _Read(without_appends and not self._is_lost, is_settled)

    def forget(self, call: int) -> None:
        """Record that a question has no answer."""
        self._reads.pop(call, None)

    def append_begins(self) -> None:
        """Record that an append began: it may take memory, and make a batch."""
        self._floor = self._complete = None
        for read in self._reads.values():
            read.without_appends = False

    def append_is_lost(self) -> None:
        """Record that the end of an append is not known: it may take memory at any time."""
        self._is_lost = True
        self.append_begins()

    def batch_may_end(self) -> None:
        """Record that a record was called back: its batch may end."""
        self._incomplete = None
        for read in self._reads.values():
            read.without_ends = False

    def available(self, call: int, index: int, size: int) -> int:
        """Record the answer of event `index`; return how much has been available before."""
        read = self._reads.pop(call)
        shown = 0 if self._floor is None or self._floor[0] > call else self._floor[1]
        if read.without_appends:
            self._floor = index, size
        return shown

    def incomplete(
        self, call: int, index: int, bounds: tuple[int, int], *, yes: bool
    ) -> tuple[int, int]:
        """Record the answer of event `index`; return the bounds, narrowed by answers before it."""
        read = self._reads.pop(call)
        least, most = bounds
        if self._complete is not None and self._complete < call:
            most = 0
        if self._incomplete is not None and self._incomplete < call:
            least = max(least, 1)
        if not yes and read.without_appends:
            self._complete = index
        if yes and read.without_ends:
            self._incomplete = index
        return least, most


_OVERHEAD = 512
"""More bytes than headers take."""


class Holdings:
    """The bounds on what records hold, from their appends to their ends."""

    def __init__(self, config: AccumulatorConfig, tally: Tally) -> None:
        self._tests = tally.tests
        self._total = config.total_memory
        self._batch_size = config.batch_size
        self._at_once = config.gives_back == "at_once"
        self._memory = Bounds()
        self._incomplete = Bounds()
        self._sure: set[Record] = set()
        self._ended: list[Record] = []
        self._kept: dict[Batch, list[Record]] = {}
        """Expired records of batches whose response is still to come: a request may read them."""
        self._shown = _Shown()
        self._untold = 0
        """How many records were asked for, and neither refused nor called back."""
        self._under_way: dict[int, Record] = {}
        self._met: dict[int, int] = {}
        """For each append under way, how many other appends have overlapped it."""

    def need(self, size: int) -> int:
        """Return the most bytes that an append of `size` bytes takes from the pool."""
        if size + _OVERHEAD <= self._batch_size:
            return self._batch_size
        return min(max(self._batch_size, 2 * size + 2 * _OVERHEAD), self._total)

    def asked(self, record: Record) -> None:
        """Record that an append began; it may take its memory at once."""
        for call in self._met:
            self._met[call] += 1
        self._met[record.asked] = len(self._met)
        self._under_way[record.asked] = record
        self._shown.append_begins()
        self._untold += 1
        self._incomplete.change(most=1)
        self._memory.change(most=record.holds)
        self._memory.begin_read(record.asked)

    def accepted(self, record: Record, *, new_batch: bool | None) -> Violation | None:
        """Record that an append was accepted."""
        self._end(record)
        if new_batch is False:
            self._memory.change(most=-record.holds)
            record.holds = 0
        if record.called_back is not None:
            self._settle(record)
            return None
        self._incomplete.change(least=1)
        if record.size > self._total:
            return AccumulatorClause.MEMORY_IS_CONSERVED.broken(
                f"{record.name!r} is refused",
                f"{record.name!r} is accepted, with {record.size} bytes",
                f"{record.name!r} was accepted with {record.size} bytes, but the pool has only "
                f"{self._total} (standard 3.1, 4.1)",
            )
        if not new_batch or record.was_split:
            return None
        self._sure.add(record)
        self._memory.change(least=self._least(record))
        self._tests(AccumulatorClause.MEMORY_IS_CONSERVED)
        if self._memory.least <= self._total:
            return None
        return AccumulatorClause.MEMORY_IS_CONSERVED.broken(
            f"at most {self._total} bytes are held",
            f"the batches that have not ended hold {self._memory.least} bytes at least",
            f"when {record.name!r} was accepted, batches held at least {self._memory.least} of "
            f"{self._total} bytes (standard 3.9)",
        )

    def refused(self, record: Record, *, exhausted: bool) -> Violation | None:
        """Record that an append was refused, and has given back its memory."""
        met = self._met[record.asked]
        self._untold -= record.called_back is None
        seen = self._end(record)
        self._incomplete.change(most=-1)
        self._memory.change(most=-record.holds)
        if not exhausted or met or seen is None:
            return None
        if record.holds > self._batch_size or seen[1] > self._total:
            return None
        return AccumulatorClause.APPEND_ENDS_FOR_A_REASON.broken(
            f"{record.name!r} is accepted",
            f"{record.name!r} is refused because memory is exhausted",
            f"{record.name!r} was refused as exhausted, but with its own need at most {seen[1]} of "
            f"{self._total} bytes were held, and nobody else asked for any (standard 3.2)",
        )

    def lost(self, record: Record) -> None:
        """Record that an append has no known end: its memory may never come back."""
        self._end(record)
        self._shown.append_is_lost()

    def has_no_memory_for(self, record: Record) -> bool:
        """Tell whether an append under way cannot have had the memory of a batch up to now."""
        least, _ = self._memory.so_far(record.asked)
        return self._total - least < self._batch_size

    def under_way(self) -> Iterable[Record]:
        """Return the records whose appends are under way."""
        return self._under_way.values()

    def fits(self, record: Record) -> bool:
        """Tell whether the pool has the memory for a batch of this record, if nobody has any."""
        return max(self._batch_size, 2 * record.size + 2 * _OVERHEAD) <= self._total

    def called_back(self, record: Record, *, is_read: bool = False) -> None:
        """Record that a callback ran: the memory of its batch comes back soon.

        With `is_read` a request may still be reading the batch: its memory stays until the response
        comes.
        """
        self._shown.batch_may_end()
        self._untold -= 1
        if is_read and record.batch is not None:
            self._kept.setdefault(record.batch, []).append(record)
        else:
            self._unsure(record)
        if record.returned is not None:
            self._incomplete.change(least=-1)
            self._settle(record)

    def may_land(self, batch: Batch) -> None:
        """Record that the response to a batch may have come."""
        for record in self._kept.pop(batch, ()):
            self._unsure(record)

    def may_abort(self) -> None:
        """Record that an abort began: it may give back what requests still read."""
        for batch in tuple(self._kept):
            self.may_land(batch)

    def split(self, batch: Batch) -> None:
        """Record that a batch was split: its parts do not use the pool's memory."""
        for record in batch.records:
            record.was_split = True
            self._unsure(record)

    def landed(self, batch: Batch) -> None:
        """Record that a batch is no longer in flight."""
        self._ended += batch.ended
        batch.ended.clear()

    def idle(self) -> None:
        """Record that no sender call is under way: ended records have given back their memory."""
        if not self._at_once:
            return
        for record in self._ended:
            self._incomplete.change(most=-1)
            self._memory.change(most=-record.holds)
            record.holds = 0
        self._ended.clear()

    def begin_read_of_memory(self, call: int) -> None:
        """Record that a call of available_memory began."""
        self._memory.begin_read(call)
        self._begin_read(call)

    def begin_read_of_incomplete(self, call: int) -> None:
        """Record that a call of has_incomplete began."""
        self._incomplete.begin_read(call)
        self._begin_read(call)

    def forget_read(self, call: int) -> None:
        """Record that one of these calls ended without an answer."""
        self._memory.seen(call)
        self._incomplete.seen(call)
        self._shown.forget(call)

    def judge_memory(self, call: int, index: int, available: int) -> Violation | None:
        """Judge the answer of available_memory."""
        seen = self._memory.seen(call)
        assert seen is not None
        shown = self._shown.available(call, index, available)
        least, most = max(self._total - seen[1], shown), self._total - seen[0]
        self._tests(AccumulatorClause.MEMORY_IS_CONSERVED)
        if least <= available <= most:
            return None
        return AccumulatorClause.MEMORY_IS_CONSERVED.broken(
            f"{least} to {most} bytes are available",
            f"{available} bytes are available",
            f"available_memory() returned {available}, but the batches leave {least} to {most} of "
            f"{self._total} bytes (standard 3.9)",
        )

    def judge_incomplete(self, call: int, index: int, *, yes: bool) -> Violation | None:
        """Judge the answer of has_incomplete."""
        seen = self._incomplete.seen(call)
        assert seen is not None
        least, most = self._shown.incomplete(call, index, seen, yes=yes)
        self._tests(AccumulatorClause.NOTHING_IS_LEFT)
        if yes and most == 0:
            return AccumulatorClause.NOTHING_IS_LEFT.broken(
                "no batch is incomplete",
                "a batch is incomplete",
                "has_incomplete() returned true, but every record has been called back, or none "
                "was there before and none was appended since (standard 4.7)",
            )
        if yes or least == 0:
            return None
        return AccumulatorClause.COMPLETES_ONCE.broken(
            "a batch is incomplete",
            "no batch is incomplete",
            f"has_incomplete() returned false, but at least {least} accepted records were not "
            "called back (standard 4.11)",
        )

    def _begin_read(self, call: int) -> None:
        is_settled = self._incomplete.most == self._untold
        self._shown.begin_read(call, without_appends=not self._met, is_settled=is_settled)

    def _settle(self, record: Record) -> None:
        batch = record.batch
        if batch is not None and batch.in_flight:
            batch.ended.append(record)
        else:
            self._ended.append(record)

    def _unsure(self, record: Record) -> None:
        if record in self._sure:
            self._sure.remove(record)
            self._memory.change(least=-self._least(record))

    def _least(self, record: Record) -> int:
        return max(self._batch_size, record.size)

    def _end(self, record: Record) -> tuple[int, int] | None:
        del self._met[record.asked], self._under_way[record.asked]
        return self._memory.seen(record.asked)
