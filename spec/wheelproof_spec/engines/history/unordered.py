"""Judges a history of which only the order within each process is known: by counting.

Lines of processes that share neither a recorder nor a clock say nothing about what came first, so
no sorting by time is attempted. What remains is what holds in any order.
"""

from collections import Counter
from dataclasses import dataclass

from wheelproof_spec.base.history.lines import HistoryEnd, HistoryOp
from wheelproof_spec.base.violation import Violation
from wheelproof_spec.components.accumulator.events import (
    AppendAsked,
    CallbackAsked,
)
from wheelproof_spec.components.buffer_pool.events import (
    AllocateAnswer,
    DeallocateAsked,
)
from wheelproof_spec.components.purgatory.events import CompletedAnswer, OperationAsked, WatchAsked
from wheelproof_spec.components.timer.events import AddAsked, CancelAnswer, TaskAsked


@dataclass(frozen=True, slots=True)
class _Balance:
    """Something that may happen at most as often as something else makes room for it."""

    rule: str
    what: str
    room: str


_RUNS = _Balance("Timer.RunsAtMostOncePerAdd", "runs and successful cancels", "adds")
_RETURNS = _Balance("BufferPool.TakesBackOnlyWhatIsLent", "returns", "loans")
_COMPLETIONS = _Balance("Purgatory.CompletesAtMostOnce", "completions", "operations")
_CALLBACKS = _Balance("Accumulator.CallsBackOnce", "callbacks", "appends")


class UnorderedHistoryJudge:
    """Compares, at the end, how often things happened to each task, buffer, operation, record."""

    def __init__(self) -> None:
        self._room: Counter[tuple[_Balance, str]] = Counter()
        self._used: Counter[tuple[_Balance, str]] = Counter()

    def invoked(self, op: HistoryOp[object]) -> Violation | None:
        """A call begins: it may have an effect from now on."""
        value = op.value
        match value:
            case AddAsked():
                self._room[_RUNS, value.task] += 1
            case TaskAsked() if op.f == "run":
                self._used[_RUNS, value.task] += 1
            case WatchAsked():
                self._room[_COMPLETIONS, value.op] += 1
            case OperationAsked() if op.f == "on_complete":
                self._used[_COMPLETIONS, value.op] += 1
            case AppendAsked():
                self._room[_CALLBACKS, value.record] += 1
            case CallbackAsked():
                self._used[_CALLBACKS, value.record] += 1
            case _:
                pass
        return None

    def ended(self, op: HistoryOp[object]) -> Violation | None:
        """Something that happened is over: it has been counted."""
        del op
        return None

    def returned(self, asked: HistoryOp[object], op: HistoryOp[object]) -> Violation | None:
        """A call returned with an answer."""
        value, answer = asked.value, op.value
        match answer:
            case CancelAnswer(cancelled=True) if isinstance(value, TaskAsked):
                self._used[_RUNS, value.task] += 1
            case AllocateAnswer():
                self._room[_RETURNS, answer.buffer] += 1
            case CompletedAnswer():
                pass
            case _ if isinstance(value, DeallocateAsked):
                self._used[_RETURNS, value.buffer] += 1
            case _:
                pass
        return None

    def failed(self, asked: HistoryOp[object], op: HistoryOp[object]) -> Violation | None:
        """A call was refused and has had no effect."""
        del op
        match asked.value:
            case AddAsked(task=task):
                self._room[_RUNS, task] -= 1
            case WatchAsked(op=operation):
                self._room[_COMPLETIONS, operation] -= 1
            case AppendAsked(record=record):
                self._room[_CALLBACKS, record] -= 1
            case _:
                pass
        return None

    def lost(self, asked: HistoryOp[object], op: HistoryOp[object]) -> None:
        """Nobody knows what becomes of a call; if it made room, it still may."""
        del asked, op

    def finish(self, end: HistoryEnd | None, index: int) -> Violation | None:
        """Compare what was counted."""
        del end, index
        for (balance, name), used in self._used.items():
            room = self._room[balance, name]
            if used > room:
                return Violation(
                    rule=balance.rule,
                    expected=f"at most {room} {balance.what} of {name!r}, for {room} "
                    f"{balance.room}",
                    observed=f"{used} {balance.what}",
                    reason="whatever the order was, it happened too often",
                )
        return None

    def notes(self, end: HistoryEnd | None) -> tuple[str, ...]:
        """Return what was not judged."""
        del end
        return (
            "only the order within each process is known: numbers were judged, times and order "
            "were not",
        )
