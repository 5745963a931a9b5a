"""What the threads of a timer under test are: real ones, or those of the controlled runtime."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Protocol

from wheelproof.sync import DeferredExecutor, Executor, single_thread_executor, use_runtime
from wheelproof.sync.threads import ThreadsRuntime
from wheelproof.timer import SystemTimer
from wheelproof_spec.components.timer.calls import TaskId
from wheelproof_spec.components.timer.fuzz.concurrent import TimerCall
from wheelproof_spec.engines.explore.counterexamples.counterexample import Deviation
from wheelproof_spec.engines.explore.strategies.drawn import Draw, keep_running
from wheelproof_spec.engines.fuzz.burst import await_submitted, run_burst
from wheelproof_spec.engines.fuzz.controlled_threads import ControlledThreads
from wheelproof_spec.engines.runtimes.hooks import InstrumentedRuntime, Preemption

Call = Callable[[], TimerCall[TaskId]]
Programs = Sequence[Sequence[tuple[str, Call]]]
"""The calls of each thread: in words, and what makes them."""


class TimerStage(Protocol):
    """Where a timer under test is set up and runs its bursts."""

    @property
    def executor(self) -> Executor:
        """What runs the tasks of the timer."""
        ...

    def alone(self) -> AbstractContextManager[None]:
        """Enter the block in which the timer is made."""
        ...

    def run(self, programs: Programs) -> list[TimerCall[TaskId]]:
        """Run the programs at the same time; raises BurstError if one does not come to its end."""
        ...

    def settle(self, timer: SystemTimer) -> int:
        """Let everything that was submitted run, and return the timer's size."""
        ...

    def close(self) -> None:
        """End all threads."""
        ...


class RealThreads:
    """Threads of the operating system; the preemption makes them change places.

    The same preemption makes similar, though never surely the same, interleavings.
    """

    def __init__(self, preemption: Preemption) -> None:
        self._runtime = InstrumentedRuntime(ThreadsRuntime(), preemption)
        with use_runtime(self._runtime):
            self.executor = single_thread_executor("timer under test")

    def alone(self) -> AbstractContextManager[None]:
        """Use the instrumented runtime inside the block."""
        return use_runtime(self._runtime)

    def run(self, programs: Programs) -> list[TimerCall[TaskId]]:
        """Run a burst; see `run_burst`."""
        return run_burst([[call for _, call in program] for program in programs])

    def settle(self, timer: SystemTimer) -> int:
        """Wait until everything submitted has run."""
        await_submitted(self.executor, "Timer.EveryCallReturns")
        return timer.size()

    def close(self) -> None:
        """End the executor's thread."""
        self.executor.shutdown()


class DrawnThreads:
    """Threads of the controlled runtime; `schedule` decides, burst by burst, who runs."""

    def __init__(self) -> None:
        self.schedule: Draw = keep_running
        self._threads = ControlledThreads("Timer")
        self.executor = DeferredExecutor()

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

    def run(self, programs: Programs) -> list[TimerCall[TaskId]]:
        """Run a burst by the schedule."""
        return self._threads.run(programs, self.schedule)

    def settle(self, timer: SystemTimer) -> int:
        """Run everything submitted, alone."""
        with self.alone():
            self.executor.run_pending()
            return timer.size()

    def close(self) -> None:
        """End the threads that have not ended."""
        self._threads.close()
