"""Public operations of the object under test, judged as a history in every run.

def two_counters() -> Scenario:
    register = sync.volatile(0, "register")
    history = PublicOperations(linearizable(Registers(0)))

    def write() -> None:
        history.call(Write(1), lambda: register.set(1))

    def read() -> None:
        history.call(Read(), register.get)

    return Scenario(threads={"a": write, "b": read}, history=history)

The invocation and the return of a call are steps, so every order of "returned before the other call
began" is explored. The judge is yours: `wheelproof_spec.history.linearizability` has one.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from wheelproof import sync
from wheelproof_explore.runtime.runtime import ControlledRuntime
from wheelproof_explore.runtime.thread_steps import completion, invocation

Op = TypeVar("Op")
Res = TypeVar("Res")
_Op = TypeVar("_Op", contravariant=True)
_Res = TypeVar("_Res", contravariant=True)


class NotLinearizableError(Exception):
    """The error that no linearization explains the results of a run's public operations."""


class JudgedHistory(Protocol[_Op, _Res]):
    """A history that is told event by event, and judged at its end."""

    def invoked(self, process: str, operation: _Op) -> None:
        """Take the event that a process calls an operation."""
        ...

    def returned(self, process: str, result: _Res) -> None:
        """Take the event that the call of a process returns."""
        ...

    def problem(self) -> str | None:
        """Return why the history is wrong, with the prefix that is right; None if it is right."""
        ...

    def drawing(self) -> str:
        """Return the history as HTML."""
        ...


@dataclass(frozen=True, slots=True)
class _Event(Generic[Op, Res]):
    """A moment of the history: a call begins with `operation`, or returns `result`."""

    process: str
    begins: bool
    tell: Callable[[JudgedHistory[Op, Res]], None]


class PublicOperations(Generic[Op, Res]):
    """The history of one run, made anew for each run, and what judges it."""

    def __init__(self, judged: Callable[[], JudgedHistory[Op, Res]]) -> None:
        """Begin an empty history, which a new `judged` takes when the run has ended.

        Raises RuntimeError outside an explored program.
        """
        runtime = sync.current_runtime()
        if not isinstance(runtime, ControlledRuntime):
            raise RuntimeError("public operations are recorded only inside an explored program")
        self._runtime = runtime
        self._judged = judged
        self._events: list[_Event[Op, Res]] = []
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
        self._events.append(self._begins(process, operation))
        result = action()
        self._runtime.perform(completion(f"{operation} = {result!r}"))
        self._events.append(self._ends(process, result))
        del self._begun[process]
        return result

    def inside(self, operation: Op, result: Res) -> None:
        """Record an operation that the object itself performs during this thread's call.

        It may take effect at any moment of that call.
        """
        self._inside.setdefault(self._begun[self._process()], []).append((operation, result))

    def check(self) -> None:
        """Raise NotLinearizableError, with what the judge says, if the history is wrong."""
        problem = self._told().problem()
        if problem is not None:
            raise NotLinearizableError(problem)

    def drawing(self) -> str:
        """Return the history as HTML, as its judge draws it."""
        return self._told().drawing()

    def _told(self) -> JudgedHistory[Op, Res]:
        """Return a history that was told all events; an operation inside a call spans that call."""
        history = self._judged()
        under_way: dict[str, list[_Event[Op, Res]]] = {}
        for place, event in enumerate(self._events):
            if event.begins:
                event.tell(history)
                returns = under_way[event.process] = []
                for number, (operation, result) in enumerate(self._inside.get(place, ())):
                    inner = f"{event.process} at {place + 1}.{number + 1}"
                    history.invoked(inner, operation)
                    returns.append(self._ends(inner, result))
                continue
            for inside in under_way.pop(event.process, ()):
                inside.tell(history)
            event.tell(history)
        for returns in under_way.values():
            for inside in returns:
                inside.tell(history)
        return history

    def _process(self) -> str:
        thread = self._runtime.caller()
        if self._processes.setdefault(thread.name, thread.number) == thread.number:
            return thread.name
        return f"{thread.name} #{thread.number}"

    @staticmethod
    def _begins(process: str, operation: Op) -> _Event[Op, Res]:
        def tell(history: JudgedHistory[Op, Res]) -> None:
            history.invoked(process, operation)

        return _Event(process, begins=True, tell=tell)

    @staticmethod
    def _ends(process: str, result: Res) -> _Event[Op, Res]:
        def tell(history: JudgedHistory[Op, Res]) -> None:
            history.returned(process, result)

        return _Event(process, begins=False, tell=tell)
