"""What may take the place of the reference when the timer is fuzzed."""

from dataclasses import dataclass

from wheelproof.timer import SystemTimer, TimerTaskList


@dataclass(frozen=True, slots=True, kw_only=True)
class TimerVariant:
    """What is fuzzed: the classes of the timer and of its buckets, by default the reference's."""

    timer_class: type[SystemTimer] = SystemTimer
    bucket_class: type[TimerTaskList] = TimerTaskList
