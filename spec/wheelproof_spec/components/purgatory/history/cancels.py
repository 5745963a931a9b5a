"""What cancel_for_key takes from a key (semantics.md 2.9)."""

from collections.abc import Iterable
from dataclasses import dataclass

from wheelproof_spec.base.codec.vocabulary import ABSENT
from wheelproof_spec.base.history.clock import HistoryClock
from wheelproof_spec.base.violation import Violation
from wheelproof_spec.components.purgatory.events import CancelledAnswer
from wheelproof_spec.components.purgatory.history.gauges import Gauges
from wheelproof_spec.components.purgatory.history.operation import Operation
from wheelproof_spec.components.purgatory.history.violations import (
    cancelled_wrongly,
    completed_though_cancelled,
)


@dataclass(slots=True)
class _Open:
    key: str
    calm: tuple[Operation, ...]
    """Who waited for the key for sure when it began."""
    listed: dict[str, None]
    """Who may be in the list that it takes away: another cancel may take it first."""
    met: list[Operation]
    """Who may be cancelled by it."""


class Cancels:
    """The cancels under way, and who they may have taken."""

    def __init__(self, gauges: Gauges, clock: HistoryClock, *, gives_up: bool) -> None:
        self._gauges = gauges
        self._clock = clock
        self._gives_up = gives_up
        self._open: dict[int, _Open] = {}

    def begin(self, call: int, key: str) -> None:
        """A cancel begins."""
        listed = self._gauges.listed(key)
        names = dict.fromkeys(operation.name for operation in listed)
        cancel = self._open[call] = _Open(key, self._gauges.calm(key), names, [])
        for operation in listed:
            if operation.completed is None:
                _meet(cancel, operation)
                self._gauges.disturb(operation)

    def handed_in(self, operation: Operation) -> None:
        """An operation comes that cancels under way may meet."""
        for cancel in self._open.values():
            if cancel.key in operation.keys:
                cancel.listed[operation.name] = None
                _meet(cancel, operation)

    def forget(self, call: int, *, refused: bool) -> None:
        """A cancel ends without an answer; if it was refused, it has taken nobody."""
        cancel = self._open.pop(call, None)
        if refused and cancel is not None:
            _resolve(cancel.met)

    def end(
        self, call: int, answer: CancelledAnswer, operations: dict[str, Operation]
    ) -> Violation | None:
        """A cancel has answered."""
        cancel = self._open.pop(call)
        key, listed = cancel.key, cancel.listed
        sure = [one for one in cancel.calm if self._still_waits(one)]
        if not len(sure) <= answer.count <= len(listed):
            expected = f"{len(sure)} to {len(listed)} operations"
            return cancelled_wrongly(key, expected, f"{answer.count} operations")
        names = () if answer.count == 0 else answer.ops
        if names is ABSENT:
            return None
        _resolve(cancel.met)
        return self._judge_names(cancel, sure, names, operations)

    def _judge_names(
        self,
        cancel: _Open,
        sure: Iterable[Operation],
        names: tuple[str, ...],
        operations: dict[str, Operation],
    ) -> Violation | None:
        left = next((one.name for one in sure if one.name not in names), None)
        if left is not None:
            return cancelled_wrongly(cancel.key, f"{left!r}, too", f"without {left!r}")
        for name in names:
            if name not in cancel.listed:
                return cancelled_wrongly(cancel.key, "who waits for it", f"{name!r}")
            operation = operations[name]
            if self._gives_up and operation.cancelled:
                return cancelled_wrongly(cancel.key, f"not {name!r} again", f"{name!r}")
            operation.cancelled = True
            if self._gives_up and operation.completed is not None:
                return completed_though_cancelled(name)
        return None

    def _still_waits(self, operation: Operation) -> bool:
        return (
            operation.completed is None
            and operation.cancels == 1
            and not (operation.may_be_true or operation.forced)
            and operation.least > self._clock.high
        )


def _meet(cancel: _Open, operation: Operation) -> None:
    operation.cancels += 1
    operation.open_cancels += 1
    cancel.met.append(operation)


def _resolve(met: Iterable[Operation]) -> None:
    for operation in met:
        operation.open_cancels -= 1
