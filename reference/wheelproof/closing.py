"""What is closed by one word, and by the end of a `with` block.

A thread that waits in a timer or in a pool waits for ever if nobody closes it, and a reaper goes on
for ever. So whatever has threads, or lets them wait, has `close`, and may stand in a `with` block.

>>> from wheelproof.errors import TimerClosedError
>>> from wheelproof.timer import SystemTimer
>>> with SystemTimer("example") as timer:
...     timer.advance_clock(0)
False
>>> try:
...     timer.advance_clock(0)
... except TimerClosedError as error:
...     print(error)
the timer has been closed; make a new one
"""

from abc import ABC, abstractmethod
from typing import Self


class Closing(ABC):
    """Ends with `close`, which a `with` block calls at its end, also behind an exception."""

    __slots__ = ()

    @abstractmethod
    def close(self) -> None:
        """Stop for good. A second call has no effect."""

    def __enter__(self) -> Self:
        """Return this object; its `with` block closes it."""
        return self

    def __exit__(self, *raised: object) -> None:
        """Close; what the block has raised goes on."""
        self.close()
