"""The reference's timer under the work that every timer is given."""

from functools import partial

from wheelproof import sync
from wheelproof.timer import SystemTimer, TimerTask
from wheelproof.units import Millis
from wheelproof_spec.base.calls import AdvanceClock, Advanced, Close
from wheelproof_spec.base.component import Config
from wheelproof_spec.components.timer.component import (
    Add,
    Cancel,
    Cancelled,
    Run,
    Size,
    TimerConfig,
    WaitingTasks,
)
from wheelproof_spec.components.timer.recording.work import work
from wheelproof_spec.history.recording.callers import Callers
from wheelproof_spec.history.recording.load import wait_until_quiet
from wheelproof_spec.history.recording.load_recorder import LoadRecorder
from wheelproof_spec.history.recording.work import Make, do_work

_ADVANCE_MS = Millis(10)


class _Task(TimerTask):
    __slots__ = ("_recorder", "name")

    def __init__(self, name: str, delay_ms: int, recorder: LoadRecorder) -> None:
        super().__init__(delay_ms)
        self.name = name
        self._recorder = recorder

    def run(self) -> None:
        """Record the run."""
        self._recorder.begins(Run(task=self.name))


class TimerLoad:
    """A SystemTimer with one thread that advances it."""

    def __init__(self, callers: Callers) -> None:
        self._work = work(callers)
        assert isinstance(self._work.config, TimerConfig)
        wheel = self._work.config
        self._timer = SystemTimer("load", tick_ms=wheel.tick_ms, wheel_size=wheel.wheel_size)
        self._tasks: dict[str, _Task] = {}
        self._finished = False
        self._closed = False

    @property
    def config(self) -> Config:
        """The settings of the timer."""
        return self._work.config

    def run(self, recorder: LoadRecorder, callers: Callers) -> None:
        """Use the timer until every task has run or is cancelled, or it is closed."""
        for step in self._work.steps:
            if isinstance(step, Make) and isinstance(step.call, Add):
                name = step.call.task
                # Made first: other callers may cancel it, or add it again, during the add.
                self._tasks[name] = _Task(name, step.call.delay_ms, recorder)
        reaper = sync.thread(lambda: self._reap(recorder), "reaper")
        reaper.start()
        try:
            do_work(self._work, callers, partial(self._make, recorder))
            wait_until_quiet(lambda: self._closed or self._timer.size() == 0)
        finally:
            self._finished = True
            reaper.join()
            self._timer.close()

    def _reap(self, recorder: LoadRecorder) -> None:
        timer, asked = self._timer, AdvanceClock(timeout_ms=_ADVANCE_MS)
        is_open = True
        while is_open and not self._finished:
            is_open = recorder.call(
                asked, lambda: Advanced(expired=timer.advance_clock(_ADVANCE_MS))
            )

    def _make(self, recorder: LoadRecorder, step: Make) -> None:
        call, timer = step.call, self._timer
        match call:
            case Add(task=name):
                recorder.do(call, lambda: timer.add(self._tasks[name]))
            case Cancel(task=name):
                recorder.call(call, lambda: Cancelled(cancelled=self._tasks[name].cancel()))
            case Size():
                recorder.call(call, lambda: WaitingTasks(size=timer.size()))
            case _:
                assert isinstance(call, Close)
                recorder.do(call, timer.close)
                self._closed = True


def load(callers: Callers) -> TimerLoad:
    """Return the load of one history."""
    return TimerLoad(callers)
