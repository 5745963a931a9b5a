"""A SystemTimer with several threads on a manual clock, judged after each burst of calls.

The stage has the threads: real ones, those of the controlled runtime, or the model checker's.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from wheelproof.clock import ManualClock
from wheelproof.timer import SystemTimer, TimerTask
from wheelproof.units import Millis
from wheelproof_spec.base.calls import AdvanceClock, Advanced, Tick
from wheelproof_spec.base.contract import KAFKA
from wheelproof_spec.base.history.judging import LinearizationSearch
from wheelproof_spec.base.history.lines import KeptHistory
from wheelproof_spec.base.results.violation import Violation
from wheelproof_spec.components.timer.component import (
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
from wheelproof_spec.fuzz.judged_bursts import JudgedBursts
from wheelproof_spec.fuzz.stage import Programs, Stage
from wheelproof_spec.fuzz.threaded_case import Burst
from wheelproof_spec.history.recording.load_recorder import LoadRecorder

_EXECUTOR = "executor"


class TimerUnderTest:
    """A timer and its tasks, whose calls and runs are recorded, on a stage that has the threads."""

    def __init__(
        self,
        timer_class: type[SystemTimer],
        setup: TimerSetup,
        stage: Stage,
        *,
        keep: Callable[[KeptHistory], object] | None = None,
        search: LinearizationSearch | None = None,
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
            search=search,
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

    def programs(self, burst: Burst[TimerStep]) -> Programs:
        """Return the calls of a burst."""
        return [[(step, self._call(step)) for step in program] for program in burst]

    def run(self, burst: Burst[TimerStep], *, last: bool = False) -> Violation | None:
        """Run one burst, ask for the size, and return the violation of the history, if any.

        The `last` burst ends the history: then every submitted task must have run.
        """
        programs = self.programs(burst)
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
