"""The lines of one run in their order: which are repeated, and which are missing."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from wheelproof_spark.check.reading.parsing import BODY
from wheelproof_spec.base.history.lines import TraceEvent

MOST_GAPS = 20
"""How many gaps of a run are named; their sizes are summed."""

MOST_MISSING = 1 << 32
"""How many missing lines of a run are counted: a number in a line may be close to 2**63, and the
sum over all runs of a fleet has to be below that."""


class Row(NamedTuple):
    """A good line on its way to the checker: a named tuple, as `PlacedLine` is."""

    rank: int
    seq: int
    thread: str
    file_id: int
    start: int
    line: int
    raw: bytes

    @property
    def place(self) -> tuple[int, int, int]:
        """Where the line is: later places are later in their file."""
        return self.file_id, self.start, self.line

    def same_place(self, other: "Row") -> bool:
        """Tell whether both claim the same place in the run."""
        if self.rank != other.rank:
            return False
        return self.rank != BODY or (self.seq, self.thread) == (other.seq, other.thread)


@dataclass(slots=True)
class RunOrder:
    """What is known of the lines of a run, whatever its checker says.

    `expected` is the next number, `last` the last line that was no duplicate.
    """

    lines: int = 0
    duplicates: int = 0
    missing: int = 0
    expected: int = 0
    gaps: list[dict[str, int]] = field(default_factory=list[dict[str, int]])
    files: set[int] = field(default_factory=set[int])
    last: Row | None = None

    def repeated(self, row: Row) -> Row | None:
        """Return the line before it if that claims the same place, and count it as a repeat."""
        last = self.last
        if last is None or not row.same_place(last):
            return None
        self.lines += 1
        self.files.add(row.file_id)
        self.duplicates += row.raw == last.raw
        return last

    def take(self, row: Row) -> None:
        """Count a line that is there for the first time."""
        self.lines += 1
        if self.last is None or row.file_id != self.last.file_id:
            self.files.add(row.file_id)
        self.last = row

    def reach(self, number: int) -> str | None:
        """Take the next number; return what is wrong if others are missing before it."""
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
        """Return the columns of the result that say this."""
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
    """Return events in the order of their lines, in which `check` sees them.

    If a thread's own events are not in order then, they stay in the order in which they came.
    """
    by_place = sorted(kept, key=lambda event: event[0].place)
    following: dict[str, int] = {}
    for _, event in by_place:
        if event.tseq < following.get(event.thread, 0):
            return kept
        following[event.thread] = event.tseq + 1
    return by_place
