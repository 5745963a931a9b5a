"""Records the timers of any program: patches their public methods, and the runs of tasks."""

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec

from wheelproof.clock import ManualClock
from wheelproof.timer import SystemTimer, TimerTask
from wheelproof.timer.system_timer import DEFAULT_TICK_MS, DEFAULT_WHEEL_SIZE
from wheelproof.timer.timer_task import TimerTaskEntry
from wheelproof.units import Millis
from wheelproof_spec.base.calls import AdvanceClock, Advanced, Close, Tick
from wheelproof_spec.components.timer.component import (
    Add,
    Cancel,
    Cancelled,
    Run,
    Size,
    TimerConfig,
    WaitingTasks,
)
from wheelproof_spec.history.recording.recorded_run import (
    HistoryWriter,
    Replacements,
    nothing,
    telling,
)
from wheelproof_spec.history.recording.recorded_run import Run as RecordedRun

_P = ParamSpec("_P")


class TimerRecorder:
    """The recorder of timers, and of the moves of their manual clocks."""

    def __init__(self, writer: HistoryWriter) -> None:
        self._writer = writer
        self._timer_of: dict[int, RecordedRun] = {}
        self._clocks: dict[int, tuple[ManualClock, list[RecordedRun]]] = {}
        self._settings: dict[int, tuple[int, ManualClock | None]] = {}

    def replacements(self) -> Replacements:
        """Return the methods that record, by the class and the name that they replace."""
        recorded = self._writer.recorded
        return {
            (SystemTimer, "__init__"): self._made(SystemTimer.__init__),
            (SystemTimer, "add"): recorded(SystemTimer.add, self._adds, nothing),
            (SystemTimer, "advance_clock"): recorded(
                SystemTimer.advance_clock, AdvanceClock, telling(Advanced)
            ),
            (SystemTimer, "size"): recorded(SystemTimer.size, Size, telling(WaitingTasks)),
            (SystemTimer, "close"): recorded(SystemTimer.close, Close, nothing),
            (TimerTask, "cancel"): recorded(
                TimerTask.cancel, self._cancels, telling(Cancelled), self._run_of
            ),
            (TimerTask, "claim"): self._claim(TimerTask.claim),
            (ManualClock, "advance"): self._move(ManualClock.advance, relative=True),
            (ManualClock, "advance_to"): self._move(ManualClock.advance_to, relative=False),
        }

    def settings_of(self, timer: object) -> tuple[int, ManualClock | None] | None:
        """Return the tick of a timer in ms, and its clock if the clock is manual."""
        return self._settings.get(id(timer))

    def follow(self, clock: ManualClock, run: RecordedRun) -> None:
        """Write the moves of a clock into a history as well."""
        self._clocks.setdefault(id(clock), (clock, []))[1].append(run)

    def _made(self, original: Callable[_P, None]) -> Callable[_P, None]:
        @wraps(original)
        def made(*args: _P.args, **kwargs: _P.kwargs) -> None:
            original(*args, **kwargs)
            tick_ms = kwargs.get("tick_ms", DEFAULT_TICK_MS)
            wheel_size = kwargs.get("wheel_size", DEFAULT_WHEEL_SIZE)
            assert isinstance(tick_ms, int)
            assert isinstance(wheel_size, int)
            clock = kwargs.get("clock")
            manual = clock if isinstance(clock, ManualClock) else None
            # A deferred executor runs tasks later, but the submission is recorded.
            config = TimerConfig(
                tick_ms=tick_ms,
                wheel_size=wheel_size,
                runs="inline",
                start_ms=0 if manual is None else manual.hi_res_clock_ms(),
            )
            run = self._writer.made(args[0], config, virtual=manual is not None)
            self._settings[id(args[0])] = tick_ms, manual
            if manual is not None:
                self.follow(manual, run)

        return made

    def _move(
        self, original: Callable[[ManualClock, int], None], *, relative: bool
    ) -> Callable[[ManualClock, int], None]:
        @wraps(original)
        def move(clock: ManualClock, time_ms: int) -> None:
            _, runs = self._clocks.get(id(clock), (clock, []))
            to_ms = clock.hi_res_clock_ms() + time_ms if runs and relative else time_ms
            self._ticking(runs, to_ms, lambda: original(clock, time_ms))

        return move

    def _ticking(self, runs: list[RecordedRun], to_ms: int, move: Callable[[], None]) -> None:
        if not runs:
            move()
            return
        first, rest = runs[0], runs[1:]
        asked = Tick(to_ms=Millis(to_ms))
        self._writer.call(first, asked, nothing, lambda: self._ticking(rest, to_ms, move))

    def _run_of(self, task: TimerTask) -> RecordedRun | None:
        return self._timer_of.get(id(task))

    def _adds(self, run: RecordedRun, _timer: SystemTimer, timer_task: TimerTask) -> Add:
        self._timer_of[id(timer_task)] = run
        name = self._writer.name(run, timer_task, "task")
        return Add(task=name, delay_ms=timer_task.delay_ms)

    def _cancels(self, run: RecordedRun, task: TimerTask) -> Cancel:
        return Cancel(task=self._writer.name(run, task, "task"))

    def _claim(
        self, original: Callable[[TimerTask, TimerTaskEntry], bool]
    ) -> Callable[[TimerTask, TimerTaskEntry], bool]:
        @wraps(original)
        def claim(task: TimerTask, entry: TimerTaskEntry) -> bool:
            claimed = original(task, entry)
            run = self._run_of(task)
            if claimed and run is not None:
                self._writer.happens(run, Run(task=self._writer.name(run, task, "task")))
            return claimed

        return claim
