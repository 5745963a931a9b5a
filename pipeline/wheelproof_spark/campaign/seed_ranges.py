"""Sets of seeds as ranges with both ends included: compact for any number of seeds."""

import argparse
import re
from collections.abc import Iterable, Iterator, Sequence

Range = tuple[int, int]

_FORM = re.compile(r"(\d+)\.\.(\d+)")
_LARGEST = 2**63 - 1


def seed_range(text: str) -> Range:
    """Return the range that A..B names; for argparse's `type`."""
    found = _FORM.fullmatch(text)
    first, last = map(int, found.groups()) if found else (1, 0)
    if not first <= last <= _LARGEST:
        raise argparse.ArgumentTypeError(f"{text!r} is no range of seeds; write it as 0..999")
    return first, last


def size(ranges: Iterable[Range]) -> int:
    """Return the number of seeds."""
    return sum(last - first + 1 for first, last in ranges)


def joined(ranges: Iterable[Range]) -> list[Range]:
    """Return the same seeds as sorted ranges that do not touch."""
    made: list[Range] = []
    for first, last in sorted(ranges):
        if made and first <= made[-1][1] + 1:
            made[-1] = made[-1][0], max(made[-1][1], last)
        else:
            made.append((first, last))
    return made


def missing(asked: Range, done: Sequence[Range]) -> Iterator[Range]:
    """Yield the parts of `asked` that are not in `done`, which is sorted."""
    start, end = asked
    for first, last in done:
        if last < start:
            continue
        if first > end:
            break
        if start < first:
            yield start, first - 1
        start = last + 1
    if start <= end:
        yield start, end
