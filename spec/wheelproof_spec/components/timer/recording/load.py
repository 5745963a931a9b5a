"""Callers that add, cancel one another's tasks, add again, and ask for the size."""

import random
from itertools import count

from wheelproof import sync
from wheelproof.timer import SystemTimer, TimerTask
from wheelproof.units import Millis
from wheelproof_spec.base.calls import AdvanceClock, Advanced
from wheelproof_spec.components.timer.component import (
    Add,
    Cancel,
    Cancelled,
    Run,
    Size,
    TimerConfig,
    WaitingTasks,
)
from wheelproof_spec.history.recording.callers import Callers
from wheelproof_spec.history.recording.load import LATENESS_MS, RECENT, wait_until_quiet
from wheelproof_spec.history.recording.load_recorder import LoadRecorder

_TICK_MS = 1
_WHEEL_SIZE = 20
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

    def __init__(self) -> None:
        self._timer = SystemTimer("load", tick_ms=_TICK_MS, wheel_size=_WHEEL_SIZE)
        self._names = count()
        self._recent: list[_Task | None] = [None] * RECENT
        self._finished = False

    @property
    def config(self) -> TimerConfig:
        """The settings of the timer."""
        return TimerConfig(
            tick_ms=_TICK_MS, wheel_size=_WHEEL_SIZE, runs="later", lateness_ms=LATENESS_MS
        )

    def run(self, recorder: LoadRecorder, callers: Callers) -> None:
        """Use the timer until every task has run or is cancelled."""
        reaper = sync.thread(lambda: self._reap(recorder), "reaper")
        reaper.start()
        try:
            callers.act(lambda dice, _: self._act(recorder, dice))
            wait_until_quiet(lambda: self._timer.size() == 0)
        finally:
            self._finished = True
            reaper.join()
            self._timer.close()

    def _reap(self, recorder: LoadRecorder) -> None:
        timer, asked = self._timer, AdvanceClock(timeout_ms=_ADVANCE_MS)
        while not self._finished:
            recorder.call(asked, lambda: Advanced(expired=timer.advance_clock(_ADVANCE_MS)))

    def _act(self, recorder: LoadRecorder, dice: random.Random) -> None:
        choice, known = dice.randrange(100), dice.choice(self._recent)
        if choice < 5:
            recorder.call(Size(), lambda: WaitingTasks(size=self._timer.size()))
        elif choice < 30 and known is not None:
            recorder.call(Cancel(task=known.name), lambda: Cancelled(cancelled=known.cancel()))
        elif choice < 35 and known is not None:
            self._add(recorder, known)
        else:
            task = _Task(f"t{next(self._names)}", _delay_ms(dice), recorder)
            # Published first: other callers may cancel it, or add it again, during the add.
            self._recent[dice.randrange(RECENT)] = task
            self._add(recorder, task)

    def _add(self, recorder: LoadRecorder, task: _Task) -> None:
        asked = Add(task=task.name, delay_ms=task.delay_ms)
        recorder.do(asked, lambda: self._timer.add(task))


def _delay_ms(dice: random.Random) -> int:
    """Return a delay: about half are in the lowest wheel, the others 0 or on the next two."""
    choice = dice.randrange(100)
    if choice < 5:
        return 0
    if choice < 55:
        return dice.randrange(1, 20)
    return dice.randrange(20, 200) if choice < 90 else dice.randrange(200, 600)


def load(callers: Callers) -> TimerLoad:
    """Return the load of one history."""
    del callers
    return TimerLoad()
