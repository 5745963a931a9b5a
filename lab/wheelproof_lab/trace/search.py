"""Searches for an order of steps that the specification allows, if the trace leaves it open.

The search is depth first and remembers what it tried: the position of each thread, and the state.
Steps that the implementation never records (`silent` in the header) are inserted where they fit.
"""

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass

from wheelproof_lab.trace.actions import STEPS, TimerActions
from wheelproof_lab.trace.state import (
    Bucket,
    SeveralError,
    ThreadState,
    TimerState,
    UnexplainedError,
)
from wheelproof_spec.base.history.lines import TraceEvent

BEGINNINGS = ("LockRead", "StartAdvance", "CloseLock", "CancelRemove")
"""The actions with which a call begins."""


@dataclass(frozen=True, slots=True)
class Step:
    """A recorded event, with the bounds of the clock at the event, its index and its line."""

    event: TraceEvent[object, object]
    earliest: int
    latest: int
    index: int
    line: int


@dataclass(slots=True)
class Outcome:
    """The result: an order explains up to `good` events; `stuck` is the next one and its error."""

    good: int = 0
    explained: bool = False
    gave_up: bool = False
    stuck: tuple[Step, UnexplainedError] | None = None


@dataclass(slots=True)
class _Node:
    state: TimerState
    taken: tuple[int, ...]
    successors: "Iterator[_Node]"


class TraceSearch:
    """The search that begins at one state."""

    def __init__(
        self,
        steps: Sequence[Step],
        *,
        in_order: bool,
        silent: frozenset[str],
        poll_under_lock: bool,
        max_states: int,
    ) -> None:
        """Prepare; `in_order` says that the steps are in the order in which they happened."""
        self._lanes = lanes_of(steps, in_order=in_order)
        self._names = sorted({step.event.thread for step in steps})
        self._silent = silent
        self._poll_under_lock = poll_under_lock
        self._max_states = max_states
        self._all = len(steps)
        self._tried = 0
        """The number of states made: unexplained and repeated ones cost as much as others."""

    def run(self, state: TimerState) -> Outcome:
        """Search for an order that explains all steps from `state` on."""
        outcome = Outcome()
        seen: set[Hashable] = set()
        stack = [self._node(state, tuple(0 for _ in self._lanes), outcome)]
        while stack:
            node = stack[-1]
            if self._tried > self._max_states:
                outcome.gave_up = True
                return outcome
            if sum(node.taken) == self._all:
                outcome.explained = True
                return outcome
            following = next(node.successors, None)
            if following is None:
                stack.pop()
                continue
            key = (following.taken, following.state.key())
            if key in seen:
                continue
            seen.add(key)
            done = sum(following.taken)
            if done > outcome.good:
                outcome.good, outcome.stuck = done, None
            stack.append(following)
        return outcome

    def _node(self, state: TimerState, taken: tuple[int, ...], outcome: Outcome) -> _Node:
        return _Node(state, taken, self._successors(state, taken, outcome))

    def _successors(
        self, state: TimerState, taken: tuple[int, ...], outcome: Outcome
    ) -> Iterator[_Node]:
        for at, lane in enumerate(self._lanes):
            if taken[at] == len(lane):
                continue
            step = lane[taken[at]]
            further = (*taken[:at], taken[at] + 1, *taken[at + 1 :])
            try:
                for after in self._after(state, step):
                    yield self._node(after, further, outcome)
            except UnexplainedError as error:
                if outcome.stuck is None and sum(taken) == outcome.good:
                    outcome.stuck = (step, error)
        if self._silent:
            for after in self._silent_steps(state, taken):
                yield self._node(after, taken, outcome)

    def _after(self, state: TimerState, step: Step) -> Iterator[TimerState]:
        event = step.event
        yield from self._taken(
            state, event.thread, event.action, (event.args, event.obs), step.earliest, step.latest
        )

    def _taken(
        self,
        state: TimerState,
        thread: str,
        action: str,
        seen: tuple[object, object],
        earliest: int,
        latest: int,
    ) -> Iterator[TimerState]:
        choices: tuple[Bucket | None, ...] = (None,)
        while choices:
            self._tried += 1
            after = state.copy()
            actions = TimerActions(after, poll_under_lock=self._poll_under_lock)
            actions.chosen = choices[0]
            try:
                take(actions, thread, action, seen, earliest, latest)
            except SeveralError as error:
                choices = error.buckets
                continue
            yield after
            choices = choices[1:]

    def _silent_steps(self, state: TimerState, taken: tuple[int, ...]) -> Iterator[TimerState]:
        upcoming = self._upcoming(taken)
        for name in self._names:
            thread = state.threads.get(name) or ThreadState(name)
            for action in (name for name, (at, _) in STEPS.items() if at == thread.pc):
                if action not in self._silent:
                    continue
                if thread.pc == "Idle" and upcoming.get(name, BEGINNINGS[0]) in BEGINNINGS:
                    continue
                try:
                    yield from self._taken(state, name, action, (None, None), -(2**63), 2**63)
                except UnexplainedError:
                    continue

    def _upcoming(self, taken: tuple[int, ...]) -> dict[str, str]:
        """Return the next recorded action of each thread."""
        found: dict[str, str] = {}
        for at, lane in enumerate(self._lanes):
            for step in lane[taken[at] :]:
                found.setdefault(step.event.thread, step.event.action)
                if len(found) == len(self._names):
                    break
        return found


def take(
    actions: TimerActions,
    thread: str,
    action: str,
    seen: tuple[object, object],
    earliest: int,
    latest: int,
) -> None:
    """Take one step while the clock shows `earliest` to `latest`; may raise UnexplainedError."""
    state = actions.state
    if state.now > latest:
        raise UnexplainedError(
            f"the clock shows {state.now} ms or more",
            f"it shows {latest} ms at most",
            "clocks do not go back",
        )
    state.now = max(state.now, earliest)
    actions.earliest, actions.latest = earliest, latest
    actions.step(thread, action, seen)


def lanes_of(steps: Sequence[Step], *, in_order: bool) -> list[list[Step]]:
    """Return the steps as one lane if they are in order, else as one lane for each thread."""
    if in_order:
        return [list(steps)]
    lanes: dict[str, list[Step]] = {}
    for step in steps:
        lanes.setdefault(step.event.thread, []).append(step)
    return list(lanes.values())
