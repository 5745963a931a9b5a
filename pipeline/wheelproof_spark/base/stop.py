"""Ctrl-C and SIGTERM: a stop after the batch, and with the next signal at once."""

import signal
from collections.abc import Callable, Generator
from contextlib import contextmanager
from types import FrameType

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Stop:
    """The requests to stop: `asked` after the first signal, `at_once` after the second one."""

    def __init__(self, notice: Callable[[], None] | None = None) -> None:
        """Store `notice`, which is called at the first signal; None: that one means at once."""
        self.asked = self.at_once = False
        self._notice = notice

    @contextmanager
    def listening(self) -> Generator[None]:
        """Handle the signals during the block; for the main thread only."""
        before = {number: signal.signal(number, self._take) for number in _SIGNALS}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _take(self, number: int, frame: FrameType | None) -> None:
        del number, frame
        # Nothing is raised here: an exception would interrupt a call to Java.
        if self.asked or self._notice is None:
            self.asked = self.at_once = True
            return
        self.asked = True
        self._notice()
