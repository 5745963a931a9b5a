"""The threads of a burst in one fixed order, so that a race does not depend on how they run.

The first thread goes up to the place of the race, or to the end of its first call if that does not
come there. Then the others run, one after the other. Then the first thread goes on.
"""

import threading
from collections.abc import Generator
from contextlib import contextmanager

_FIRST = "burst-0"
_OTHERS = ("burst-1", "burst-2")


class Meeting:
    """Put `call` around each call of an implementation, and `race` at the place of the race."""

    def __init__(self) -> None:
        self._reached = threading.Event()

    @contextmanager
    def call(self) -> Generator[None]:
        """Wait for the turn of this thread; the first thread has its turn at once."""
        name = threading.current_thread().name
        if name in _OTHERS:
            self._reached.wait()
            _join(_OTHERS[: _OTHERS.index(name)])
        elif name != _FIRST:
            self._reached.clear()
        yield
        self.race()

    def race(self) -> None:
        """Let all others run, if this is the first thread and they have not run yet."""
        if threading.current_thread().name == _FIRST and not self._reached.is_set():
            self._reached.set()
            _join(_OTHERS)


def _join(names: tuple[str, ...]) -> None:
    for thread in threading.enumerate():
        if thread.name in names:
            thread.join()
