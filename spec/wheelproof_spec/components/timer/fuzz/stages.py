"""The threads of a timer under test: real threads, or threads of the controlled runtime."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Protocol

from wheelproof.sync import use_runtime
from wheelproof.sync.threads import ThreadsRuntime
from wheelproof_explore.counterexamples.counterexample import Deviation
from wheelproof_explore.strategies.drawn import Draw, keep_running
from wheelproof_spec.components.timer.component import DEFINITION
from wheelproof_spec.fuzz.burst import run_burst
from wheelproof_spec.fuzz.controlled_threads import ControlledThreads
from wheelproof_spec.fuzz.hooks import InstrumentedRuntime, Preemption

Programs = Sequence[Sequence[tuple[str, Callable[[], object]]]]
"""The calls of each thread: each in words, with the function that makes the call."""

_TITLE = DEFINITION.title()


class TimerStage(Protocol):
    """The environment in which a timer under test is set up and runs its bursts."""

    @property
    def process(self) -> Callable[[], str] | None:
        """The function that names the current thread; None for threads of the operating system."""
        ...

    def alone(self) -> AbstractContextManager[None]:
        """Enter a block in which no other thread runs; the timer is made in such a block."""
        ...

    def run(self, programs: Programs) -> None:
        """Run the programs at the same time; raises BurstError if a program does not end."""
        ...

    def close(self) -> None:
        """End all threads."""
        ...


class RealThreads:
    """Threads of the operating system; the preemption makes them switch.

    The same preemption gives similar interleavings, but not always the same ones.
    """

    process = None

    def __init__(self, preemption: Preemption) -> None:
        self._runtime = InstrumentedRuntime(ThreadsRuntime(), preemption)

    def alone(self) -> AbstractContextManager[None]:
        """Use the instrumented runtime inside the block."""
        return use_runtime(self._runtime)

    def run(self, programs: Programs) -> None:
        """Run a burst; see `run_burst`."""
        run_burst([[call for _, call in program] for program in programs], _TITLE)

    def close(self) -> None:
        """Do nothing: every burst has ended its threads."""


class DrawnThreads:
    """Threads of the controlled runtime; `schedule` decides in each burst which thread runs."""

    def __init__(self) -> None:
        self.schedule: Draw = keep_running
        self._threads = ControlledThreads(_TITLE)
        self.process = self._threads.thread_name

    @property
    def deviations(self) -> tuple[Deviation, ...]:
        """The switches of the last burst."""
        return self._threads.deviations

    def story(self) -> tuple[str, ...]:
        """Return the last burst as a table."""
        return self._threads.story()

    def alone(self) -> AbstractContextManager[None]:
        """Use the controlled runtime inside the block."""
        return self._threads.alone()

    def run(self, programs: Programs) -> None:
        """Run a burst by the schedule."""
        self._threads.run(programs, self.schedule)

    def close(self) -> None:
        """End the threads that have not ended."""
        self._threads.close()
