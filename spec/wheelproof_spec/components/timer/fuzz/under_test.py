"""A SystemTimer with several threads on a manual clock, judged after each burst of calls."""

import itertools
from collections.abc import Callable, Iterable
from functools import partial

from wheelproof.clock import ManualClock
from wheelproof.timer import SystemTimer, TimerTask
from wheelproof.units import Millis
from wheelproof_spec.base.calls import AdvanceClock, Advanced, Tick
from wheelproof_spec.base.contract import KAFKA
from wheelproof_spec.base.history.lines import KeptHistory
from wheelproof_spec.base.results.violation import Violation
from wheelproof_spec.components.timer.component import (
    Add,
    Cancel,
    Cancelled,
    Run,
    Size,
    TaskId,
    TimerConfig,
    WaitingTasks,
)
from wheelproof_spec.components.timer.drawn import Span
from wheelproof_spec.components.timer.fuzz.stages import TimerStage
from wheelproof_spec.components.timer.history import RECORDED
from wheelproof_spec.fuzz.judged_bursts import JudgedBursts
from wheelproof_spec.fuzz.threaded_case import Burst, Setup
from wheelproof_spec.history.recording.load_recorder import LoadRecorder

_DELAY = "delay_ms of "
_EXECUTOR = "executor"


def setup_of(config: TimerConfig, delay_ms: dict[TaskId, int]) -> Setup:
    """Return the set-up of a case: a configuration, and one task for each delay."""
    return (
        ("tick_ms", config.tick_ms),
        ("wheel_size", config.wheel_size),
        ("start_ms", config.start_ms),
        *((_DELAY + task, delay) for task, delay in delay_ms.items()),
    )


class TimerUnderTest:
    """A timer and its tasks, whose calls and runs are recorded, on a stage that has the threads."""

    def __init__(
        self,
        timer_class: type[SystemTimer],
        setup: Setup,
        stage: TimerStage,
        keep: Callable[[KeptHistory], object] | None,
    ) -> None:
        values = dict(setup)
        delays = {
            key.removeprefix(_DELAY): delay
            for key, delay in values.items()
            if key.startswith(_DELAY)
        }
        self._config = TimerConfig(
            tick_ms=values["tick_ms"],
            wheel_size=values["wheel_size"],
            start_ms=values["start_ms"],
            runs="inline",
            run_order="promised",
        )
        self._longest_ms = max(0, *delays.values())
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
                name: _RecordingTask(name, delay, self._recorder) for name, delay in delays.items()
            }
            self._clock = ManualClock(self._config.start_ms)
            self._timer = timer_class(
                "under test",
                tick_ms=self._config.tick_ms,
                wheel_size=self._config.wheel_size,
                clock=self._clock,
                executor=InlineExecutor(),
            )

    @property
    def now_ms(self) -> int:
        """The time that the clock shows, in milliseconds."""
        with self._stage.alone():
            return self._clock.hi_res_clock_ms()

    def run(self, burst: Burst, *, last: bool = False) -> Violation | None:
        """Run one burst, ask for the size, and return the violation of the history, if any.

        The `last` burst ends the history: then every submitted task must have run.
        """
        programs = [[(words, self._call(words)) for words in program] for program in burst]
        violation = self._bursts.judge(lambda: self._stage.run(programs), self._look)
        self._broken = violation is not None
        return self._bursts.finish() if last and violation is None else violation

    def drain(self) -> Burst:
        """Return the burst after which no task waits and no entry is linked."""
        beyond_ms = self.now_ms + self._longest_ms + self._config.tick_ms
        return ((f"clock to {beyond_ms}", "advance"),)

    def finish(self) -> Violation | None:
        """Let everything expire, unless a burst had a violation, and close the timer."""
        try:
            return None if self._broken else self.run(self.drain(), last=True)
        finally:
            self.close()

    def advancing(self, jumps: Iterable[Span]) -> Burst:
        """Return the program of a thread that advances the clock by jumps; empty without jumps."""
        jumps_ms = (jump.millis(self._config) for jump in jumps)
        times_ms = list(itertools.accumulate(jumps_ms, initial=self.now_ms))[1:]
        program = tuple(words for time in times_ms for words in (f"clock to {time}", "advance"))
        return (program,) if program else ()

    def close(self) -> None:
        """Close the timer, unless a thread may be stuck in it, and end the stage's threads."""
        if not self._broken:
            with self._stage.alone():
                self._timer.close()
        self._stage.close()

    def _call(self, words: str) -> Callable[[], object]:
        recorder, timer = self._recorder, self._timer
        match words.split(" "):
            case ["add", name]:
                task = self._tasks[name]
                asked = Add(task=name, delay_ms=task.delay_ms)
                return lambda: recorder.do(asked, partial(timer.add, task))
            case ["cancel", name]:
                cancel = self._tasks[name].cancel
                return lambda: recorder.call(
                    Cancel(task=name), lambda: Cancelled(cancelled=cancel())
                )
            case ["clock", "to", time]:
                to_ms = int(time)
                move = partial(self._clock.advance_to, to_ms)
                return lambda: recorder.do(Tick(to_ms=to_ms), move)
            case _:
                return lambda: recorder.call(
                    AdvanceClock(timeout_ms=0),
                    lambda: Advanced(expired=timer.advance_clock(Millis(0))),
                )

    def _look(self) -> None:
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
