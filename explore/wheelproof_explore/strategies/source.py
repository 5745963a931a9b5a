"""Source sets with sleep sets, without wake-up trees: the second oracle of the tests.

The first algorithm of the same POPL 2014 paper. It covers every class, but sleep sets block some of
its runs. Programs with free choices are refused here; the other engines explore them.
"""

from collections.abc import Sequence

from wheelproof_explore.failures.problems import OptionRejectedError
from wheelproof_explore.runs.execution import Execution
from wheelproof_explore.runs.races import Analysis
from wheelproof_explore.runtime.accesses import (
    Accesses,
    Event,
    dependent,
    weak_initial,
)
from wheelproof_explore.runtime.numbers import FIRST, Actor
from wheelproof_explore.strategies.strategy import alternatives, pick_first


class _SourcePoint:
    __slots__ = ("backtrack", "event", "sleep")

    def __init__(self, sleep: dict[Actor, Accesses]) -> None:
        self.sleep = sleep
        self.backtrack: set[Actor] = set()
        self.event: Event = (FIRST, ())


class SourceStrategy:
    """The strategy of the engine `source`; `blocked_runs` counts the runs blocked by sleep sets."""

    complete = True

    def __init__(self) -> None:
        self._frames: list[_SourcePoint] = []
        self._prefix: list[Event] = []
        self._keep: list[Actor] = []
        self._next: Actor | None = None
        self.blocked_runs = 0

    def prefix(self) -> Sequence[Event]:
        """Return the steps up to the last point where something is left to be explored."""
        return self._prefix

    def choose(self, execution: Execution) -> Event | None:
        """Return the planned step at the point where the last run was left, else the first one."""
        if execution.is_too_long():
            return None
        if self._next is not None:
            frame = self._frames[-1]
            event = self._planned(execution, self._next)
            self._next = None
        else:
            frame = self._open_frame(execution)
            current = self._frames[-2].event[0] if len(self._frames) > 1 else FIRST
            event = pick_first(execution, current, frame.sleep)
        if event is None:
            self._frames.pop()
            self.blocked_runs += bool(execution.enabled())
            return None
        actor, accesses = frame.event = event
        if len(alternatives(execution, actor)) > 1:
            raise OptionRejectedError(
                "the engine source takes no free choices, which this program makes; use the engine "
                "optimal"
            )
        frame.backtrack.add(actor)
        self._keep = [
            other
            for other, asleep in frame.sleep.items()
            if other != actor and not dependent(asleep, accesses)
        ]
        return event

    def learn(self, analysis: Analysis) -> bool:
        """Plan the reversal of every race, then go back to the last point with a plan."""
        self._plan(analysis)
        frames = self._frames
        while frames:
            frame = frames[-1]
            actor, accesses = frame.event
            frame.sleep[actor] = accesses
            left = sorted(frame.backtrack - frame.sleep.keys())
            if left:
                self._next = left[0]
                break
            frames.pop()
        self._prefix = [frame.event for frame in frames[:-1]]
        return bool(frames)

    def _planned(self, execution: Execution, actor: Actor) -> Event | None:
        accesses = execution.peek(actor)
        return None if accesses is None else (actor, accesses)

    def _open_frame(self, execution: Execution) -> _SourcePoint:
        sleep: dict[Actor, Accesses] = {}
        for actor in self._keep:
            accesses = execution.peek(actor)
            if accesses is not None:
                sleep[actor] = accesses
        self._keep = []
        frame = _SourcePoint(sleep)
        self._frames.append(frame)
        return frame

    def _plan(self, analysis: Analysis) -> None:
        for first, second in analysis.races:
            sequence = analysis.reversal(first, second)
            if sequence is None:
                continue
            frame = self._frames[first]
            initials = _initials(sequence)
            known = frame.backtrack | frame.sleep.keys()
            if not initials & known:
                frame.backtrack.add(min(initials))


def _initials(sequence: list[Event]) -> set[Actor]:
    return {
        event[0] for place, event in enumerate(sequence) if weak_initial(event, sequence) == place
    }
