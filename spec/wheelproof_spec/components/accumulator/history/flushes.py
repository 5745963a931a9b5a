"""The flushes of a history: how many may go on, and which of them surely do (standard 4.8)."""

from collections.abc import Mapping

from wheelproof_spec.base.history.bounds import Bounds
from wheelproof_spec.base.results.tally import Tally
from wheelproof_spec.base.results.violation import Violation
from wheelproof_spec.components.accumulator.component import AccumulatorClause
from wheelproof_spec.components.accumulator.history.callbacks import Callbacks


class Flushes:
    """The judge of flushes: they wait for what was accepted, and then count no more.

    That a flush was called does not show that it has begun. If the only flush was seen to be in
    progress, it has begun; and it goes on while a record that it waits for is not called back.
    """

    def __init__(self, callbacks: Callbacks, interrupts: Mapping[str, int], tally: Tally) -> None:
        """Begin; `interrupts` says how many interrupts of each process have not ended a call."""
        self._callbacks = callbacks
        self._interrupts = interrupts
        self._tests = tally.tests
        self._count = Bounds()
        self._open: dict[int, str] = {}
        """The process of each flush under way, by the event of its call."""
        self._begun: dict[int, int] = {}
        """The event that showed that a flush had begun, by the event of its call."""

    def begins(self, call: int, process: str) -> None:
        """Record that a flush was called."""
        self._count.change(most=1)
        self._open[call] = process

    def ends(self, call: int) -> None:
        """Record that a flush has returned or was refused."""
        self._count.change(most=-1)
        self.lost(call)

    def lost(self, call: int) -> None:
        """Record that the end of a flush is not known: it may go on."""
        self._open.pop(call, None)
        self._begun.pop(call, None)

    def returned(self, call: int) -> Violation | None:
        """Record that a flush has returned, and judge whether it has waited."""
        self.ends(call)
        self._tests(AccumulatorClause.FLUSH_WAITS)
        first = self._callbacks.first_owed(call)
        if first is None:
            return None
        return AccumulatorClause.FLUSH_WAITS.broken(
            f"{first.name!r} is called back before the flush returns",
            f"the flush returns, and {first.name!r} was not called back",
            f"a flush returned before {first.name!r} was called back, whose append had returned "
            "when the flush began (standard 4.8)",
        )

    def begin_read(self, call: int) -> None:
        """Record that a call began that depends on whether a flush goes on."""
        self._count.begin_read(call)

    def may_go_on(self, call: int) -> bool:
        """Tell whether a flush may have been in progress during a call that ends now."""
        seen = self._count.seen(call)
        return seen is None or seen[1] > 0

    def goes_on_since(self, event: int) -> bool:
        """Tell whether a flush was surely in progress all the time since an event."""
        return any(
            begun < event
            and not self._interrupts.get(self._open[call])
            and self._callbacks.waits_for(call)
            for call, begun in self._begun.items()
        )

    def judge(self, call: int, index: int, *, yes: bool) -> Violation | None:
        """Judge the answer of `flush_in_progress`, which is event `index`."""
        seen = self._count.seen(call)
        self._tests(AccumulatorClause.FLUSH_ENDS)
        if not yes and self.goes_on_since(call):
            return AccumulatorClause.FLUSH_ENDS.broken(
                "a flush is in progress",
                "no thread flushes",
                "the accumulator reports that no thread flushes, but a flush has begun and still "
                "waits for a record (standard 4.8)",
            )
        if not yes or seen is None:
            return None
        if seen[1] > 0:
            if seen[1] == 1 and len(self._open) == 1:
                self._begun.setdefault(next(iter(self._open)), index)
            return None
        return AccumulatorClause.FLUSH_ENDS.broken(
            "no thread flushes",
            "a flush is in progress",
            "the accumulator reports a flush in progress, but every flush is over (standard 4.8)",
        )
