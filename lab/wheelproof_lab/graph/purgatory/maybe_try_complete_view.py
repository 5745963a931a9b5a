"""MaybeTryComplete.tla against the reference's disciplines: variables and steps.

One step of the module is one operation of the code on the lock or on a cell. The comparison covers
all variables that the code has too: the lock, the operation's state, the flag, the events, the
numbers of callbacks, and the next step of each thread. All reads of the state are the same next
step, as they are one action of the module. The register `retry` and the history variables `ender`
and `owed` are left out: a wrong register shows later as a wrong step. Two steps are in the code
only: the test whether to cancel a time-out, and the decision not to raise.
"""

from dataclasses import dataclass

from wheelproof.purgatory import CompletionDiscipline, DelayedOperation, OperationState
from wheelproof.sync.protocols import LockView
from wheelproof_lab.graph.comparing.projected import changes_of, only, pairs_of
from wheelproof_lab.graph.states.cells import number_in, value_in
from wheelproof_lab.graph.states.names import attributes
from wheelproof_lab.graph.states.views import NextStep, Surroundings, View
from wheelproof_spec.tlc.states.values import ModelValue, State, Value, make_function

LOCK, EVENTS, ANSWERS, EXPIRATIONS = "lock", "events", "answers", "expirations"

_NONE = ModelValue(name="None")
_STEPS = {
    "AddAndGet events": "MakeTrue",
    "Get DelayedOperation.state": "IsDone",
    "Acquire lock": "Lock",
    "TryAcquire lock": "TryLock",
    "Set DelayedOperation.try_complete_pending": "ClearPending",
    "Exchange DelayedOperation.try_complete_pending": "SetPending",
    "Get DelayedOperation.try_complete_pending": "ReadPending",
    "Choose ": "TryComplete",
    "Get events": "TryComplete",
    "Release lock": "Unlock",
    "CompareAndSet DelayedOperation.state": "ForceComplete",
    "Get DelayedOperation.timeout_started": "OnComplete",
    "AddAndGet answers": "OnComplete",
    "AddAndGet expirations": "OnExpiration",
}
"""The action of a step: its operation and its subject."""
_OF_HOLDERS = {"Lock": "Hold", "Unlock": "LetGo"}
_OF_THE_MODULE = {
    "IsDoneUnderLock": "IsDone",
    "IsDoneAgain": "IsDone",
    "ForceIsDone": "IsDone",
    "ForceLock": "Lock",
    "UnlockAndRaise": "Unlock",
}
"""Steps of MaybeTryComplete.tla that are one step of the code."""
_VARIABLES = ("lock", "state", "pending", "events", "answers", "expirations")


@dataclass(slots=True, kw_only=True)
class MaybeTryCompleteView(View):
    """An operation as MaybeTryComplete.tla sees it; `threads` are the names of all threads."""

    operation: DelayedOperation
    discipline: CompletionDiscipline
    lock: LockView
    threads: tuple[str, ...]
    holders: frozenset[str]

    def state(self, surroundings: Surroundings) -> State:
        """Return the variables of MaybeTryComplete, as far as they are compared."""
        holder = surroundings.holder(self.lock)
        held = attributes(self.operation)
        state = value_in(held["_state"])
        assert isinstance(state, OperationState)
        pending = attributes(self.discipline).get("_try_complete_pending")
        return {
            "lock": _NONE if holder is None else holder,
            "state": state.value,
            "pending": pending is not None and value_in(pending) == 1,
            "events": number_in(held["_events"]),
            "answers": number_in(held["_answers"]),
            "expirations": number_in(held["_expirations"]),
            "pc": make_function((name, self._pc(name, surroundings)) for name in self.threads),
        }

    def label(self, step: NextStep) -> str | None:
        """Return the thread and the action, None for no action."""
        if step.operation == "Choose":
            return f"{step.thread}: TryCompleteRaises" if step.choice else None
        if step.operation == "Finish" or step.subject == "DelayedOperation.timeout_started":
            return None
        return f"{step.thread}: {self._action(step)}"

    def _pc(self, name: str, surroundings: Surroundings) -> str:
        step = surroundings.pending.get(name)
        return "Done" if step is None else self._action(step)

    def _action(self, step: NextStep) -> str:
        """Return the action of a step; for an unknown step, its text."""
        if step.operation == "Finish":
            return "Done"
        known = _STEPS.get(f"{step.operation} {step.subject}", f"{step.text} in {step.site}")
        return _OF_HOLDERS.get(known, known) if step.thread in self.holders else known


def project_maybe_try_complete(state: State) -> State:
    """Return the compared part of a state of the module."""
    steps = {thread: _step_of(pc) for thread, pc in pairs_of(state["pc"])}
    return {**only(state, _VARIABLES), "pc": make_function(steps.items())}


def label_of_maybe_try_complete(action: str, before: State, after: State) -> str | None:
    """Return the thread and the action; the thread is the one whose `pc` changes.

    The name of the action is the thread's `pc` before it, unless it raises. So an operator that
    overrides another operator keeps the name of the overridden operator.
    """
    del action
    for thread, old, new in changes_of("pc", before, after):
        raises = old == "TryComplete" and new == "UnlockAndRaise"
        return f"{thread}: {'TryCompleteRaises' if raises else _step_of(old)}"
    return None


def _step_of(pc: Value) -> Value:
    return _OF_THE_MODULE.get(pc, pc) if isinstance(pc, str) else pc
