"""The judge of a long history, which also has its small stretches searched for a linearization.

Between two moments at which no call is under way, a history says exactly what the pool is like at
the first of them: what is lent, and whether it is closed. So a stretch between them can be searched
by itself, as a small history is. A history that is small is searched as a whole when it has ended.
"""

from collections import Counter
from collections.abc import Collection

from wheelproof_spec.base.calls import Close
from wheelproof_spec.base.history.judging import HistoryJudge
from wheelproof_spec.base.history.lines import HistoryEnd, HistoryHeader, HistoryOp
from wheelproof_spec.base.results.violation import Violation
from wheelproof_spec.components.buffer_pool.component import (
    Allocated,
    Deallocate,
    PoolConfig,
)
from wheelproof_spec.components.buffer_pool.history.loans import Returned
from wheelproof_spec.components.buffer_pool.history.search import Script, Searcher
from wheelproof_spec.components.buffer_pool.ledger import Lent
from wheelproof_spec.components.buffer_pool.model import LedgerPool
from wheelproof_spec.history.linearizability.small_histories import MOST_EVENTS

_MOST_OF_A_STRETCH = 2_000
"""The most configurations in the search of one stretch; then it gives up."""
MOST_OF_A_HISTORY = 100_000
"""The most configurations in all stretches of a history; then the search ends."""


class StretchJudge:
    """A judge that asks another one, and searches the stretches in which that finds nothing."""

    def __init__(self, judge: HistoryJudge, header: HistoryHeader[object], profile: str) -> None:
        assert isinstance(header.config, PoolConfig)
        self._judge = judge
        self._searcher = Searcher(header)
        self._config, self._profile = header.config, profile
        self._left = MOST_OF_A_HISTORY
        self._is_known = True
        """Whether the state of the pool between two stretches is known."""
        self._running = 0
        self._is_endless = False
        """Whether this stretch has a call that was lost."""
        self._overlap = False
        self._ops: list[HistoryOp[object]] = []
        """The lines of this stretch, at most one more than can be searched."""
        self._waiting: list[tuple[Script, LedgerPool]] = []
        """The stretches that have ended: the first ones wait, since the history may be small."""
        self._free = header.config.total_memory
        self._lent: dict[str, Lent] = {}
        self._returned = Returned()
        self._closed = False
        self._grants: dict[str, list[Lent]] = {}
        """The loans of this stretch; those from before it, and `_free`, change when it ends."""
        self._returns: Counter[str] = Counter()
        self._closes = False

    @property
    def goes_on_after(self) -> Collection[str]:
        """As the other judge says."""
        return self._judge.goes_on_after

    def invoked(self, op: HistoryOp[object]) -> Violation | None:
        """Record that a call began."""
        self._overlap = self._overlap or self._running > 0
        self._running += 1
        self._keep(op)
        return self._judge.invoked(op)

    def ended(self, op: HistoryOp[object]) -> Violation | None:
        """Record the end of what is no call."""
        return self._judge.ended(op)

    def returned(self, asked: HistoryOp[object], op: HistoryOp[object]) -> Violation | None:
        """Record that a call returned with an answer."""
        if self._is_known:
            self._note(asked, op)
        return self._goes_on(op, self._judge.returned(asked, op))

    def failed(self, asked: HistoryOp[object], op: HistoryOp[object]) -> Violation | None:
        """Record that a call was refused and had no effect."""
        return self._goes_on(op, self._judge.failed(asked, op))

    def lost(self, asked: HistoryOp[object], op: HistoryOp[object]) -> None:
        """Record that the outcome of a call is unknown: its stretch does not end any more."""
        self._judge.lost(asked, op)
        self._keep(op)
        # A call that crashed has an end, but nobody knows what it has left behind.
        self._is_known = self._is_known and op.type == "info"
        self._is_endless = True

    def finish(self, end: HistoryEnd | None, index: int) -> Violation | None:
        """End the history, and the last stretch."""
        found = self._judge.finish(end, index)
        if found is not None or index <= MOST_EVENTS:
            return found
        if self._is_known:
            self._end_stretch()
        return self._search()

    def notes(self, end: HistoryEnd | None) -> tuple[str, ...]:
        """Return notes on what was not judged."""
        notes = self._judge.notes(end)
        if self._left > 0:
            return notes
        return (
            *notes,
            "the search for a linearization of overlapping calls gave up after "
            f"{MOST_OF_A_HISTORY:,} configurations: from there on each answer is possible by "
            "itself",
        )

    def _keep(self, op: HistoryOp[object]) -> None:
        if self._is_known and not self._is_too_long:
            self._ops.append(op)
            self._is_known = not (self._is_endless and self._is_too_long)

    @property
    def _is_too_long(self) -> bool:
        return len(self._ops) > MOST_EVENTS

    def _note(self, asked: HistoryOp[object], op: HistoryOp[object]) -> None:
        """Remember what a call of this stretch has changed."""
        if isinstance(asked.value, Deallocate):
            self._returns[asked.value.buffer] += 1
            if self._is_too_long:
                self._forget(asked.value.buffer)
        elif isinstance(op.value, Allocated):
            lent = Lent(op.value.size, op.process)
            self._grants.setdefault(op.value.buffer, []).append(lent)
        self._closes = self._closes or isinstance(asked.value, Close)

    def _forget(self, buffer: str) -> None:
        """Settle at once what is not lent any more, since a stretch may be without end."""
        grants, returns = self._grants.get(buffer, []), self._returns[buffer]
        if len(grants) + (buffer in self._lent) == returns:
            self._settle(buffer, grants, returns)
            self._grants.pop(buffer, None)
            del self._returns[buffer]

    def _goes_on(self, op: HistoryOp[object], found: Violation | None) -> Violation | None:
        """Record the end of a call, and what the other judge has found."""
        self._keep(op)
        self._running -= 1
        if self._is_known and found is None and not self._running:
            self._end_stretch()
        if found is None and op.index >= MOST_EVENTS:
            found = self._search()
        if found is not None:
            self._is_known = False
            self._waiting.clear()
        return found

    def _end_stretch(self) -> None:
        """Keep a stretch that is to be searched, and bring what is known up to date."""
        if self._overlap and not self._is_too_long:
            self._waiting.append((Script.of(self._ops), self._start()))
        for buffer in self._grants.keys() | self._returns.keys():
            self._settle(buffer, self._grants.get(buffer, []), self._returns[buffer])
        self._closed = self._closed or self._closes
        self._ops.clear()
        self._grants.clear()
        self._returns.clear()
        self._overlap = False

    def _start(self) -> LedgerPool:
        """Return the pool at the beginning of a stretch, as far as the stretch can see it."""
        names = {
            op.value.buffer for op in self._ops if isinstance(op.value, Deallocate | Allocated)
        }
        pool = LedgerPool(self._config, self._profile)
        pool.resume(
            {name: self._lent[name] for name in names & self._lent.keys()},
            [name for name in names if name in self._returned],
            self._free,
            closed=self._closed,
        )
        return pool

    def _settle(self, buffer: str, grants: list[Lent], returns: int) -> None:
        """Bring up to date who has a buffer at the end of a stretch."""
        before = self._lent.pop(buffer, None)
        loans = grants if before is None else [before, *grants]
        self._free += 0 if before is None else before.size
        left = len(loans) - returns
        if left not in (0, 1) or len({loan.size for loan in loans}) > 1:
            self._is_known = False
            return
        if returns:
            self._returned.add(buffer)
        if left:
            # Of several loans nobody knows which is the last one; so nobody is known to have it.
            last = loans[-1] if len(grants) < 2 else loans[-1]._replace(borrower="")
            self._lent[buffer] = last
            self._free -= last.size

    def _search(self) -> Violation | None:
        """Search the stretches that have ended."""
        waiting, self._waiting = self._waiting, []
        for script, start in waiting:
            if self._left <= 0:
                return None
            found, visited = self._searcher.searched(script, start, _MOST_OF_A_STRETCH)
            self._left -= visited
            if found.violation is not None:
                return found.violation
        return None
