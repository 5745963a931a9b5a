"""The timer, of which a signal ends a call anywhere (standard 6.8).

A task whose add or cancel a signal has ended may run or not, once at most. Every other task runs
once, or was cancelled.
"""

from collections.abc import Mapping

from wheelproof.timer import SystemTimer
from wheelproof_explore.program import Program, Scenario
from wheelproof_lab.worlds.tables import SignalRow, act, signalled_scenario_of, signals_of
from wheelproof_lab.worlds.timer.entry_migration import IdleTask
from wheelproof_lab.worlds.timer.system_timer import CLOCK_OF_A_WHEEL, TimerBench


class SignalledTimer(TimerBench):
    """A timer, and what a signal may have left of a call."""

    def add(self, task: IdleTask) -> None:
        """Add a task, which need not run if a signal ends that."""
        try:
            super().add(task)
        except KeyboardInterrupt:
            self.added.append(task)
            self.refused.append(task)
            raise

    def add_in_use(self, number: int) -> None:
        """Add a task that is in the timer: a signal may take it out, as a cancel does."""
        try:
            self.timer.add(self.added[number])
        except KeyboardInterrupt:
            self.refused.append(self.added[number])
            raise

    def cancel(self, number: int) -> None:
        """Cancel a task, which need not run if a signal ends that."""
        try:
            super().cancel(number)
        except KeyboardInterrupt:
            self.refused.append(self.added[number])
            raise


_DUE = (
    act(SignalledTimer.task, 1),
    act(SignalledTimer.task, 1),
    act(SignalledTimer.task, 3),
    act(SignalledTimer.at, 1),
    act(SignalledTimer.make, 0),
    act(SignalledTimer.make, 3),
)
_ROWS: Mapping[str, SignalRow[SignalledTimer]] = {
    "timer-add": SignalRow(
        summary="A signal ends an add to a bucket, while the clock is advanced.",
        before=_DUE,
        places=110,
        signalled=(act(SignalledTimer.hand_in, 4),),
        threads={"advance": act(SignalledTimer.advance)},
    ),
    "timer-add-due": SignalRow(
        summary="A signal ends an add of a task that is due, while another task is cancelled.",
        before=_DUE,
        places=60,
        signalled=(act(SignalledTimer.hand_in, 3),),
        threads={"cancel": act(SignalledTimer.cancel, 0)},
    ),
    "timer-add-again": SignalRow(
        summary="A signal ends the second add of a task, while the clock is advanced.",
        before=_DUE,
        places=120,
        signalled=(act(SignalledTimer.add_in_use, 2),),
        threads={"advance": act(SignalledTimer.advance)},
    ),
    "timer-cancel": SignalRow(
        summary="A signal ends a cancel, while the clock is advanced.",
        before=_DUE,
        places=30,
        signalled=(act(SignalledTimer.cancel, 2),),
        threads={"advance": act(SignalledTimer.advance)},
    ),
    "timer-advance": SignalRow(
        summary="A signal ends an advance, while a task is added.",
        before=_DUE,
        places=130,
        signalled=(act(SignalledTimer.advance), act(SignalledTimer.advance)),
        threads={"add": act(SignalledTimer.hand_in, 3)},
    ),
    "timer-advance-above": SignalRow(
        summary="A signal ends an advance that moves tasks down, while one is cancelled.",
        before=(*_DUE, act(SignalledTimer.at, 3)),
        places=230,
        signalled=(act(SignalledTimer.advance), act(SignalledTimer.advance)),
        threads={"cancel": act(SignalledTimer.cancel, 2)},
    ),
    "timer-move-down": SignalRow(
        summary="A signal ends an advance that moves one task down, while the size is read.",
        before=(act(SignalledTimer.task, 3), act(SignalledTimer.at, 2)),
        places=110,
        signalled=(act(SignalledTimer.advance), act(SignalledTimer.advance)),
        threads={"size": act(SignalledTimer.look, 1)},
    ),
    "timer-close": SignalRow(
        summary="A signal ends a close, which is made again, while a task is added.",
        before=_DUE,
        places=30,
        signalled=(act(SignalledTimer.close), act(SignalledTimer.close)),
        threads={"add": act(SignalledTimer.hand_in, 3)},
        check=SignalledTimer.check_closed,
    ),
    "timer-size": SignalRow(
        summary="A signal ends a question, while the clock is advanced.",
        before=_DUE,
        places=10,
        signalled=(act(SignalledTimer.look, 5),),
        threads={"advance": act(SignalledTimer.advance)},
    ),
}


def _build(row: SignalRow[SignalledTimer], timer_class: type[SystemTimer]) -> Scenario:
    return signalled_scenario_of(row, SignalledTimer(timer_class))


def signals_with(timer_class: type[SystemTimer]) -> tuple[Program, ...]:
    """Return the programs in which a signal ends a call."""
    return signals_of(_ROWS, _build, timer_class, plain_fields=CLOCK_OF_A_WHEEL)
