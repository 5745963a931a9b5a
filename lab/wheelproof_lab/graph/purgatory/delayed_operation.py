"""One delayed operation of the reference against DelayedOperation.tla.

One thread makes the predicate true. Another completes the operation once it holds, another expires
it, another cancels it. An action of the module is a successful compare-and-set of the state, or a
callback. The locks of a discipline are no actions. All variables of the module are compared.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from wheelproof import sync
from wheelproof.purgatory import CompletionDiscipline, DelayedOperation, OperationState
from wheelproof_explore.program import Action, Scenario, forget
from wheelproof_explore.runtime.runtime import ControlledRuntime
from wheelproof_lab.graph.comparing.projected import changes_of
from wheelproof_lab.graph.purgatory.maybe_try_complete import TIMER, discipline_of
from wheelproof_lab.graph.purgatory.maybe_try_complete_view import ANSWERS, EXPIRATIONS
from wheelproof_lab.graph.states.cells import number_in, value_in
from wheelproof_lab.graph.states.names import attributes
from wheelproof_lab.graph.states.views import (
    GraphProgram,
    NextStep,
    Surroundings,
    View,
    ViewedRun,
)
from wheelproof_spec.tlc.states.values import State, Value, make_function

_OPERATION = "op"
_HOLDS = "holds"
_NEVER_MS = 1_000
_STATE = "DelayedOperation.state"
_ENDS = {"completer": "Complete", TIMER: "Expire", "canceller": "Cancel"}
_ENDINGS: Mapping[Value, str] = {
    "completed": "Complete",
    "expired": "Expire",
    "cancelled": "Cancel",
}
_STEPS = {
    f"Set {_HOLDS}": "MakeTrue",
    f"AddAndGet {ANSWERS}": "Answer",
    f"AddAndGet {EXPIRATIONS}": "Notify",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class OneOperation:
    """The configuration: one operation from the beginning, completed under a discipline."""

    discipline: str

    def constants(self) -> dict[str, Value]:
        """Return the constants of DelayedOperation."""
        return {"Operations": frozenset({_OPERATION})}


class NotedOperation(DelayedOperation):
    """An operation that records the thread that completed it; each callback is one step."""

    __slots__ = ("_answers", "_expirations", "_holds", "_runtime", "ender")

    def __init__(self, discipline: CompletionDiscipline) -> None:
        super().__init__(_NEVER_MS, discipline=discipline)
        self._runtime = sync.current_runtime()
        self._holds = sync.volatile(False, _HOLDS)
        self._answers = sync.atomic_integer(0, ANSWERS)
        self._expirations = sync.atomic_integer(0, EXPIRATIONS)
        self.ender = ""

    def threads(self) -> Mapping[str, Action]:
        """Return the action of each thread."""
        actions: tuple[Action, ...] = (self._complete_when_it_holds, self.run, self._give_up)
        return {"maker": self._make_true, **dict(zip(_ENDS, actions, strict=True))}

    def _make_true(self) -> None:
        self._holds.set(True)

    def _complete_when_it_holds(self) -> None:
        while not self.try_complete():
            if self.is_done():
                return
            forget()

    def _give_up(self) -> None:
        self.force_cancel()

    def try_complete(self) -> bool:
        """Complete the operation if the predicate holds."""
        return self._holds.get() and self.force_complete()

    def on_complete(self) -> None:
        """Count the completion."""
        self._answers.add_and_get(1)

    def on_expiration(self) -> None:
        """Count the expiry."""
        self._expirations.add_and_get(1)

    def _end_timeout(self) -> None:
        # No other thread has run since the compare-and-set.
        assert isinstance(self._runtime, ControlledRuntime)
        self.ender = self._runtime.caller().name
        super()._end_timeout()


class _View(View):
    def __init__(self, operation: NotedOperation) -> None:
        self._operation = operation

    def state(self, surroundings: Surroundings) -> State:
        """Return the variables of DelayedOperation."""
        del surroundings
        held = attributes(self._operation)
        return {
            "outcome": _of_the_operation(self._outcome()),
            "holds": frozenset({_OPERATION} if value_in(held["_holds"]) is True else ()),
            "answers": _of_the_operation(number_in(held["_answers"])),
            "expirations": _of_the_operation(number_in(held["_expirations"])),
        }

    def label(self, step: NextStep) -> str | None:
        """Return the action, or None; a compare-and-set that fails is no action."""
        if step.operation == "CompareAndSet" and step.subject == _STATE:
            return _ENDS[step.thread] if self._outcome() == "pending" else None
        return _STEPS.get(f"{step.operation} {step.subject}")

    def _outcome(self) -> str:
        state = value_in(attributes(self._operation)["_state"])
        assert isinstance(state, OperationState)
        expired = state is OperationState.COMPLETED and self._operation.ender == TIMER
        return "expired" if expired else state.value


MakeOperation = Callable[[CompletionDiscipline], NotedOperation]


def delayed_operation(
    configuration: OneOperation, make_operation: MakeOperation = NotedOperation
) -> GraphProgram:
    """Return the program of a configuration, with operations of `make_operation`."""

    def build() -> ViewedRun:
        discipline, _ = discipline_of(configuration.discipline)
        operation = make_operation(discipline)
        return ViewedRun(scenario=Scenario(threads=operation.threads()), view=_View(operation))

    return GraphProgram(name="DelayedOperation", build=build)


def label_of_delayed_operation(action: str, before: State, after: State) -> str | None:
    """Return the action, by its outcome: TLC names two actions by the operator they share."""
    for _, _, outcome in changes_of("outcome", before, after):
        return _ENDINGS[outcome]
    return None if before == after else action


def _of_the_operation(value: Value) -> Value:
    return make_function(((_OPERATION, value),))
