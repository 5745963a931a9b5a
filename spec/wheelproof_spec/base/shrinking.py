"""The search for a smaller case that still fails, whatever a case is.

for case in ever_smaller(case, smaller, failing, within(attempts=1_000)):
    pass
"""

import math
import time
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

CaseT = TypeVar("CaseT")
TriedT = TypeVar("TriedT")
ItemT = TypeVar("ItemT")


def ever_smaller(
    case: CaseT,
    smaller: Callable[[CaseT], Iterable[TriedT]],
    failing: Callable[[TriedT], CaseT | None],
    goes_on: Callable[[], bool],
) -> Iterator[CaseT]:
    """Yield smaller and smaller cases that fail; the last one is the smallest that was found.

    `smaller` yields what to try, the smallest first. The first for which `failing` returns a case
    is the next case. The search ends if there is none, or once `goes_on` returns False, which is
    asked before each try.
    """
    again = True
    while again:
        again = False
        for tried in smaller(case):
            if not goes_on():
                return
            found = failing(tried)
            if found is not None:
                case, again = found, True
                yield case
                break


def within(attempts: int, seconds: float = math.inf) -> Callable[[], bool]:
    """Return a function that returns True so many times at most, and for so many seconds."""
    left, end = iter(range(attempts)), time.monotonic() + seconds
    return lambda: next(left, None) is not None and time.monotonic() < end


def without_chunks(items: tuple[ItemT, ...]) -> Iterator[tuple[ItemT, ...]]:
    """Yield `items` without a half, then a quarter, down to single items; each from the end."""
    size = (len(items) + 1) // 2
    while size:
        for end in range(len(items), 0, -size):
            yield (*items[: max(end - size, 0)], *items[end:])
        size //= 2
