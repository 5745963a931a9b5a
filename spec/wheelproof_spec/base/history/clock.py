"""Bounds on the clock at each moment of a history, in milliseconds."""

from bisect import bisect_left

from wheelproof_spec.base.codec.vocabulary import ABSENT, Absent
from wheelproof_spec.base.contract import Rounding, TimerContract
from wheelproof_spec.base.history.lines import HistoryHeader

_NS = 1_000_000
_RESOLUTION_NS = 1_000_000
NEVER = 2**70
"""A time later than every time of a history."""


class HistoryClock:
    """Bounds on the time that a thread of the timer can read now, or has read since a mark."""

    judges_times = True

    def __init__(self, tick_ms: int, contract: TimerContract) -> None:
        self.tick_ms = tick_ms
        self.contract = contract
        self.low = 0
        """The time that the clock has certainly reached."""
        self.high = 0
        """The latest time that the clock may show."""

    @property
    def least(self) -> int:
        """The least time that a call which begins now may read."""
        return self.low

    @property
    def ceiling(self) -> int:
        """A time that the clock has certainly not passed; for a real clock it may exceed `high`."""
        return self.high

    def at(self, time_ns: int | Absent) -> None:
        """Record the time of the current event."""

    def ticking(self, to_ms: int) -> None:
        """Record that a move of a virtual clock began."""

    def ticked(self, to_ms: int) -> None:
        """Record that a move of a virtual clock ended."""

    def mark(self) -> int:
        """Return a mark for `dues`, for a call that begins now."""
        return self.least

    @property
    def owing(self) -> int:
        """The due time up to which an advance that begins now must submit all tasks."""
        return self.low

    def release(self) -> None:
        """Release a mark: its call has ended."""

    def notes(self, lateness_ms: int | Absent) -> tuple[str, ...]:
        """Return what is not judged of earliness and lateness; `lateness_ms` is the claimed one."""
        del lateness_ms
        return ()

    def dues(self, mark: int, delay_ms: int) -> tuple[tuple[int, int], ...]:
        """Return when a task may be due if its add read the clock between `mark` and now.

        The result is intervals: least and greatest time.
        """
        raise NotImplementedError


class VirtualClock(HistoryClock):
    """A clock that `tick` moves."""

    def __init__(self, tick_ms: int, contract: TimerContract, start_ms: int) -> None:
        super().__init__(tick_ms, contract)
        self.low = self.high = start_ms
        self._shown = [start_ms]
        """The times that it may have shown since the oldest open call began, in order."""
        self._marks = 0

    def ticking(self, to_ms: int) -> None:
        """Record that a move began: from now on the clock may show `to_ms`.

        Other moves may be in progress, and any of them may take effect first.
        """
        place = bisect_left(self._shown, to_ms)
        if to_ms > self.low and to_ms not in self._shown[place : place + 1]:
            self._shown.insert(place, to_ms)
        self.high = max(self.high, to_ms)

    def ticked(self, to_ms: int) -> None:
        """Record that the clock shows `to_ms` now."""
        self.low = max(self.low, to_ms)
        if not self._marks:
            del self._shown[: bisect_left(self._shown, self.low)]

    def mark(self) -> int:
        """Return the least time that a call which begins now may read; keep all later times."""
        self._marks += 1
        return self.low

    def release(self) -> None:
        """Release a mark."""
        self._marks -= 1

    def dues(self, mark: int, delay_ms: int) -> tuple[tuple[int, int], ...]:
        """Return the due times, one for each value that the clock has shown."""
        due_ms = self.contract.due_ms
        shown = self._shown[bisect_left(self._shown, mark) :]
        found = {due_ms(reading + delay_ms, self.tick_ms) for reading in shown}
        return tuple((due, due) for due in sorted(found))


class MonotonicClock(HistoryClock):
    """A real clock that all processes share; the recorder reads it before and after the call.

    It is unknown when the implementation's own milliseconds begin, so bounds are rounded outwards.
    If its clock truncates, a call may have read less, by less than a millisecond. If not, deadlines
    and due times may lie between two milliseconds. A time that is strictly less or later differs by
    a nanosecond at least: hence `_strict_ns`.
    """

    def __init__(
        self, tick_ms: int, contract: TimerContract, resolution_ns: int | Absent = ABSENT
    ) -> None:
        super().__init__(tick_ms, contract)
        self._is_known = isinstance(resolution_ns, int)
        self._resolution_ns = resolution_ns if isinstance(resolution_ns, int) else _RESOLUTION_NS
        self._strict_ns = contract.truncates or contract.rounding is Rounding.NEXT
        self._least = self.low = self.high = self._ceiling = self._latest_ns = -NEVER

    @property
    def least(self) -> int:
        """The time of this event in whole milliseconds, minus 1 if the clock truncates."""
        return self._least

    @property
    def ceiling(self) -> int:
        """The latest time that was recorded, in whole milliseconds, rounded up."""
        return self._ceiling

    def at(self, time_ns: int | Absent) -> None:
        """Record the time of an event; the recorded times of other threads may be a little behind.

        An event without a time may happen at any later time.
        """
        if isinstance(time_ns, int):
            self.low = (time_ns - self._resolution_ns) // _NS
            self._least = self.low - self.contract.truncates
            latest_ns = self._latest_ns = max(self._latest_ns, time_ns + self._resolution_ns)
            self.high = (latest_ns - self._strict_ns) // _NS
            self._ceiling = -(-latest_ns // _NS)
        else:
            self.high = self._ceiling = NEVER

    @property
    def owing(self) -> int:
        """As in the base class; without truncation a due time may lie between two milliseconds."""
        return self.low - (not self.contract.truncates)

    def notes(self, lateness_ms: int | Absent) -> tuple[str, ...]:
        """Return what is not judged, or only coarsely."""
        found: list[str] = []
        if not self._is_known:
            unseen_ms = 2 * _RESOLUTION_NS // _NS + 1 + self._strict_ns
            found.append(
                "the header has no clock_resolution_ns, so 1 ms is assumed: what is early by less "
                f"than {unseen_ms} ms may not have been seen"
            )
        if not isinstance(lateness_ms, int):
            found.append("the configuration has no lateness_ms: lateness was not judged")
        return tuple(found)

    def dues(self, mark: int, delay_ms: int) -> tuple[tuple[int, int], ...]:
        """Return one interval; it is unknown when the implementation's ticks begin."""
        slack_ms = self.tick_ms - 1
        least, greatest = mark + delay_ms, self.ceiling + delay_ms
        match self.contract.rounding:
            case Rounding.DOWN:
                return ((least - slack_ms, greatest),)
            case Rounding.UP:
                return ((least, greatest + slack_ms),)
            case Rounding.EXACT:
                return ((least, greatest),)
            case Rounding.NEXT:
                return ((least + self.contract.truncates, greatest + self.tick_ms),)


class NoClock(HistoryClock):
    """No clock: every task may be due at any time, and no task must be."""

    judges_times = False

    def __init__(self, tick_ms: int, contract: TimerContract) -> None:
        super().__init__(tick_ms, contract)
        self.low, self.high = -NEVER, NEVER

    def notes(self, lateness_ms: int | Absent) -> tuple[str, ...]:
        """Return that no time is judged."""
        del lateness_ms
        return ("there is no clock: neither earliness nor lateness was judged",)

    def dues(self, mark: int, delay_ms: int) -> tuple[tuple[int, int], ...]:
        """Return the interval of all times."""
        del mark, delay_ms
        return ((-NEVER, NEVER),)


def clock_of(
    header: HistoryHeader[object], contract: TimerContract, tick_ms: int = 1, start_ms: int = 0
) -> HistoryClock:
    """Return the bounds for the clock that a header names."""
    match header.clock:
        case "virtual":
            return VirtualClock(tick_ms, contract, start_ms)
        case "monotonic_ns":
            return MonotonicClock(tick_ms, contract, header.clock_resolution_ns)
        case _:
            return NoClock(tick_ms, contract)
