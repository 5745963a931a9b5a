"""The settings of a program for the world in which it runs."""

from dataclasses import dataclass, field
from enum import StrEnum

MAX_STEPS = 5_000


class TimeMode(StrEnum):
    """How time passes while a program is explored."""

    ANY = "any"
    """A time-out may fire whenever it is pending. A thread whose time-out has fired reads a clock
    that shows its deadline; other threads do not. Covers every real behaviour and some more, but
    for time that passes by itself between two looks at a clock."""
    CLOCK = "clock"
    """One clock for all; at any moment it may advance to the next deadline."""
    LAZY = "lazy"
    """One clock for all; it advances to the next deadline when nothing else can run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The world of a run.

    `spurious_wakeups` is how often each thread may return from an untimed wait for no reason;
    `max_steps` how many steps a run may have before it is given up; `may_wait`
    names the threads that may still be waiting when everybody else has ended. With `notify_among`
    above 1, `notify` wakes any of the first so many waiters instead of the one that came first.
    With `first_in_first_out` the tasks of an event loop have their turns in the order of asyncio's
    own loop alone. Timers and other threads may still run at any time.
    """

    time: TimeMode = TimeMode.ANY
    spurious_wakeups: int = 0
    notify_among: int = 1
    max_steps: int = MAX_STEPS
    may_wait: frozenset[str] = frozenset()
    first_in_first_out: bool = field(default=False, repr=False)


DEFAULT_SETTINGS = Settings()
