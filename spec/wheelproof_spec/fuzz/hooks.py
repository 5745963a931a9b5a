"""Hooks that a runtime calls before every operation of another runtime.

They serve two fuzzers: one that gives up when a single call makes more steps than any call could
need (a flush that never ends is found without a clock), and one that makes threads switch inside
the races.
"""

import random
import threading
import time
from collections.abc import Callable
from typing import TypeVar

from wheelproof.sync import Runtime
from wheelproof_spec.fuzz.proxy_runtime import RELEASES, ProxyRuntime

# Long enough to let another thread make several steps, or only its next one.
_PAUSES_S = (0.0, 0.0, 1e-5, 1e-4)

R = TypeVar("R")
Hook = Callable[[], None]


class StepLimitExceededError(Exception):
    """The error that one call made more steps than the limit: it would not have ended."""


class StepLimit:
    """A hook that raises when `limit` steps have been made since `restart`."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._left = limit

    def restart(self) -> None:
        """Reset the count."""
        self._left = self._limit

    def __call__(self) -> None:
        """Count one step; raises StepLimitExceededError at the limit."""
        self._left -= 1
        if self._left <= 0:
            raise StepLimitExceededError(f"no end after {self._limit} steps")


class Preemption:
    """A hook that pauses before some steps, so that other threads run first; a seed decides.

    Each thread draws from its own sequence, so its pauses do not depend on how fast the other
    threads are.
    """

    def __init__(self, seed: int, one_in: int) -> None:
        self._seed = seed
        self._one_in = one_in
        self._local = threading.local()

    def __call__(self) -> None:
        """Pause the thread, once in `one_in` steps on average."""
        draws: random.Random | None = getattr(self._local, "draws", None)
        if draws is None:
            draws = random.Random(f"{self._seed}/{threading.current_thread().name}")
            self._local.draws = draws
        if draws.randrange(self._one_in) == 0:
            time.sleep(draws.choice(_PAUSES_S))


class InstrumentedRuntime(ProxyRuntime):
    """The runtime `inner`, with `before` called before each operation on its primitives."""

    def __init__(self, inner: Runtime, before: Hook) -> None:
        super().__init__(inner, _Before(before))


class _Before:
    """A watcher that calls a hook before an operation that may let another thread go first."""

    def __init__(self, hook: Hook) -> None:
        self._hook = hook

    def making(self, name: str) -> None:
        """Do nothing: no other thread has the primitive yet."""

    def around(
        self, name: str, primitive: object, how: str, perform: Callable[[], R], value: object
    ) -> R:
        """Call the hook, unless the operation releases a lock."""
        del name, primitive, value
        if how not in RELEASES:
            self._hook()
        return perform()
