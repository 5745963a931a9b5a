"""The interface of substrates: fibers that can be stopped inside a call and resumed.

Two substrates exist, and the same schedule gives the same trace on both: greenlets, which are fast,
and operating-system threads that hand a baton to each other, which need nothing to be installed.
"""

from collections.abc import Callable
from enum import StrEnum
from typing import Protocol

from wheelproof_explore.substrates.greenlets import GreenletSubstrate
from wheelproof_explore.substrates.os_threads import ThreadSubstrate


class Fiber(Protocol):
    """A stack of its own that runs only while the scheduler waits for it."""

    @property
    def resume(self) -> Callable[[], object]:
        """Run until the fiber suspends itself or its body ends; called by the scheduler."""
        ...

    @property
    def suspend(self) -> Callable[[], object]:
        """Go back to the scheduler until it resumes the fiber; called inside the fiber."""
        ...


class Substrate(Protocol):
    """A maker of fibers. They are pooled: a fiber whose body has ended is used again."""

    def fiber(self, body: Callable[[], None]) -> Fiber:
        """Return a fiber that runs `body`, which must not raise, when first resumed."""
        ...

    def close(self) -> None:
        """Release the fibers of the pool; every body has ended."""
        ...


class SubstrateKind(StrEnum):
    """The available substrates."""

    GREENLET = "greenlet"
    THREADS = "threads"


def open_substrate(kind: SubstrateKind) -> Substrate:
    """Return a new substrate; raises ModuleNotFoundError if greenlet is not installed."""
    if kind is SubstrateKind.GREENLET:
        return GreenletSubstrate()
    return ThreadSubstrate()
