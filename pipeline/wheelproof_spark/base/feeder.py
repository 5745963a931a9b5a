"""The one feeder of `check` and `stream`: files are listed, and taken batch by batch.

Ctrl-C or SIGTERM ends it after the batch, and the next signal at once.
"""

import signal
import time
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType

from wheelproof_spark.base.listing import FoundFile

POLL_SECONDS = 1
_SIGNALS = (signal.SIGINT, signal.SIGTERM)

Listing = Callable[[], Sequence[FoundFile]]
"""Lists the files to be taken, in their order."""
Take = Callable[[Sequence[FoundFile]], Callable[[], None] | None]
"""Looks at the files of a batch, and returns what does the batch; None: nothing has to be done."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """The most files of a batch, None: all, and the seconds between two batches.

    None: no pause, and no further batch when all present files are taken.
    """

    files: int | None = None
    seconds: float | None = None


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


def feed(listing: Listing, take: Take, pace: Pace, stop: Stop, cancel: Callable[[], None]) -> None:
    """Do batch after batch, until there are no more files or a stop is requested.

    At a stop at once, `cancel` is called until the batch has ended. Raises the errors of the batch,
    and then KeyboardInterrupt.
    """
    pending, listed = list[FoundFile](), False
    with ThreadPoolExecutor(1) as thread:
        while not stop.asked:
            begun = time.monotonic()
            if not pending:
                if listed and pace.seconds is None:
                    return
                pending, listed = list(listing()), True
            most = pace.files or len(pending)
            some, pending = pending[:most], pending[most:]
            batch = take(some) if some else None
            if batch is not None:
                # In a thread of its own, so that this one can hear the second Ctrl-C.
                _await(thread.submit(batch), stop, cancel)
            if pace.seconds is not None:
                _rest(begun + pace.seconds, stop)
    if stop.at_once:
        raise KeyboardInterrupt


def _await(batch: "Future[None]", stop: Stop, cancel: Callable[[], None]) -> None:
    while not batch.done():
        wait([batch], POLL_SECONDS)
        if stop.at_once:
            cancel()
    if stop.at_once:
        raise KeyboardInterrupt
    batch.result()


def _rest(until: float, stop: Stop) -> None:
    while not stop.asked and (left := until - time.monotonic()) > 0:
        time.sleep(min(left, POLL_SECONDS))
