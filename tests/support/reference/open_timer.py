"""A SystemTimer whose wheels and buckets a test can look into; it behaves as the reference does."""

from collections.abc import Iterator

from wheelproof.timer import SystemTimer, TimerTaskEntry, TimerTaskList, TimingWheel
from wheelproof.units import Millis


class OpenBucket(TimerTaskList):
    """Shows its entries."""

    __slots__ = ()

    def entries(self) -> list[TimerTaskEntry]:
        """Return the linked entries in order, after checking that both directions agree."""
        forward: list[TimerTaskEntry] = []
        entry = self._root.next
        while entry is not self._root:
            assert entry.next.prev is entry
            forward.append(entry)
            entry = entry.next
        assert self._root.next.prev is self._root
        return forward


class OpenWheel(TimingWheel):
    """Shows its buckets."""

    __slots__ = ()
    _bucket_class = OpenBucket

    def open_buckets(self) -> list[OpenBucket]:
        """Return the buckets of this level; those that are missing are made."""
        found = map(self._bucket, range(self.wheel_size))
        return [bucket for bucket in found if isinstance(bucket, OpenBucket)]


class OpenTimer(SystemTimer):
    """Shows its wheels, level 0 first, and its queue."""

    _timing_wheel_class = OpenWheel

    def levels(self) -> Iterator[OpenWheel]:
        """Yield the wheel of each level."""
        wheel: TimingWheel | None = self._timing_wheel
        while wheel is not None:
            assert isinstance(wheel, OpenWheel)
            yield wheel
            wheel = wheel.overflow_wheel

    def buckets(self) -> list[OpenBucket]:
        """Return the buckets of all levels."""
        return [bucket for wheel in self.levels() for bucket in wheel.open_buckets()]

    def queued(self) -> int:
        """Return the number of buckets in the delay queue."""
        return len(self._delay_queue)

    def wheel_clock_ms(self) -> Millis:
        """Return the clock of level 0."""
        return self._timing_wheel.current_time_ms
