"""A part of the page of performance: what is claimed, what was measured, and what follows."""

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """`claim` is what the literature says; `notes` are what the figures say to it."""

    title: str
    claim: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = field(default=())

    def markdown(self) -> str:
        """Return the section as Markdown."""
        lines = [f"## {self.title}", "", self.claim, "", _row(self.head)]
        lines.append(_row(["---"] + ["---:"] * (len(self.head) - 1)))
        lines += [_row(row) for row in self.rows]
        lines += [part for note in self.notes for part in ("", note)]
        return "\n".join(lines) + "\n"


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def medians(rounds: int, *measures: Callable[[], float]) -> list[float]:
    """Return the median of each measure; they take turns, so that all meet the same machine."""
    taken = [[measure() for measure in measures] for _ in range(rounds)]
    return [statistics.median(column) for column in zip(*taken, strict=True)]


def times(ratio: float) -> str:
    """Return a ratio as it is shown."""
    return f"{ratio:.2f}" if ratio < 10 else f"{ratio:,.0f}"
