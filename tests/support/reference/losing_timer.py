"""A timer that is wrong: it loses what Kafka's loses when its environment fails."""

from wheelproof.timer import SystemTimer, TimerTaskList, TimingWheel


class _LosingBucket(TimerTaskList):
    """A bucket that forgets the entry whose task was refused, as Kafka's does."""

    __slots__ = ()

    def _take_back(self, entry: object) -> None:
        """Do nothing."""


class _LosingWheel(TimingWheel):
    """A wheel of such buckets."""

    __slots__ = ()
    _bucket_class = _LosingBucket


class LosingTimer(SystemTimer):
    """A timer of such wheels."""

    _timing_wheel_class = _LosingWheel
