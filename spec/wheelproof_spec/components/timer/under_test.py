"""A SystemTimer with several threads on a manual clock, judged after each burst of calls.

The threads are real threads, or threads of the controlled runtime.
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import partial
from typing import Protocol

from wheelproof.clock import ManualClock
from wheelproof.sync import use_runtime
from wheelproof.sync.threads import ThreadsRuntime
from wheelproof.timer import SystemTimer, TimerTask
from wheelproof.units import Millis
from wheelproof_explore.counterexamples.counterexample import Deviation
from wheelproof_explore.strategies.drawn import Draw, keep_running
from wheelproof_spec.base.calls import AdvanceClock, Advanced, Tick
from wheelproof_spec.base.contract import KAFKA
from wheelproof_spec.base.history.lines import KeptHistory
from wheelproof_spec.base.results.violation import Violation
from wheelproof_spec.components.timer.component import (
    DEFINITION,
    Add,
    Cancel,
    Cancelled,
    Run,
    Size,
    TaskId,
    WaitingTasks,
)
from wheelproof_spec.components.timer.history import RECORDED
from wheelproof_spec.components.timer.work import MoveClockBy, TimerSetup, TimerStep
from wheelproof_spec.fuzz.burst import run_burst
from wheelproof_spec.fuzz.controlled_threads import ControlledThreads
from wheelproof_spec.fuzz.hooks import InstrumentedRuntime, Preemption
from wheelproof_spec.fuzz.judged_bursts import JudgedBursts
from wheelproof_spec.fuzz.threaded_case import Burst
from wheelproof_spec.history.recording.load_recorder import LoadRecorder

_EXECUTOR = "executor"

Programs = Sequence[Sequence[tuple[TimerStep, Callable[[], object]]]]
"""The steps of each thread, each with the function that makes the call."""

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


class TimerUnderTest:
    """A timer and its tasks, whose calls and runs are recorded, on a stage that has the threads."""

    def __init__(
        self,
        timer_class: type[SystemTimer],
        setup: TimerSetup,
        stage: TimerStage,
        keep: Callable[[KeptHistory], object] | None,
    ) -> None:
        config, delays_ms = setup.config, setup.delays_ms
        self._config = replace(config, runs="inline", run_order="promised")
        self._longest_ms = max(0, *delays_ms.values())
        self._now_ms = config.start_ms
        self._stage = stage
        self._broken = False
        self._bursts = JudgedBursts(
            RECORDED,
            self._config,
            clock="virtual",
            profile=KAFKA.name,
            process=stage.process,
            keep=keep,
        )
        self._recorder = self._bursts.recorder
        with stage.alone():
            self._tasks = {
                name: _RecordingTask(name, delay_ms, self._recorder)
                for name, delay_ms in delays_ms.items()
            }
            self._clock = ManualClock(self._config.start_ms)
            self._timer = timer_class(
                "under test",
                tick_ms=self._config.tick_ms,
                wheel_size=self._config.wheel_size,
                clock=self._clock,
                executor=InlineExecutor(),
            )

    def run(self, burst: Burst[TimerStep], *, last: bool = False) -> Violation | None:
        """Run one burst, ask for the size, and return the violation of the history, if any.

        The `last` burst ends the history: then every submitted task must have run.
        """
        programs = [[(step, self._call(step)) for step in program] for program in burst]
        violation = self._bursts.judge(lambda: self._stage.run(programs), self._read_size)
        self._broken = violation is not None
        return self._bursts.finish() if last and violation is None else violation

    def drain(self) -> Burst[TimerStep]:
        """Return the burst after which no task waits and no entry is linked."""
        beyond_ms = self._longest_ms + self._config.tick_ms
        return ((MoveClockBy(jump_ms=beyond_ms), AdvanceClock(timeout_ms=0)),)

    def finish(self) -> Violation | None:
        """Let everything expire, unless a burst had a violation, and close the timer."""
        try:
            return None if self._broken else self.run(self.drain(), last=True)
        finally:
            self.close()

    def close(self) -> None:
        """Close the timer, unless a thread may be stuck in it, and end the stage's threads."""
        if not self._broken:
            with self._stage.alone():
                self._timer.close()
        self._stage.close()

    def _call(self, step: TimerStep) -> Callable[[], object]:
        recorder, timer = self._recorder, self._timer
        match step:
            case Add(task=name):
                return lambda: recorder.do(step, partial(timer.add, self._tasks[name]))
            case Cancel(task=name):
                cancel = self._tasks[name].cancel
                return lambda: recorder.call(step, lambda: Cancelled(cancelled=cancel()))
            case MoveClockBy(jump_ms=jump_ms):
                return partial(self._move_clock, jump_ms)
            case AdvanceClock():
                return lambda: recorder.call(
                    step, lambda: Advanced(expired=timer.advance_clock(Millis(0)))
                )
            case _:
                raise AssertionError(step)

    def _move_clock(self, jump_ms: int) -> None:
        # One thread alone moves the clock.
        self._now_ms += jump_ms
        move = partial(self._clock.advance_to, self._now_ms)
        self._recorder.do(Tick(to_ms=self._now_ms), move)

    def _read_size(self) -> None:
        with self._stage.alone():
            self._recorder.call(Size(), lambda: WaitingTasks(size=self._timer.size()))


class _RecordingTask(TimerTask):
    __slots__ = ("_name", "_recorder")

    def __init__(self, name: TaskId, delay_ms: int, recorder: LoadRecorder) -> None:
        super().__init__(delay_ms)
        self._name = name
        self._recorder = recorder

    def run(self) -> None:
        self._recorder.begins(Run(task=self._name), _EXECUTOR)


class InlineExecutor:
    """An executor that runs a task in `submit`: an advance that returns has run what it submitted.

    The standard forbids it (6.2.1), since a task that calls the timer can deadlock; the tasks here
    only record their run. In the history they run on one thread, so that their order is judged.
    """

    def submit(self, task: Callable[[], None]) -> None:
        """Run it."""
        task()

    def shutdown(self) -> None:
        """Do nothing: there is no thread to end."""

    def await_termination(self, timeout_ms: Millis) -> bool:
        """Return True: every submitted task has run."""
        del timeout_ms
        return True
