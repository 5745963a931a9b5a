"""The calls that ask for a pool's memory, and calls that overtook those that wait (standard 3.10).

A history does not show when a thread begins to wait. But a read of the queue that counts all calls
open during the read shows that all of them waited at one moment; later calls are behind them.
"""

from dataclasses import dataclass, field

from wheelproof_spec.base.results.tally import Tally
from wheelproof_spec.base.results.violation import Violation
from wheelproof_spec.components.buffer_pool.component import PoolClause


@dataclass(slots=True)
class Request:
    """A call of allocate under way."""

    call: int
    size: int
    certain: int
    """The maximum of bytes lent for certain while the call was under way."""
    possible: int
    """The maximum of bytes that can have been lent when the call began, without the call."""
    patient_until_ms: int
    """Before this time the call may not be refused for exhausted memory."""
    alone: bool = True
    """Whether no other request was open at the same time."""
    met_grant: bool = False
    """Whether another request that was open at the same time got memory."""


@dataclass(slots=True)
class BusyPeriod:
    """A period in which a request is always open, and its refusals without a clear reason.

    A request that is refused for exhausted memory may have waited behind another one, but not all
    requests that are open at one time can have waited behind each other.
    """

    excused: bool = False
    """Whether the period has an event that can explain the refusals."""
    refused: list[int] = field(default_factory=list[int])
    """The indices of those refusals."""


@dataclass(slots=True)
class _Asker:
    asked: int
    size: int
    waited: int | None = None
    """The index by which it waited for certain: the end of the first read that showed it."""
    overtaken: int | None = None
    """The index at which a call that began after that had got memory."""
    was_seen: bool = False
    """Whether a read showed that it still waited after that."""
    was_short: bool = False
    """Whether what it asks for was not there when such a call had got its memory."""


@dataclass(slots=True)
class _Read:
    began: int
    askers: int
    """The number of calls that were open at some time during the read."""
    most: int
    """The greatest number of them at one time."""


class WaitingQueue:
    """The calls of allocate under way, and the reads of the number of them that wait."""

    def __init__(self, tally: Tally, *, in_turn: bool) -> None:
        """Begin; `in_turn` says that a new caller must queue behind the threads that wait."""
        self._tests = tally.tests
        self._in_turn = in_turn
        self._askers: dict[int, _Asker] = {}
        self._lost = 0
        """How many calls have no known end: each of them may still wait."""
        self._reads: dict[int, _Read] = {}
        self.tested = False
        """Whether a call that waited for certain got no memory: only then the order is judged."""

    def asks(self, call: int, size: int) -> None:
        """Record that a call of allocate began."""
        self._askers[call] = _Asker(call, size)
        for read in self._reads.values():
            read.askers += 1
            read.most = max(read.most, len(self._askers) + self._lost)

    def granted(self, call: int, index: int, left: int) -> Violation | None:
        """Record that a call got memory; return the violation if a later call overtook it.

        At most `left` bytes are lent to nobody now. A call that asks for more than that has got
        nothing yet. A call that never waits, as one for 0 bytes, has not asked here.
        """
        mine = self._askers.pop(call, None)
        if mine is None:
            return None
        served_first = False
        for asker in self._askers.values():
            if asker.waited is not None and asker.waited < mine.asked:
                asker.overtaken = index if asker.overtaken is None else asker.overtaken
                asker.was_short = asker.was_short or asker.size > left
            served_first = served_first or (mine.waited is not None and mine.waited < asker.asked)
        # It waited until it was served, so whoever got memory meanwhile got it before.
        was_overtaken = mine.was_seen or mine.was_short
        if not self._in_turn or not (was_overtaken or served_first):
            return None
        self.tested = True
        self._tests(PoolClause.LONGEST_WAITING_FIRST)
        return _overtaken(mine.size, "they were lent after that") if was_overtaken else None

    def refused(self, call: int) -> Violation | None:
        """Record that a call got no memory; return the violation if a later call overtook it."""
        mine = self._askers.pop(call, None)
        if not self._in_turn or mine is None or mine.waited is None:
            return None
        self.tested = True
        self._tests(PoolClause.LONGEST_WAITING_FIRST)
        if not mine.was_seen:
            return None
        return _overtaken(mine.size, "they were waited for in vain")

    def ends(self, call: int) -> None:
        """Record that the outcome of a call is unknown."""
        if self._askers.pop(call, None) is not None:
            self._lost += 1

    def begin_read(self, call: int) -> None:
        """Record that a call of queued began."""
        askers = len(self._askers) + self._lost
        self._reads[call] = _Read(call, askers, askers)

    def forget_read(self, call: int) -> None:
        """Record that a call of queued has no answer."""
        self._reads.pop(call, None)

    def end_read(self, call: int, index: int, count: int) -> Violation | None:
        """Record the answer of a call of queued; return the violation if it counts too many."""
        read = self._reads.pop(call)
        self._tests(PoolClause.WAITERS_ARE_LIVE)
        if count > read.most:
            return PoolClause.WAITERS_ARE_LIVE.broken(
                f"at most {read.most} threads wait",
                f"{count} threads wait",
                f"queued() returned {count}, but at most {read.most} threads can have been waiting",
            )
        if count == read.askers:
            for asker in self._askers.values():
                asker.waited = index if asker.waited is None else asker.waited
                overtaken = asker.overtaken
                asker.was_seen = asker.was_seen or (
                    overtaken is not None and overtaken < read.began
                )
        return None


def _overtaken(size: int, what: str) -> Violation:
    return PoolClause.LONGEST_WAITING_FIRST.broken(
        f"the request for {size} bytes is served before later ones",
        f"a later request was served, and {what}",
        f"a later request overtook one for {size} bytes: it was served, and {what} (standard 3.3)",
    )
