"""The lines of one run in their order, with repeated and missing lines."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from wheelproof_spark.check.reading.parsing import BODY
from wheelproof_spec.base.history.lines import TraceEvent

MOST_GAPS = 20
"""The most gaps of a run that are named; the missing lines of all gaps are counted."""

MOST_MISSING = 1 << 32
"""The most missing lines of a run that are counted: a number in a line may be close to 2**63, and
the sum over all runs must be below that."""


class Row(NamedTuple):
    """A good line for the checker: a named tuple, as `PlacedLine` is."""

    rank: int
    seq: int
    thread: str
    file_id: int
    start: int
    line: int
    raw: bytes

    @property
    def place(self) -> tuple[int, int, int]:
        """The place of the line: later places are later in their file."""
        return self.file_id, self.start, self.line

    def same_place(self, other: "Row") -> bool:
        """Tell whether both claim the same place in the run."""
        if self.rank != other.rank:
            return False
        return self.rank != BODY or (self.seq, self.thread) == (other.seq, other.thread)


@dataclass(slots=True)
class RunOrder:
    """The counts and gaps of a run's lines, independent of its checker.

    `expected` is the next number, `last` the last line that was not a repeat.
    """

    lines: int = 0
    duplicates: int = 0
    missing: int = 0
    expected: int = 0
    gaps: list[dict[str, int]] = field(default_factory=list[dict[str, int]])
    files: set[int] = field(default_factory=set[int])
    last: Row | None = None

    def repeated(self, row: Row) -> Row | None:
        """Return the previous line if it claims the same place, and count `row` as a repeat."""
        last = self.last
        if last is None or not row.same_place(last):
            return None
        self.lines += 1
        self.files.add(row.file_id)
        self.duplicates += row.raw == last.raw
        return last

    def take(self, row: Row) -> None:
        """Count a line that is not a repeat."""
        self.lines += 1
        if self.last is None or row.file_id != self.last.file_id:
            self.files.add(row.file_id)
        self.last = row

    def reach(self, number: int) -> str | None:
        """Take the next number; return the problem if numbers before it are missing."""
        first, last = self.expected, number - 1
        self.expected = max(first, number + 1)
        if last < first:
            return None
        self.missing = min(self.missing + last - first + 1, MOST_MISSING)
        if len(self.gaps) < MOST_GAPS:
            self.gaps.append({"first": first, "last": last})
        numbers = f"number {first:,}" if first == last else f"numbers {first:,} to {last:,}"
        return f"lacks the {numbers}"

    def columns(self) -> dict[str, object]:
        """Return the counts as columns of the result."""
        return {
            "lines": self.lines,
            "duplicates": self.duplicates,
            "missing": self.missing,
            "gaps": self.gaps,
            "files": len(self.files),
        }


Unnumbered = tuple[Row, TraceEvent[object, object]]
"""An event of a trace without seq, and its line."""


def in_order(kept: Sequence[Unnumbered]) -> Sequence[Unnumbered]:
    """Return events in the order of their lines, as `check` sees them.

    If this order breaks a thread's own order, return the events in the order of arrival.
    """
    by_place = sorted(kept, key=lambda event: event[0].place)
    following: dict[str, int] = {}
    for _, event in by_place:
        if event.tseq < following.get(event.thread, 0):
            return kept
        following[event.thread] = event.tseq + 1
    return by_place
