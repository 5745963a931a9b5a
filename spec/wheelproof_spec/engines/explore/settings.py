"""What a program may set about the world in which it runs."""

from dataclasses import dataclass

from wheelproof_spec.engines.explore.timing import TimeMode

MAX_STEPS = 5_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The world of a run.

    `spurious_wakeups` is how often each thread may return from an untimed wait for no reason;
    `max_steps` how many steps a run may have before it counts as one that never ends; `may_wait`
    names the threads that may still be waiting when everybody else has ended. With `notify_among`
    above 1, `notify` wakes any of the first so many waiters instead of the one that came first.
    """

    time: TimeMode = TimeMode.ANY
    spurious_wakeups: int = 0
    notify_among: int = 1
    max_steps: int = MAX_STEPS
    may_wait: frozenset[str] = frozenset()


DEFAULT_SETTINGS = Settings()
