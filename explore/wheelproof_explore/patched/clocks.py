"""The clocks of Python: in a run they show the time of the run.

That is the time at which a wait of the thread has ended. It does not pass by itself, so a pass says
that nobody looked at what happens if it does between two looks at a clock.
"""

import inspect
import time
from collections.abc import Callable
from datetime import UTC, date, datetime, tzinfo
from functools import cache, partial
from pathlib import Path
from types import BuiltinMethodType, FrameType
from typing import TypeVar, cast

from wheelproof_explore.failures.places import is_checkers, is_library
from wheelproof_explore.patched.primitives import millis, running
from wheelproof_explore.runtime.signals import Sleep, deadline_after

T = TypeVar("T")

_EPOCH_S = 1_700_000_000
"""What `time.time` shows when a run begins."""

real_sleep = time.sleep


def _milliseconds() -> int | None:
    """Return the time of the run in milliseconds, None if none is under way for the caller."""
    runtime = running()
    if runtime is None:
        return None
    frame = inspect.currentframe()
    while frame is not None and _is_in_between(frame.f_code.co_filename):
        frame = frame.f_back
    if frame is None or is_checkers(frame.f_code.co_filename):
        return None
    runtime.looks_at_clock |= _is_programs(frame)
    return runtime.monotonic_ms()


@cache
def _is_in_between(file: str) -> bool:
    """Tell whether a source file makes calls that the program has asked for."""
    return file == __file__ or (is_checkers(file) and "instrument" in Path(file).parts)


def _is_programs(frame: FrameType) -> bool:
    return not is_library(str(frame.f_globals.get("__name__")))


def _clock(real: Callable[..., T], read: Callable[[int], T]) -> Callable[..., T]:
    """Return a replacement of a clock; `read` makes of milliseconds what it shows."""

    def clock() -> T:
        now = _milliseconds()
        return real() if now is None else read(now)

    return clock


def _of_moment(
    real: Callable[..., T], place: int, read: Callable[[float], object]
) -> Callable[..., T]:
    """Return a replacement of a function that takes a moment, in that place, or the present one."""

    def clock(*given: object) -> T:
        if (len(given) > place and given[place] is not None) or len(given) < place:
            return real(*given)
        now = _milliseconds()
        return real(*given) if now is None else real(*given[:place], read(_EPOCH_S + now / 1000))

    return clock


def _gettime(real: Callable[[int], T], read: Callable[[int], T]) -> Callable[[int], T]:
    """Return a replacement of a function that reads the clock of a number."""

    def clock(number: int, /) -> T:
        now = _milliseconds()
        if now is None:
            return real(number)
        return read(now + (_EPOCH_S * 1000 if number == time.CLOCK_REALTIME else 0))

    return clock


def sleep(seconds: float, /) -> None:
    """Sleep in the time of the run."""
    runtime = running()
    if runtime is None:
        real_sleep(seconds)
        return
    if seconds < 0:
        raise ValueError("sleep length must be non-negative")
    if runtime.current is not None:
        deadline = deadline_after(runtime, runtime.clock, millis(seconds))
        runtime.perform(Sleep(runtime.clock, deadline))


def _seconds(ms: int) -> float:
    return ms / 1000


def _nanoseconds(ms: int) -> int:
    return ms * 1_000_000


def _present(seconds: float) -> float:
    return seconds


_LOCAL = time.localtime

CLOCKS: dict[str, Callable[..., object]] = {
    **{
        name: _clock(getattr(time, name), _seconds)
        for name in ("monotonic", "perf_counter", "process_time", "thread_time")
    },
    **{
        f"{name}_ns": _clock(getattr(time, f"{name}_ns"), _nanoseconds)
        for name in ("monotonic", "perf_counter", "process_time", "thread_time")
    },
    "asctime": _of_moment(time.asctime, 0, _LOCAL),
    "clock_gettime": _gettime(time.clock_gettime, _seconds),
    "clock_gettime_ns": _gettime(time.clock_gettime_ns, _nanoseconds),
    "ctime": _of_moment(time.ctime, 0, _present),
    "gmtime": _of_moment(time.gmtime, 0, _present),
    "localtime": _of_moment(time.localtime, 0, _present),
    "sleep": sleep,
    "strftime": _of_moment(time.strftime, 1, _LOCAL),
    "time": _clock(time.time, lambda ms: _EPOCH_S + ms / 1000),
    "time_ns": _clock(time.time_ns, lambda ms: _EPOCH_S * 10**9 + ms * 1_000_000),
}
"""The replacements of the functions of `time`."""


def of_the_run(function: object) -> Callable[..., object] | None:
    """Return what a method of `datetime` or `date` that reads the clock is in a run; else None.

    These are classes of C, which nobody can replace: a call of theirs is.
    """
    if type(function) is not BuiltinMethodType or function.__name__ not in _DATES:
        return None
    kind: object = function.__self__
    if not isinstance(kind, type) or not issubclass(kind, date):
        return None
    real = cast("Callable[..., object]", function)
    return partial(_DATES[function.__name__], real, kind)


def _today(real: Callable[[], date], kind: type[date]) -> date:
    now = _milliseconds()
    return real() if now is None else kind.fromtimestamp(_EPOCH_S + now / 1000)


def _now(
    real: Callable[[tzinfo | None], datetime], kind: type[datetime], tz: tzinfo | None = None
) -> datetime:
    now = _milliseconds()
    return real(tz) if now is None else kind.fromtimestamp(_EPOCH_S + now / 1000, tz)


def _utcnow(real: Callable[[], datetime], kind: type[datetime]) -> datetime:
    now = _milliseconds()
    if now is None:
        return real()
    return kind.fromtimestamp(_EPOCH_S + now / 1000, UTC).replace(tzinfo=None)


_DATES: dict[str, Callable[..., object]] = {"now": _now, "today": _today, "utcnow": _utcnow}
