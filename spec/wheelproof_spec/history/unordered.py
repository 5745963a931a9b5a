"""Judges, by counting, a history in which only the order within each process is known.

The processes share neither a recorder nor a clock, so the order of their lines is not known, and no
sorting by time is attempted. Only rules that hold in any order are judged.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Literal

from wheelproof_spec.base.history.judging import Balance, Counted
from wheelproof_spec.base.history.lines import HistoryEnd, HistoryOp
from wheelproof_spec.base.results.tally import Tally
from wheelproof_spec.base.results.violation import Violation


class UnorderedHistoryJudge:
    """The judge that counts events of each task, buffer, operation and record."""

    goes_on_after = frozenset[str]()

    def __init__(self, balances: Sequence[Balance], tally: Tally) -> None:
        """Begin; without balances it judges nothing."""
        self._balances = balances
        self._tally = tally
        self._room: Counter[tuple[Balance, str]] = Counter()
        self._used: Counter[tuple[Balance, str]] = Counter()

    def invoked(self, op: HistoryOp[object]) -> Violation | None:
        """Record that a call began: it may have an effect from now on."""
        self._count("invoke", op, op.value, 1)
        return None

    def ended(self, op: HistoryOp[object]) -> Violation | None:
        """Record that a callback ended; it was counted when it began."""
        del op
        return None

    def returned(self, asked: HistoryOp[object], op: HistoryOp[object]) -> Violation | None:
        """Record that a call returned with an answer."""
        self._count("ok", asked, op.value, 1)
        return None

    def failed(self, asked: HistoryOp[object], op: HistoryOp[object]) -> Violation | None:
        """Record that a call was refused: it had no effect, and counts no more."""
        del op
        self._count("invoke", asked, asked.value, -1)
        return None

    def lost(self, asked: HistoryOp[object], op: HistoryOp[object]) -> None:
        """Record that a call has no known end: it still counts, since it may have an effect."""
        del asked, op

    def finish(self, end: HistoryEnd | None, index: int) -> Violation | None:
        """Compare the counts at the end of the history."""
        del end, index
        for (balance, name), used in self._used.items():
            room = self._room[balance, name]
            self._tally.tests(balance.clause)
            if used > room:
                return Violation(
                    rule=balance.clause,
                    expected=f"at most {room} {balance.what} of {name!r}, for {room} "
                    f"{balance.room}",
                    observed=f"{used} {balance.what}",
                    reason=f"{name!r}: {used} {balance.what}, but only {room} {balance.room}, in "
                    "whatever order",
                )
        return None

    def notes(self, end: HistoryEnd | None) -> tuple[str, ...]:
        """Return what was not judged."""
        del end
        return (
            "only the order within each process is known: numbers were judged, times and order "
            "were not",
        )

    def _count(
        self, at: Literal["invoke", "ok"], asked: HistoryOp[object], answer: object, times: int
    ) -> None:
        for balance in self._balances:
            self._room.update(_named(balance, (balance.makes_room,), at, asked, answer, times))
            self._used.update(_named(balance, balance.uses, at, asked, answer, times))


def _named(
    balance: Balance,
    events: Iterable[Counted],
    at: Literal["invoke", "ok"],
    asked: HistoryOp[object],
    answer: object,
    times: int,
) -> dict[tuple[Balance, str], int]:
    """Return how much an event counts, for each balance and name."""
    found: dict[tuple[Balance, str], int] = {}
    for event in events:
        if (event.operation, event.at) != (asked.f, at):
            continue
        if event.if_true is not None and getattr(answer, event.if_true) is not True:
            continue
        name: object = getattr(answer if event.of == "answer" else asked.value, event.field)
        assert isinstance(name, str)
        found[balance, name] = times
    return found
