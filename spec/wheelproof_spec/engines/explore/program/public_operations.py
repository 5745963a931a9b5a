"""Public operations of the object under test, judged for linearizability in every run.

def two_counters() -> Scenario:
    register = sync.volatile(0, "register")
    history = PublicOperations(Registers(0))

    def write() -> None:
        history.call(Write(1), lambda: register.set(1))

    def read() -> None:
        history.call(Read(), register.get)

    return Scenario(threads={"a": write, "b": read}, history=history)

The invocation and the return of a call are steps, so every order of "returned before the other call
began" is explored.
"""

from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

from wheelproof import sync
from wheelproof_spec.engines.explore.runtime.runtime import ControlledRuntime
from wheelproof_spec.engines.explore.runtime.thread_steps import completion, invocation
from wheelproof_spec.engines.history.linearizability.calls import Event, Invoked, Returned
from wheelproof_spec.engines.history.linearizability.check import Explanation, Model, check_history
from wheelproof_spec.engines.history.linearizability.drawing import drawing

State = TypeVar("State", bound=Hashable)
Op = TypeVar("Op")
Res = TypeVar("Res")
T = TypeVar("T")


class NotLinearizableError(Exception):
    """The error that no linearization explains the results of a run's public operations."""


class PublicOperations(Generic[State, Op, Res]):
    """The history of one run, made anew for each run, and the model that judges it."""

    def __init__(self, model: Model[State, Op, Res]) -> None:
        """Begin an empty history; raises RuntimeError outside an explored program."""
        runtime = sync.current_runtime()
        if not isinstance(runtime, ControlledRuntime):
            raise RuntimeError("public operations are recorded only inside an explored program")
        self._runtime = runtime
        self._model = model
        self._events: list[Event[Op, Res]] = []
        self._processes: dict[str, int] = {}
        # For each open call: the index of its invocation, and the operations inside it.
        self._begun: dict[str, int] = {}
        self._inside: dict[int, list[tuple[Op, Res]]] = {}

    def call(self, operation: Op, action: Callable[[], Res]) -> Res:
        """Perform `action` as the public operation `operation`; calls are not nested.

        A call that raises has no end: it may have taken effect or not.
        """
        process = self._process()
        self._runtime.perform(invocation(str(operation)))
        self._begun[process] = len(self._events)
        self._events.append(Invoked(process, operation))
        result = action()
        self._runtime.perform(completion(f"{operation} = {result!r}"))
        self._events.append(Returned(process, result))
        del self._begun[process]
        return result

    def inside(self, operation: Op, result: Res) -> None:
        """Record an operation that the object itself performs during this thread's call.

        It may take effect at any moment of that call.
        """
        self._inside.setdefault(self._begun[self._process()], []).append((operation, result))

    def events(self) -> list[Event[Op, Res]]:
        """Return the history; an operation inside a call spans that call."""
        history: list[Event[Op, Res]] = []
        under_way: dict[str, list[Returned[Res]]] = {}
        for place, event in enumerate(self._events):
            process = event.process
            if isinstance(event, Invoked):
                history.append(event)
                returns = under_way[process] = []
                for number, (operation, result) in enumerate(self._inside.get(place, ())):
                    inner = f"{process} at {place + 1}.{number + 1}"
                    history.append(Invoked(inner, operation))
                    returns.append(Returned(inner, result))
            else:
                history.extend(under_way.pop(process, ()))
                history.append(event)
        for returns in under_way.values():
            history.extend(returns)
        return history

    def check(self) -> None:
        """Raise NotLinearizableError, with the longest linearizable prefix, if it is not all."""
        explanation: Explanation[Op, Res] | None
        explanation = check_history(self._model, self.events()).explanation
        if explanation is not None:
            raise NotLinearizableError(str(explanation))

    def drawing(self) -> str:
        """Return the history as HTML, with a linearization as far as there is one."""
        events = self.events()
        return drawing(self._model, events, check_history(self._model, events))

    def _process(self) -> str:
        thread = self._runtime.caller()
        if self._processes.setdefault(thread.name, thread.number) == thread.number:
            return thread.name
        return f"{thread.name} #{thread.number}"
