"""A history that is told event by event, and is linearizable or not."""

from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

from wheelproof_spec.history.linearizability.calls import Event, Invoked, Returned
from wheelproof_spec.history.linearizability.check import check_history
from wheelproof_spec.history.linearizability.drawing import drawing
from wheelproof_spec.history.linearizability.model import Model

State = TypeVar("State", bound=Hashable)
Op = TypeVar("Op")
Res = TypeVar("Res")


class LinearizableHistory(Generic[State, Op, Res]):
    """The events of a history, and the model that its calls have to agree with.

    >>> from wheelproof_spec.history.linearizability.models import Read, Registers, Write
    >>> history = LinearizableHistory(Registers(0))
    >>> history.invoked("a", Write(1))
    >>> history.returned("a", None)
    >>> history.invoked("b", Read())
    >>> history.returned("b", 1)
    >>> history.problem() is None
    True
    """

    def __init__(self, model: Model[State, Op, Res]) -> None:
        """Begin an empty history."""
        self._model = model
        self.events: list[Event[Op, Res]] = []

    def invoked(self, process: str, operation: Op) -> None:
        """Take the event that a process calls an operation."""
        self.events.append(Invoked(process, operation))

    def returned(self, process: str, result: Res) -> None:
        """Take the event that the call of a process returns."""
        self.events.append(Returned(process, result))

    def problem(self) -> str | None:
        """Return the longest prefix that is linearizable, and why no more is; None if all is."""
        explanation = check_history(self._model, self.events).explanation
        return None if explanation is None else str(explanation)

    def drawing(self) -> str:
        """Return the history as HTML, with a linearization as far as there is one."""
        return drawing(self._model, self.events, check_history(self._model, self.events))


def linearizable(
    model: Model[State, Op, Res],
) -> Callable[[], LinearizableHistory[State, Op, Res]]:
    """Return what makes an empty history, for `PublicOperations` of the model checker."""
    return lambda: LinearizableHistory(model)
