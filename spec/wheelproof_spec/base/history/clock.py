"""What is known of the clock at each moment of a history, in milliseconds."""

from bisect import bisect_left

from wheelproof_spec.base.codec.vocabulary import ABSENT, Absent
from wheelproof_spec.base.contract import Rounding, TimerContract
from wheelproof_spec.base.history.lines import HistoryHeader

_NS = 1_000_000
_RESOLUTION_NS = 1_000_000
NEVER = 2**70
"""Later than every time that there is."""


class HistoryClock:
    """Bounds on what a thread of the timer can read now, and what has been shown since."""

    judges_times = True

    def __init__(self, tick_ms: int, contract: TimerContract) -> None:
        self.tick_ms = tick_ms
        self.contract = contract
        self.low = 0
        """What the clock has reached for sure."""
        self.high = 0
        """What the clock may show already."""

    @property
    def least(self) -> int:
        """The least that a call may read which begins now."""
        return self.low

    @property
    def ceiling(self) -> int:
        """What the clock has surely not passed: by a real one it may be later than `high`."""
        return self.high

    def at(self, time_ns: int | Absent) -> None:
        """Take note of the time of the event that comes now."""

    def ticking(self, to_ms: int) -> None:
        """Take note that a virtual clock is being moved."""

    def ticked(self, to_ms: int) -> None:
        """Take note that a virtual clock has been moved."""

    def mark(self) -> int:
        """Return a mark for `dues`: a call begins now."""
        return self.least

    @property
    def owing(self) -> int:
        """By when tasks are due that an advance owes which begins now."""
        return self.low

    def release(self) -> None:
        """Forget a mark: its call has ended."""

    def notes(self, lateness_ms: int | Absent) -> tuple[str, ...]:
        """Return what of earliness and lateness is not judged; `lateness_ms` is what is claimed."""
        del lateness_ms
        return ()

    def dues(self, mark: int, delay_ms: int) -> tuple[tuple[int, int], ...]:
        """Return when a task may be due whose add read the clock between `mark` and now.

        As intervals: least and greatest time.
        """
        raise NotImplementedError


class VirtualClock(HistoryClock):
    """A clock that `tick` moves."""

    def __init__(self, tick_ms: int, contract: TimerContract, start_ms: int) -> None:
        super().__init__(tick_ms, contract)
        self.low = self.high = start_ms
        self._shown = [start_ms]
        """What it may have shown since the first call began that is under way, in order."""
        self._marks = 0

    def ticking(self, to_ms: int) -> None:
        """Take note that the clock is being moved: from now on it may show `to_ms`.

        Other moves may be under way, and any of them may come first.
        """
        place = bisect_left(self._shown, to_ms)
        if to_ms > self.low and to_ms not in self._shown[place : place + 1]:
            self._shown.insert(place, to_ms)
        self.high = max(self.high, to_ms)

    def ticked(self, to_ms: int) -> None:
        """Take note that the clock shows `to_ms` now."""
        self.low = max(self.low, to_ms)
        if not self._marks:
            del self._shown[: bisect_left(self._shown, self.low)]

    def mark(self) -> int:
        """Return the least that a call may read which begins now; forget nothing from there on."""
        self._marks += 1
        return self.low

    def release(self) -> None:
        """Forget a mark."""
        self._marks -= 1

    def dues(self, mark: int, delay_ms: int) -> tuple[tuple[int, int], ...]:
        """Return the due times, one for each value that the clock has shown."""
        due_ms = self.contract.due_ms
        shown = self._shown[bisect_left(self._shown, mark) :]
        found = {due_ms(reading + delay_ms, self.tick_ms) for reading in shown}
        return tuple((due, due) for due in sorted(found))


class MonotonicClock(HistoryClock):
    """A real clock that all processes share; times are the recorder's, taken beside the call.

    Nobody knows at which moments the implementation's own milliseconds begin, so bounds are rounded
    outwards. If its clock truncates, a call may have read less, but by less than a whole one; if
    not, deadlines and due times may lie between two of them. What is less, or later, by any amount
    is so by a nanosecond at least: hence that one.
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
        """The time of this event in whole milliseconds, less by one if the clock truncates."""
        return self._least

    @property
    def ceiling(self) -> int:
        """The latest time that was recorded, in whole milliseconds, rounded up."""
        return self._ceiling

    def at(self, time_ns: int | Absent) -> None:
        """Take note of the time of an event; those of other threads may be a little behind.

        An event without a time may come at any one that is not over.
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
        """The same; without truncation a task may be due between two milliseconds."""
        return self.low - (not self.contract.truncates)

    def notes(self, lateness_ms: int | Absent) -> tuple[str, ...]:
        """Return what is not judged, or not closely."""
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
        """Return one interval; nobody knows where the implementation's ticks begin."""
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
    """Nothing is known of time: everything may be due, and nothing has to be."""

    judges_times = False

    def __init__(self, tick_ms: int, contract: TimerContract) -> None:
        super().__init__(tick_ms, contract)
        self.low, self.high = -NEVER, NEVER

    def notes(self, lateness_ms: int | Absent) -> tuple[str, ...]:
        """Return that nothing is judged."""
        del lateness_ms
        return ("there is no clock: neither earliness nor lateness was judged",)

    def dues(self, mark: int, delay_ms: int) -> tuple[tuple[int, int], ...]:
        """Return all of time."""
        del mark, delay_ms
        return ((-NEVER, NEVER),)


def clock_of(
    header: HistoryHeader[object], contract: TimerContract, tick_ms: int = 1, start_ms: int = 0
) -> HistoryClock:
    """Return what is known of the clock that a header names."""
    match header.clock:
        case "virtual":
            return VirtualClock(tick_ms, contract, start_ms)
        case "monotonic_ns":
            return MonotonicClock(tick_ms, contract, header.clock_resolution_ns)
        case _:
            return NoClock(tick_ms, contract)
