"""Optimal dynamic partial-order reduction: one run for each class of equivalent interleavings.

P. Abdulla, S. Aronis, B. Jonsson, K. Sagonas, "Optimal Dynamic Partial Order Reduction", POPL 2014,
and JACM 64 (2017). Beyond the papers: an operation whose accesses depend on the state is resolved
again where a reversal puts it, and a free choice is one event for each value.

Several processes may explore one program. A process gives away the rest of a point: all runs from
there, except those that begin with a step that it has explored or is about to explore. The process
that takes the rest plans every other possible step there, and all values of a planned choice. So
later plans of any process for this point, or for a point above, have no effect. The steps of other
processes, the foreign ones, sleep in all that it explores. This is the same as a program in which
each foreign step waits for a step that conflicts with it; there it is the papers' algorithm again.
So a foreign step does not cover a sequence to which it could be added. If only foreign steps
that wait in this way are left, another process explores the run; `blocked_runs` counts it.
"""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from wheelproof_explore.failures.problems import UnseenStateError
from wheelproof_explore.runs.execution import Execution
from wheelproof_explore.runs.races import Analysis
from wheelproof_explore.runtime.accesses import (
    Accesses,
    Event,
    dependent,
    weak_initial,
)
from wheelproof_explore.runtime.numbers import (
    FIRST,
    THREAD_MASK,
    Actor,
    choosing,
    thread_of,
)
from wheelproof_explore.strategies.strategy import alternatives, pick_first
from wheelproof_explore.strategies.wakeup_tree import (
    Flat,
    WakeupNode,
    flat,
    insert,
    trees,
)

Rest = tuple[list[Event], dict[Actor, Accesses], Flat]
"""The steps to a point, the steps that sleep there, and the steps that are planned there."""


class _OptimalPoint:
    """A point of the current run: the sleeping steps, the planned steps, and the current step.

    Other processes explore the sleeping steps that are `foreign`. If `whole` is true, every
    possible step that is awake is still to be planned.
    """

    __slots__ = ("done", "event", "foreign", "sleep", "wakeup", "whole")

    def __init__(
        self, sleep: dict[Actor, Accesses], wakeup: list[WakeupNode], event: Event = (FIRST, ())
    ) -> None:
        self.sleep = sleep
        self.wakeup = wakeup
        self.event = event
        self.done = 0
        self.whole = False
        self.foreign: AbstractSet[Actor] = frozenset()


class OptimalStrategy:
    """The strategy of the engine `optimal`; see the module."""

    complete = True

    def __init__(self) -> None:
        self._frames: list[_OptimalPoint] = []
        self._prefix: list[Event] = []
        self._keep: list[Actor] = []
        self._rest: list[WakeupNode] = []
        self._resuming = False
        # The number of points, from the top on, whose rest other processes explore.
        self._given = 0
        self._foreign: AbstractSet[Actor] = frozenset()
        self._took = False
        self.blocked_runs = 0

    def begin(self, rest: Rest) -> None:
        """Begin to explore the rest of a point that another process has given away."""
        self._prefix, sleep, planned = rest
        point = _OptimalPoint(sleep, trees(planned))
        # A live view: steps that this process explores here become foreign for its later runs.
        point.whole, point.foreign = True, point.sleep.keys()
        self._frames = [*(_OptimalPoint({}, [], event) for event in self._prefix), point]
        self._given = len(self._prefix)
        self._resuming = self._took = True

    def give(self) -> Rest | None:
        """Give away the rest of the first point not given away yet; None if little is left."""
        if len(self._frames) < self._given + 2:
            return None
        point = self._frames[self._given]
        actor, accesses = point.event
        rest = (
            [above.event for above in self._frames[: self._given]],
            {**point.sleep, actor: accesses},
            flat(point.wakeup),
        )
        point.wakeup, point.whole = [], False
        self._given += 1
        return rest

    @property
    def has_more(self) -> bool:
        """Whether work is left below the points that are given away."""
        return len(self._frames) > self._given

    def prefix(self) -> Sequence[Event]:
        """Return the steps up to the last point where something is left to be explored."""
        return self._prefix

    def choose(self, execution: Execution) -> Event | None:
        """Return the next step: a planned one, else the first one that is not asleep."""
        if execution.is_too_long():
            return None
        if self._resuming:
            self._resuming = False
            frame = self._frames[-1]
        else:
            frame = self._open_frame(execution)
        event = self._select(frame, execution)
        if event is None:
            self._frames.pop()
            return None
        actor, accesses = frame.event = event
        self._foreign = frame.foreign
        self._keep = [
            other
            for other, asleep in frame.sleep.items()
            if other != actor and not dependent(asleep, accesses)
        ]
        return event

    def learn(self, analysis: Analysis) -> bool:
        """Plan the reversal of every race, then go back to the last point with a plan."""
        self._reverse_races(analysis)
        frames = self._frames
        while self.has_more:
            frame = frames[-1]
            actor, accesses = frame.event
            frame.sleep[actor] = accesses
            frame.done += 1
            if frame.wakeup:
                break
            frames.pop()
        self._prefix = [frame.event for frame in frames[:-1]]
        self._resuming = True
        return self.has_more

    def fraction_done(self) -> float:
        """Return the explored fraction of the known work, from 0 to 1.

        At every point all branches count the same. More branches may appear, so it is too high.
        """
        if not self._frames:
            return float(self._resuming)
        done, weight = 0.0, 1.0
        for frame in self._frames:
            weight /= frame.done + max(len(frame.wakeup), 1)
            done += frame.done * weight
        return min(done, 1.0)

    def _open_frame(self, execution: Execution) -> _OptimalPoint:
        sleep: dict[Actor, Accesses] = {}
        for actor in self._keep:
            accesses = execution.peek(actor)
            if accesses is not None:
                sleep[actor] = accesses
        frame = _OptimalPoint(sleep, self._rest)
        if self._foreign:
            frame.foreign = self._foreign & sleep.keys()
        self._frames.append(frame)
        return frame

    def _select(self, frame: _OptimalPoint, execution: Execution) -> Event | None:
        self._rest = []
        if frame.whole:
            frame.whole = False
            self._plan_all(frame, execution)
        while frame.wakeup:
            node = frame.wakeup.pop(0)
            actor = node.event[0]
            if actor in frame.foreign:
                continue
            accesses = execution.peek(actor)
            if accesses is None:
                raise _unseen(execution, actor)
            self._rest = node.children
            frame.event = actor, accesses
            _plan_other_values(frame, execution)
            return frame.event
        event = self._first_awake(frame, execution)
        if event is None and execution.enabled():
            if not self._took:
                raise _unseen(execution, execution.enabled()[0][0].number)
            self.blocked_runs += 1
        return event

    def _plan_all(self, frame: _OptimalPoint, execution: Execution) -> None:
        planned = {node.event[0] for node in frame.wakeup} | frame.sleep.keys()
        for thread, accesses in execution.in_order():
            for value in alternatives(execution, thread.number):
                actor = choosing(thread.number, value)
                if actor not in planned:
                    frame.wakeup.append(WakeupNode((actor, accesses)))

    def _first_awake(self, frame: _OptimalPoint, execution: Execution) -> Event | None:
        current = self._frames[-2].event[0] if len(self._frames) > 1 else FIRST
        if current > THREAD_MASK:
            current = thread_of(current)
        sleep = frame.sleep
        # A thread with a free choice sleeps as long as none of its values is awake.
        asleep = {
            actor
            for actor in sleep
            if actor <= THREAD_MASK
            and all(choosing(actor, value) in sleep for value in alternatives(execution, actor)[1:])
        }
        event = pick_first(execution, current, asleep)
        if event is None:
            return None
        actor, accesses = event
        values = alternatives(execution, actor)
        if len(values) > 1:
            awake = [choice for value in values if (choice := choosing(actor, value)) not in sleep]
            frame.wakeup.extend(WakeupNode((choice, accesses)) for choice in awake[1:])
            return awake[0], accesses
        return event

    def _reverse_races(self, analysis: Analysis) -> None:
        new = len(self._prefix)
        changed: dict[int, bool] = {}
        for first, second in analysis.races:
            if second < new:
                # An earlier run with this prefix has planned it, unless this run has more events
                # that may come before the second event.
                if first not in changed:
                    changed[first] = analysis.concurrent_with(first, new)
                if not changed[first]:
                    continue
            if first < self._given:
                continue
            frame = self._frames[first]
            sequence = analysis.reversal(first, second)
            if sequence is None or _is_covered(frame, sequence):
                continue
            insert(frame.wakeup, sequence)


def _unseen(execution: Execution, actor: Actor) -> UnseenStateError:
    """Return the error for a run in which a thread's steps are not those that were planned.

    The steps of a thread depend on what its earlier steps have shown it, and on nothing else: so
    says the algorithm, and the engine itself is compared with brute force.
    """
    thread = execution.threads.get(thread_of(actor))
    if thread is None:
        return UnseenStateError("a thread", "does not exist")
    does = "has ended" if thread.pending is None else f"comes to {thread.pending.describe()}"
    return UnseenStateError(thread.name, does)


def _plan_other_values(frame: _OptimalPoint, execution: Execution) -> None:
    """Plan the other values of a planned choice, unless steps that are explored here cover them.

    They are covered, unless the plan was taken from another process: then it is no reversal of a
    race of this process, and no race shows the other values.
    """
    actor, accesses = frame.event
    thread = thread_of(actor)
    for value in alternatives(execution, thread):
        other = [(choosing(thread, value), accesses)]
        if not _is_covered(frame, other):
            insert(frame.wakeup, other)


def _is_covered(frame: _OptimalPoint, sequence: list[Event]) -> bool:
    if weak_initial(frame.event, sequence) is not None:
        return True
    for sleeper in frame.sleep.items():
        place = weak_initial(sleeper, sequence)
        if place is not None and (place >= 0 or sleeper[0] not in frame.foreign):
            return True
    return False
