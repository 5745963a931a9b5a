"""Liveness programs of the timer, which only graph mode can judge."""

from functools import partial

from wheelproof.timer import SystemTimer, TimerTaskEntry, TimerTaskList, TimingWheel
from wheelproof.timer.delay_queue import DelayQueue
from wheelproof_explore.program import LeadsTo, PlainField, Program, Scenario, forget
from wheelproof_lab.bugs.timer import AdvanceAfterFlushTimer
from wheelproof_lab.worlds.making import program
from wheelproof_lab.worlds.timer.system_timer import TimerBench


class ForgetfulTimer(SystemTimer):
    """A timer whose flush forgets its local state at each entry, apart from the entry."""

    def _add_timer_task_entry(self, entry: TimerTaskEntry) -> None:
        forget(entry)
        super()._add_timer_task_entry(entry)


class ForgetfulAdvanceAfterFlushTimer(ForgetfulTimer, AdvanceAfterFlushTimer):
    """A timer that flushes a bucket before the wheel's clock moves."""


def advance_a_due_task(timer_class: type[ForgetfulTimer]) -> Scenario:
    """A task is due, and the timer is advanced: the advance ends, and the task is submitted."""
    bench = TimerBench(timer_class)
    task = bench.task(1)
    bench.at(1)
    return Scenario(
        threads={"advance": bench.advance},
        sometimes={"the task is in no bucket": lambda: bench.timer.size() == 0},
        leads_to=[
            LeadsTo(
                name="the task is submitted",
                then=lambda: task.get_timer_task_entry() is None,
            )
        ],
    )


_TIMER = (
    SystemTimer, DelayQueue, TimerTaskEntry, TimerTaskList, TimingWheel,
    PlainField(owner=DelayQueue, name="_heap"),
)  # fmt: skip


TIMER_FOR_EVER: tuple[Program, ...] = (
    program("advance-ends", partial(advance_a_due_task, ForgetfulTimer), shares=_TIMER),
)
"""Programs that pass in graph mode."""

TIMER_FOR_EVER_BUGS: tuple[Program, ...] = (
    program(
        "advance-after-flush-ends",
        partial(advance_a_due_task, ForgetfulAdvanceAfterFlushTimer),
        shares=_TIMER,
    ),
)
"""Programs that fail in graph mode."""
