"""Output for terminals only: the progress of a long run, and verdicts in colour."""

import os
import re
import sys
import time
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from typing import IO, TypeVar

ItemT = TypeVar("ItemT")

FIRST_S = 2.0
"""After how many seconds a run shows its progress."""
_NEXT_S = 0.5
_AT_ONCE = 100
"""The number of items between two reads of the clock."""
_VERDICT = re.compile(
    r"^(?:PASS|FAIL|ERROR|INCONCLUSIVE|REJECTED)\b|(?<=: )(?:pass|fail|error|inconclusive)(?=,)",
    re.MULTILINE,
)
_GREEN, _YELLOW, _RED = 32, 33, 31
_COLOUR = {"pass": _GREEN, "inconclusive": _YELLOW}


class Progress:
    """A progress line on standard error that is overwritten in place, if that is a terminal.

    It appears after `first_s` seconds, to avoid flicker, and disappears when the run ends.
    """

    def __init__(self, *, quiet: bool, first_s: float = FIRST_S) -> None:
        self.shown = not quiet and sys.stderr.isatty()
        self._next = time.monotonic() + first_s

    def tell(self, text: str) -> None:
        """Show the progress of the run."""
        now = time.monotonic()
        if self.shown and now >= self._next:
            self._next = now + _NEXT_S
            print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)

    def counting(self, items: Iterable[ItemT], unit: str) -> Iterator[ItemT]:
        """Yield the items, and show how many there were so far."""
        for number, item in enumerate(items):
            if number % _AT_ONCE == 0:
                self.tell(f"{number:,} {unit}")
            yield item

    def clear(self) -> None:
        """Clear the line, before other output or at the end of the run."""
        if self.shown:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


@contextmanager
def progress(*, quiet: bool, first_s: float = FIRST_S) -> Generator[Progress]:
    """Show the progress of a run inside the block."""
    shown = Progress(quiet=quiet, first_s=first_s)
    try:
        yield shown
    finally:
        shown.clear()


def coloured(text: str, stream: IO[str]) -> str:
    """Return the text with its verdicts in colour, if `stream` is a terminal that has colours.

    NO_COLOR (https://no-color.org) and TERM=dumb turn them off.
    """
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb" or not stream.isatty():
        return text
    return _VERDICT.sub(
        lambda found: f"\x1b[{_COLOUR.get(found[0].lower(), _RED)}m{found[0]}\x1b[0m", text
    )
