"""Where an object under test is made and its bursts run: which threads there are.

Threads of the operating system do what they like; those of the controlled runtime follow a schedule
that Hypothesis draws; and the model checker runs threads of its own, in every order.
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Protocol

from wheelproof.sync import use_runtime
from wheelproof.sync.threads import ThreadsRuntime
from wheelproof_explore.counterexamples.counterexample import Deviation
from wheelproof_explore.program.inside import controlled
from wheelproof_explore.strategies.drawn import Draw, keep_running
from wheelproof_spec.base.component import Call
from wheelproof_spec.base.history.lines import Clock
from wheelproof_spec.fuzz.burst import run_burst
from wheelproof_spec.fuzz.controlled_threads import ControlledThreads
from wheelproof_spec.fuzz.hooks import InstrumentedRuntime, Preemption

Programs = Sequence[Sequence[tuple[Call, Callable[[], object]]]]
"""The steps of each thread, each with the function that makes the call."""


class Stage(Protocol):
    """The environment in which an object under test is made and runs its bursts."""

    @property
    def process(self) -> Callable[[], str] | None:
        """The function that names the current thread; None for threads of the operating system."""
        ...

    @property
    def clock(self) -> Clock:
        """The clock of a history whose object has no clock that a test moves."""
        ...

    def alone(self) -> AbstractContextManager[None]:
        """Enter a block in which no other thread runs; the object is made in such a block."""
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
    clock: Clock = "monotonic_ns"

    def __init__(self, of: str, preemption: Preemption) -> None:
        """Begin; `of` is the first part of the names of rules that are broken: "Timer"."""
        self._of = of
        self._runtime = InstrumentedRuntime(ThreadsRuntime(), preemption)

    def alone(self) -> AbstractContextManager[None]:
        """Use the instrumented runtime inside the block."""
        return use_runtime(self._runtime)

    def run(self, programs: Programs) -> None:
        """Run a burst; see `run_burst`. Its threads make objects of the same runtime."""
        with self.alone():
            run_burst([[call for _, call in program] for program in programs], self._of)

    def close(self) -> None:
        """Do nothing: every burst has ended its threads."""


class DrawnThreads:
    """Threads of the controlled runtime; `schedule` decides in each burst which thread runs."""

    clock: Clock = "none"

    def __init__(self, of: str) -> None:
        """Begin; `of` is the first part of the names of rules that are broken: "Timer"."""
        self.schedule: Draw = keep_running
        self._threads = ControlledThreads(of)
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


class ExploredThreads:
    """What comes before and after the threads of a program that the model checker explores.

    The program itself has the threads; here one call comes after the other.
    """

    clock: Clock = "none"

    def __init__(self) -> None:
        """Begin; raises RuntimeError outside a program that is being explored."""
        self._runtime = controlled()

    def process(self) -> str:
        """Return the name of the thread that runs."""
        return self._runtime.caller().name

    def alone(self) -> AbstractContextManager[None]:
        """Return a context manager that does nothing: the program's own runtime is in use."""
        return nullcontext()

    def run(self, programs: Programs) -> None:
        """Run the programs one after the other."""
        for program in programs:
            for _, call in program:
                call()

    def close(self) -> None:
        """Do nothing: the program has ended its threads."""
