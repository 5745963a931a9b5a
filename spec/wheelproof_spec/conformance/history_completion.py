"""Judges the history of what is completed once: delayed operations, records that are appended.

What shows from outside: each completion happens once, after its request began, expiry comes after
completion (semantics.md 2.1, 2.2), a call that claims to have completed an operation is alone in
that, and when all is quiet every record has been called back (semantics.md 4.10, 4.11).
"""

from dataclasses import dataclass

from wheelproof_spec.oracle import Violation
from wheelproof_spec.traces.lines import HistoryEnd, HistoryOp
from wheelproof_spec.traces.producer_events import AppendAsked, CallbackAsked
from wheelproof_spec.traces.purgatory_events import CompletedAnswer, OperationAsked, WatchAsked


@dataclass(slots=True)
class _Operation:
    completed: bool = False
    expired: bool = False
    claimed: bool = False


@dataclass(slots=True)
class _Record:
    taken: bool = False
    called_back: bool = False


class CompletionHistoryJudge:
    """Answers, event by event, which rule is broken first."""

    def __init__(self) -> None:
        self._operations: dict[str, _Operation] = {}
        self._records: dict[str, _Record] = {}

    def invoked(self, op: HistoryOp[object]) -> Violation | None:
        """A call, or a callback, begins."""
        match op.value:
            case WatchAsked(op=name):
                self._operations.setdefault(name, _Operation())
            case OperationAsked(op=name) if op.f == "on_complete":
                return self._complete(name)
            case OperationAsked(op=name) if op.f == "on_expiration":
                return self._expire(name)
            case AppendAsked(record=name):
                self._records.setdefault(name, _Record())
            case CallbackAsked() as callback:
                return self._call_back(callback)
            case _:
                pass
        return None

    def returned(self, asked: HistoryOp[object], op: HistoryOp[object]) -> Violation | None:
        """A call returned with an answer."""
        value = asked.value
        if isinstance(value, AppendAsked):
            self._records[value.record].taken = True
        completed = isinstance(op.value, CompletedAnswer) and op.value.completed
        if completed and isinstance(value, WatchAsked | OperationAsked):
            return self._claim(value.op)
        return None

    def failed(self, asked: HistoryOp[object], op: HistoryOp[object]) -> Violation | None:
        """A call was refused and has had no effect."""
        del op
        value = asked.value
        if isinstance(value, AppendAsked) and self._records[value.record].called_back:
            return Violation(
                rule="Accumulator.CallsBackOnlyWhatItTook",
                expected=f"no callback of {value.record!r}, whose append was refused",
                observed=f"{value.record!r} was called back",
                reason="a refused append has no effect",
            )
        return None

    def lost(self, asked: HistoryOp[object], op: HistoryOp[object]) -> None:
        """Nobody knows what becomes of a call."""
        del asked, op

    def finish(self, end: HistoryEnd | None, index: int) -> Violation | None:
        """The history ends; when all is quiet, every record has been called back."""
        del index
        if end is None or not end.quiet:
            return None
        for name, record in self._records.items():
            if record.taken and not record.called_back:
                return Violation(
                    rule="Accumulator.CallsBackOnce",
                    expected=f"{name!r} is called back",
                    observed="it never was",
                    reason="its append was accepted, and all is quiet",
                )
        for name, operation in self._operations.items():
            if operation.claimed and not operation.completed:
                return Violation(
                    rule="Purgatory.CompletesAtMostOnce",
                    expected=f"on_complete of {name!r} has run",
                    observed="it never did",
                    reason="a call claimed to have completed it",
                )
        return None

    def notes(self, end: HistoryEnd | None) -> tuple[str, ...]:
        """Return what was not judged."""
        found = ["times, watch lists and the order of completions were not judged"]
        if end is None or not end.quiet:
            found.append("the history does not end quietly: what never happened was not judged")
        return tuple(found)

    def _complete(self, name: str) -> Violation | None:
        operation = self._operations.setdefault(name, _Operation())
        if operation.completed:
            return Violation(
                rule="Purgatory.CompletesAtMostOnce",
                expected=f"on_complete of {name!r} runs once",
                observed="it runs again",
                reason="force_complete lets one caller through (semantics.md 2.1)",
            )
        operation.completed = True
        return None

    def _expire(self, name: str) -> Violation | None:
        operation = self._operations.setdefault(name, _Operation())
        if operation.completed and not operation.expired:
            operation.expired = True
            return None
        return Violation(
            rule="Purgatory.ExpiresAtMostOnceAfterCompletion",
            expected=f"on_expiration of {name!r} runs once, after on_complete",
            observed="it runs again" if operation.expired else "on_complete has not run",
            reason="expiry completes first, and runs on_expiration if it was the one that did "
            "(semantics.md 2.2)",
        )

    def _claim(self, name: str) -> Violation | None:
        operation = self._operations.setdefault(name, _Operation())
        if operation.claimed:
            return Violation(
                rule="Purgatory.OneCallerCompletes",
                expected=f"one call claims to have completed {name!r}",
                observed="a second one does",
                reason="force_complete lets one caller through (semantics.md 2.1)",
            )
        operation.claimed = True
        return None

    def _call_back(self, callback: CallbackAsked) -> Violation | None:
        record = self._records.get(callback.record)
        if record is None or record.called_back:
            return Violation(
                rule="Accumulator.CallsBackOnce",
                expected=f"one callback of {callback.record!r}, after its append began",
                observed="a second one" if record is not None else "it was never appended",
                reason="callbacks run exactly once (semantics.md 4.11)",
            )
        record.called_back = True
        if (callback.offset is None) is (callback.error is None):
            return Violation(
                rule="Accumulator.AnswersWithAnOffsetOrAnError",
                expected="an offset or an error",
                observed=f"offset {callback.offset}, error {callback.error}",
                reason="a record either has its place or has failed (semantics.md 4.11)",
            )
        return None
