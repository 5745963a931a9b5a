"""A run whose schedule is drawn from outside, one small integer for each choice.

0 keeps the running thread running, so shrinking the integers removes switches.
"""

from collections.abc import Callable, Sequence

from wheelproof_explore.runs.execution import Execution
from wheelproof_explore.runs.races import Analysis
from wheelproof_explore.runtime.accesses import Event
from wheelproof_explore.runtime.numbers import Actor
from wheelproof_explore.strategies.replay import default_step

Draw = Callable[[int], int]
"""A function that returns an integer below the number of choices."""


def keep_running(_choices: int) -> int:
    """Return 0, which is no switch."""
    return 0


class DrawnStrategy:
    """A strategy that calls `draw` wherever more than one step is possible.

    `deviations` are the steps that are not the default ones: the place from 0, the default actor,
    and the actor that was drawn.
    """

    complete = False
    blocked_runs = 0

    def __init__(self, draw: Draw) -> None:
        self._draw = draw
        self.deviations: list[tuple[int, Actor, Actor]] = []

    def prefix(self) -> Sequence[Event]:
        """Return nothing: each step is drawn."""
        return ()

    def choose(self, execution: Execution) -> Event | None:
        """Return the default step, or the one that was drawn."""
        usual = None if execution.is_too_long() else default_step(execution)
        if usual is None:
            return None
        others = [actor for actor in execution.options() if actor != usual[0]]
        drawn = self._draw(len(others) + 1) if others else 0
        if not drawn:
            return usual
        actor = others[drawn - 1]
        accesses = execution.peek(actor)
        assert accesses is not None
        self.deviations.append((len(execution.actors), usual[0], actor))
        return actor, accesses

    def learn(self, analysis: Analysis) -> bool:
        """Return False: there is one run only."""
        del analysis
        return False
