"""Ctrl-C and SIGTERM: the first one asks to stop after the batch, the second one stops at once."""

import signal
from collections.abc import Callable, Generator
from contextlib import contextmanager
from types import FrameType

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Stop:
    """Whether somebody has `asked` to stop, and then to stop `at_once`."""

    def __init__(self, notice: Callable[[], None]) -> None:
        """`notice` is called when it is asked for the first time."""
        self.asked = self.at_once = False
        self._notice = notice

    @contextmanager
    def listening(self) -> Generator[None]:
        """Take signals, in the main thread."""
        before = {number: signal.signal(number, self._take) for number in _SIGNALS}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _take(self, number: int, frame: FrameType | None) -> None:
        del number, frame
        # Nothing is raised: it would cut off whatever is being said to Java.
        if self.asked:
            self.at_once = True
            return
        self.asked = True
        self._notice()
