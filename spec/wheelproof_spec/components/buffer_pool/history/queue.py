"""Who is known to wait for a pool's memory, and who got some before them (semantics.md 3.10).

Nobody records when a thread begins to wait. But a look at the queue that counts everybody who asked
during it shows that all of them waited at one moment; whoever asks later is behind them.
"""

from dataclasses import dataclass

from wheelproof_spec.base.results.tally import Tally
from wheelproof_spec.base.results.violation import Violation
from wheelproof_spec.components.buffer_pool.component import PoolClause


@dataclass(slots=True)
class _Asker:
    asked: int
    waited: int | None = None
    """By when it waited for sure: the index of the end of the first look that showed it."""
    overtaken: int | None = None
    """Where somebody had got memory who had asked after that."""
    was_seen: bool = False
    """Whether it waited all the same after that."""


@dataclass(slots=True)
class _Look:
    began: int
    askers: int
    """How many asked for memory at some time during the look."""
    most: int
    """How many did so at one time."""


class WaitingQueue:
    """The calls of allocate under way, and the looks at how many of them wait."""

    def __init__(self, tally: Tally, *, in_turn: bool) -> None:
        """`in_turn` says that a newcomer is promised to be behind those who wait."""
        self._tests = tally.tests
        self._in_turn = in_turn
        self._askers: dict[int, _Asker] = {}
        self._looks: dict[int, _Look] = {}
        self.tested = False
        """Whether somebody who waited for sure has got no memory: only then is the order judged."""

    def asks(self, call: int) -> None:
        """A call of allocate begins."""
        self._askers[call] = _Asker(call)
        for look in self._looks.values():
            look.askers += 1
            look.most = max(look.most, len(self._askers))

    def granted(self, call: int, index: int, size: int) -> None:
        """It got memory, which nobody has to wait for who asks for none."""
        mine = self._askers.pop(call)
        for asker in self._askers.values():
            behind = asker.waited is not None and asker.waited < mine.asked
            if size and behind and asker.overtaken is None:
                asker.overtaken = index

    def refused(self, call: int, size: int) -> Violation | None:
        """It got none; that is wrong if others got some that came later, while it waited."""
        mine = self._askers.pop(call)
        if not self._in_turn or mine.waited is None:
            return None
        self.tested = True
        self._tests(PoolClause.LONGEST_WAITING_FIRST)
        if not mine.was_seen:
            return None
        return PoolClause.LONGEST_WAITING_FIRST.broken(
            f"{size} bytes are lent before others who asked later get any",
            "they were waited for in vain, and somebody who asked later was served",
        )

    def ends(self, call: int) -> None:
        """Nobody knows what becomes of it."""
        self._askers.pop(call, None)

    def look(self, call: int) -> None:
        """queued is called."""
        self._looks[call] = _Look(call, len(self._askers), len(self._askers))

    def forget_look(self, call: int) -> None:
        """It has no answer."""
        self._looks.pop(call, None)

    def looked(self, call: int, index: int, count: int) -> Violation | None:
        """It has answered."""
        look = self._looks.pop(call)
        self._tests(PoolClause.WAITERS_ARE_LIVE)
        if count > look.most:
            return PoolClause.WAITERS_ARE_LIVE.broken(
                f"at most {look.most} threads wait",
                f"{count} threads",
                "the queue has threads that wait for nothing any more",
            )
        if count == look.askers:
            for asker in self._askers.values():
                asker.waited = index if asker.waited is None else asker.waited
                overtaken = asker.overtaken
                asker.was_seen = asker.was_seen or (
                    overtaken is not None and overtaken < look.began
                )
        return None
