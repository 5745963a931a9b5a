"""One given run: a schedule, then each thread as far as it can."""

from collections.abc import Mapping, Sequence

from wheelproof_explore.failures.problems import ScheduleRejectedError
from wheelproof_explore.runs.execution import Execution
from wheelproof_explore.runs.races import Analysis
from wheelproof_explore.runtime.accesses import Event
from wheelproof_explore.runtime.numbers import TIME, Actor, thread_of


class ReplayStrategy:
    """A strategy that follows a schedule exactly."""

    complete = False
    blocked_runs = 0

    def __init__(self, actors: Sequence[Actor]) -> None:
        self._actors = actors

    def prefix(self) -> Sequence[Event]:
        """Return nothing: `choose` checks each step."""
        return ()

    def choose(self, execution: Execution) -> Event | None:
        """Return the next step of the schedule.

        Raises ScheduleRejectedError if that step is not possible there.
        """
        step = len(execution.actors)
        if step >= len(self._actors):
            return None if execution.is_too_long() else default_step(execution)
        actor = self._actors[step]
        accesses = execution.peek(actor)
        if accesses is None:
            raise ScheduleRejectedError(
                f"its step {step + 1} is not possible: thread {thread_of(actor)} cannot run there",
                "the code under test has changed since; run the program anew",
            )
        return actor, accesses

    def learn(self, analysis: Analysis) -> bool:
        """Return False: there is one run only."""
        del analysis
        return False


class DeviationStrategy:
    """A strategy that makes default steps, except at the given places; see `default_step`.

    `options` are the steps that were possible at each point of the last run.
    """

    complete = False
    blocked_runs = 0

    def __init__(self, deviations: Mapping[int, Actor]) -> None:
        self._deviations = deviations
        self.options: list[list[Actor]] = []
        self.defaults: list[Actor] = []

    def prefix(self) -> Sequence[Event]:
        """Return nothing: `choose` checks each step."""
        return ()

    def choose(self, execution: Execution) -> Event | None:
        """Return the default step or the one that deviates, if that is possible."""
        usual = None if execution.is_too_long() else default_step(execution)
        if usual is None:
            return None
        self.options.append(execution.options())
        self.defaults.append(usual[0])
        actor = self._deviations.get(len(execution.actors), usual[0])
        accesses = execution.peek(actor)
        return usual if accesses is None else (actor, accesses)

    def learn(self, analysis: Analysis) -> bool:
        """Return False: there is one run only."""
        del analysis
        return False


def default_step(execution: Execution) -> Event | None:
    """Return the step of the thread that ran last, else of the first thread that can make one."""
    if execution.actors and execution.cycle() is None:
        current = thread_of(execution.actors[-1])
        accesses = None if current == TIME else execution.peek(current)
        if accesses is not None:
            return current, accesses
    return next(((thread.number, accesses) for thread, accesses in execution.in_order()), None)
