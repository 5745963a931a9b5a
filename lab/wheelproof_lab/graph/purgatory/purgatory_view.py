"""Purgatory.tla against the reference's purgatory: variables and steps.

A hold of a shard's or a list's lock is one step of the module and several steps of the code. One of
these stands for the action: the step in which the change shows, or the first. All variables that
threads share are compared, except the lists that are in no map any more, with their numbers
(`made`), and `closed`, which nothing sets here. The registers of threads and their next steps are
not compared: what a thread holds, and where it is, shows in its possible steps.
"""

from collections.abc import Callable, Generator, Hashable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from wheelproof import sync
from wheelproof.purgatory import (
    DelayedOperation,
    DelayedOperationPurgatory,
    OperationState,
    Watchers,
    WatcherShard,
)
from wheelproof_explore.runtime.numbers import maker_of
from wheelproof_explore.runtime.runtime import ControlledRuntime
from wheelproof_lab.graph.comparing.projected import changes_of, only, pairs_of
from wheelproof_lab.graph.purgatory.purgatory_timer import TimedOperation, TimerPlace
from wheelproof_lab.graph.states.cells import identity_of, is_dict, number_in, value_in
from wheelproof_lab.graph.states.names import attributes
from wheelproof_lab.graph.states.views import NextStep, Surroundings, View
from wheelproof_spec.tlc.states.values import ModelValue, State, Value, make_function

LOCK, HOLDS, ANSWERS, EXPIRATIONS = "operation's lock", "holds", "answers", "expirations"

_NONE = ModelValue(name="None")
_SHARD, _LIST = "WatcherShard.lock", "Watchers.lock"
_ANYWHERE = {
    "Get Purgatory.closed": "TestOpen",
    "Acquire operation's lock": "Lock",
    "Release operation's lock": "Unlock",
    "Set holds": "MakeTrue",
    "Get holds": "TryComplete",
    "Get DelayedOperation.state": "IsDone",
    "Get DelayedOperation.timeout_started": "EndTimeout",
    "Set DelayedOperation.timeout_started": "TimeoutStarted",
    "Set place in the timer": "AddToTimer",
    "Get place in the timer": "PurgeReadDelayed",
    "AddAndGet answers": "OnComplete",
    "AddAndGet expirations": "OnExpiration",
}
"""The action of a step: its operation and its subject, wherever it is asked for."""
_SOMEWHERE = {
    "complete_if_pending CompareAndSet DelayedOperation.state": "ForceComplete",
    "force_cancel CompareAndSet DelayedOperation.state": "CancelOperation",
    "cancel CompareAndSet place in the timer": "CancelTask",
    "try_complete_else_watch AddAndGet Purgatory.estimated_total": "Count",
    "_purge_is_due Get Purgatory.estimated_total": "PurgeReadEstimate",
    "purge_completed Get Purgatory.estimated_total": "PurgeBegin",
    "_recount AddAndGet Purgatory.estimated_total": "PurgeReset",
    "get Acquire WatcherShard.lock": "FetchWatchers",
    "pop Acquire WatcherShard.lock": "RemoveKey",
    "all_watchers Acquire WatcherShard.lock": "PurgeFetch",
    "watch Acquire Watchers.lock": "Watch",
    "operations Acquire Watchers.lock": "Snapshot",
    "remove Acquire Watchers.lock": "Remove",
    "count_watched Acquire Watchers.lock": "TestEmpty",
}
"""The action of a step: where it is asked for, its operation, its subject."""
_STEPS_OF_A_HOLD = {
    ("Acquire", _SHARD),
    ("Release", _SHARD),
    ("Release", _LIST),
    ("Acquire", "Purgatory.purge_lock"),
    ("Release", "Purgatory.purge_lock"),
}
_VARIABLES = (
    "lock", "state", "timer", "started", "estimated", "holds", "answers", "expirations",
)  # fmt: skip
_STEPS = {
    "WatchLock": "Lock",
    "ForceLock": "Lock",
    "TryFirst": "TryComplete",
    "TryLast": "TryComplete",
    "WatchIsDone": "IsDone",
    "TailIsDone": "IsDone",
    "TailIsDoneAgain": "IsDone",
    "WalkIsDone": "IsDone",
    "IsDoneUnderLock": "IsDone",
    "ForceIsDone": "IsDone",
    "PurgeIsDone": "IsDone",
    "TailCancel": "CancelTask",
    "WalkRemove": "Remove",
}
"""Steps of Purgatory.tla that are one step of the code."""


class Removals:
    """The key and the watchers of each thread that is in `remove_key_if_empty`."""

    def __init__(self) -> None:
        self._runtime = sync.current_runtime()
        self._by_thread: dict[str, tuple[Hashable, Watchers[DelayedOperation]]] = {}

    @contextmanager
    def under_way(self, key: Hashable, watchers: Watchers[DelayedOperation]) -> Generator[None]:
        """Record that the calling thread removes the key inside the block."""
        assert isinstance(self._runtime, ControlledRuntime)
        name = self._runtime.caller().name
        self._by_thread[name] = key, watchers
        yield
        del self._by_thread[name]

    def of(self, thread: str) -> tuple[Hashable, Watchers[DelayedOperation]] | None:
        """Return the key that a thread removes, and its watchers, or None."""
        return self._by_thread.get(thread)


@dataclass(slots=True, kw_only=True)
class PurgatoryStateView(View):
    """A purgatory of one shard as Purgatory.tla sees it.

    The `operations` are those of the timer, in the same order.
    """

    purgatory: DelayedOperationPurgatory[DelayedOperation]
    shard: WatcherShard[DelayedOperation]
    removals: Removals
    operations: Mapping[str, TimedOperation]
    keys: tuple[str, ...]

    def state(self, surroundings: Surroundings) -> State:
        """Return the variables of Purgatory, as far as they are compared."""
        in_map, being_made = self._watchers_by_key(), self._being_made(surroundings)
        held = {name: attributes(operation) for name, operation in self.operations.items()}

        def of_each(attribute: str, show: Callable[[object], Value]) -> Value:
            return make_function((name, show(inner[attribute])) for name, inner in held.items())

        return {
            "lists": make_function(
                (key, self._content(in_map.get(key), being_made)) for key in self.keys
            ),
            "lock": of_each("lock", lambda lock: surroundings.holder(lock) or _NONE),
            "state": of_each("_state", _named),
            "timer": of_each("place", _named),
            "started": of_each("_timeout_started", lambda cell: value_in(cell) is True),
            "estimated": number_in(attributes(self.purgatory)["_estimated_total_operations"]),
            "holds": frozenset(name for name, inner in held.items() if value_in(inner["_holds"])),
            "answers": of_each("_answers", number_in),
            "expirations": of_each("_expirations", number_in),
        }

    def label(self, step: NextStep) -> str | None:
        """Return the thread and the action, None for no action; an unknown step gives its text."""
        action = self._action(step)
        return action and f"{step.thread}: {action}"

    def permits(self, step: NextStep, surroundings: Surroundings) -> bool:
        """Let the timer's thread choose only an operation that is in the timer."""
        del surroundings
        if step.operation != "Choose":
            return True
        return self._place(tuple(self.operations.values())[step.choice]) is TimerPlace.IN

    def _action(self, step: NextStep) -> str | None:
        if step.operation in ("Choose", "Finish"):
            return None
        if step.site == "run_one":
            return "Claim" if self._can_claim(step) else None
        if step.site in ("remove_key_if_empty", "count_watched"):
            removal = self.removals.of(step.thread)
            if removal is not None:
                return "RemoveKeyIfEmpty" if self._decides(step, *removal) else None
        what = f"{step.operation} {step.subject}"
        known = _ANYWHERE.get(what) or _SOMEWHERE.get(f"{step.site} {what}")
        if known is None and (step.operation, step.subject) not in _STEPS_OF_A_HOLD:
            return f"{step.text} in {step.site}"
        return known

    def _decides(self, step: NextStep, key: Hashable, watchers: Watchers[DelayedOperation]) -> bool:
        """Tell whether a step of a removal stands for the action.

        If the key has other watchers by now, it is the acquire of the shard's lock. Otherwise it
        is the release of the list's lock, which ends the test.
        """
        if self._watchers_by_key().get(key) is watchers:
            return (step.operation, step.subject) == ("Release", _LIST)
        return (step.operation, step.subject) == ("Acquire", _SHARD)

    def _can_claim(self, step: NextStep) -> bool:
        return any(
            self._place(operation) is TimerPlace.IN and identity_of(operation.place) == step.number
            for operation in self.operations.values()
        )

    def _watchers_by_key(self) -> dict[object, object]:
        held = attributes(self.shard)["_watchers_by_key"]
        assert is_dict(held)
        return held

    def _place(self, operation: TimedOperation) -> object:
        return value_in(operation.place)

    def _being_made(self, surroundings: Surroundings) -> int | None:
        """Return the number of the lock of a list that is in the map and not filled yet."""
        maker = surroundings.holder(attributes(self.shard)["_lock"])
        step = None if maker is None else surroundings.pending[maker]
        if step is None or (step.site, step.operation, step.subject) != ("watch", "Acquire", _LIST):
            return None
        made_by = surroundings.threads.get(maker_of(step.number))
        return step.number if made_by == maker else None

    def _content(self, watchers: object, being_made: int | None) -> Value:
        if watchers is None:
            return _NONE
        held = attributes(watchers)
        if identity_of(held["_lock"]) == being_made:
            return _NONE
        names = {id(operation): name for name, operation in self.operations.items()}
        listed = held["_operations"]
        assert is_dict(listed)
        return tuple(names[id(operation)] for operation in listed.values())


def _named(cell: object) -> str:
    value = value_in(cell)
    assert isinstance(value, TimerPlace | OperationState)
    return str(value.value)


def project_purgatory(state: State) -> State:
    """Return the compared part of a state of the module."""
    contents = dict(pairs_of(state["content"]))
    lists = {
        key: held if isinstance(held, ModelValue) else contents[held]
        for key, held in pairs_of(state["watchersOf"])
    }
    return {**only(state, _VARIABLES), "lists": make_function(lists.items())}


def label_of_purgatory(action: str, before: State, after: State) -> str | None:
    """Return the thread and the action; the thread is the one whose registers change.

    The name of the action is the thread's `pc` before it, as the code names it. So an operator that
    overrides another operator keeps the name of the overridden operator.
    """
    del action
    for variable in ("pc", "todo", "doomed"):
        for thread, _, _ in changes_of(variable, before, after):
            return f"{thread}: {_step_of(thread, before)}"
    return None


def _step_of(thread: Value, state: State) -> Value:
    pc = dict(pairs_of(state["pc"]))[thread]
    assert isinstance(pc, str)
    if pc == "PurgeRemove":
        return "Remove" if dict(pairs_of(state["doomed"]))[thread] else "TestEmpty"
    return _STEPS.get(pc, pc)
