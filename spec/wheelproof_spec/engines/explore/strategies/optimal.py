"""Optimal dynamic partial-order reduction: one run for each class of equivalent interleavings.

P. Abdulla, S. Aronis, B. Jonsson, K. Sagonas, "Optimal Dynamic Partial Order Reduction", POPL 2014,
and JACM 64 (2017). Beyond the papers: an operation whose accesses depend on the state is resolved
again where a reversal puts it, and a free choice is one event for each value.

Several processes may explore one program. One of them gives the rest of a point away: all that can
begin there but with the steps that are explored, or that it is about to explore. Whoever takes it
plans every other step that is possible there, and all values of a choice that is in the plan, so
what anybody plans for this point, or for one above, changes nothing any more. The steps of the
others sleep in all that it explores, and that is the same as if each of them waited for a step that
conflicts with it: of the program with these waits it is again the papers' algorithm. So such a step
is no reason for not planning what it could be added to; and a run in which all that could go on
waits like that belongs to somebody else, which `blocked_runs` counts.
"""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from wheelproof_spec.engines.explore.failures.problems import EngineDefectError
from wheelproof_spec.engines.explore.runs.execution import Execution
from wheelproof_spec.engines.explore.runs.races import Analysis
from wheelproof_spec.engines.explore.runtime.accesses import (
    Accesses,
    Event,
    dependent,
    weak_initial,
)
from wheelproof_spec.engines.explore.runtime.numbers import (
    FIRST,
    THREAD_MASK,
    Actor,
    choosing,
    thread_of,
)
from wheelproof_spec.engines.explore.strategies.strategy import alternatives, pick_first
from wheelproof_spec.engines.explore.strategies.wakeup_tree import (
    Flat,
    WakeupNode,
    flat,
    insert,
    trees,
)

Rest = tuple[list[Event], dict[Actor, Accesses], Flat]
"""The steps to a point, the steps that sleep there, and what is planned there already."""


class _OptimalPoint:
    """A point of the current run: the sleeping steps, the planned ones, and the step now.

    Of the sleeping steps others explore those that are `foreign`. Where `whole` is true, every step
    that is possible and awake is still to be planned.
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
    """See the module."""

    complete = True

    def __init__(self) -> None:
        self._frames: list[_OptimalPoint] = []
        self._prefix: list[Event] = []
        self._keep: list[Actor] = []
        self._rest: list[WakeupNode] = []
        self._resuming = False
        # How many points from the top on others explore the rest of.
        self._given = 0
        self._foreign: AbstractSet[Actor] = frozenset()
        self._took = False
        self.blocked_runs = 0

    def begin(self, rest: Rest) -> None:
        """Explore the rest of a point that another process had."""
        self._prefix, sleep, planned = rest
        point = _OptimalPoint(sleep, trees(planned))
        # What this process has explored here has no part either in what it begins here later.
        point.whole, point.foreign = True, point.sleep.keys()
        self._frames = [*(_OptimalPoint({}, [], event) for event in self._prefix), point]
        self._given = len(self._prefix)
        self._resuming = self._took = True

    def give(self) -> Rest | None:
        """Give away the rest of the first point that is not given away yet, if that may be much."""
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
        """Whether something is left below the points that are given away."""
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
        """Return how much of what is known to be there has been explored, from 0 to 1.

        At every point all branches count the same. More of them may turn up, so it is too high.
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
                raise EngineDefectError(f"a planned step of thread {actor} is not possible")
            self._rest = node.children
            frame.event = actor, accesses
            _plan_other_values(frame, execution)
            return frame.event
        event = self._first_awake(frame, execution)
        if event is None and execution.enabled():
            if not self._took:
                raise EngineDefectError("a run died although nothing equivalent had been explored")
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
                # The earlier run with this beginning has planned it, unless this one has more to
                # say about what may come before the second event.
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


def _plan_other_values(frame: _OptimalPoint, execution: Execution) -> None:
    """Plan the other values of a planned choice, unless steps that are explored here cover them.

    Covered they are unless what is planned was given away: then it is no reversal of a race of this
    process, and no race tells it of the other values.
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
