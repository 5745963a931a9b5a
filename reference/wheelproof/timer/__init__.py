"""The timer: hierarchical timing wheels driven by a delay queue (standard 1)."""

from wheelproof.timer.delay_queue import DelayQueue
from wheelproof.timer.system_timer import SystemTimer
from wheelproof.timer.system_timer_reaper import SystemTimerReaper
from wheelproof.timer.timer import Timer
from wheelproof.timer.timer_task import TimerTask, TimerTaskEntry
from wheelproof.timer.timer_task_list import TimerTaskList
from wheelproof.timer.timing_wheel import TimingWheel

__all__ = [
    "DelayQueue",
    "SystemTimer",
    "SystemTimerReaper",
    "Timer",
    "TimerTask",
    "TimerTaskEntry",
    "TimerTaskList",
    "TimingWheel",
]
