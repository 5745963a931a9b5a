"""Tables of figures, and the harness of a benchmark: it measures, prints and writes them."""

import argparse
import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from instruments.machine import Machine
from instruments.stopwatch import garbage_collector
from wheelproof_spec.base.results.reports import write_json


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A table; `claim` is the promise, `notes` compare figures with it, `missed` exits with 1."""

    title: str
    claim: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = field(default=())
    missed: tuple[str, ...] = field(default=())

    def markdown(self) -> str:
        """Return the section as Markdown."""
        lines = [f"## {self.title}", "", self.claim, "", _row(self.head)]
        lines.append(_row(["---"] + ["---:"] * (len(self.head) - 1)))
        lines += [_row(row) for row in self.rows]
        notes = [*self.notes, *(f"Missed: {what}" for what in self.missed)]
        lines += [part for note in notes for part in ("", note)]
        return "\n".join(lines) + "\n"


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def bench_parser(program: str, about: str, seed: str) -> argparse.ArgumentParser:
    """Return the parser of the common options; `seed` names what the seed generates."""
    parser = argparse.ArgumentParser(prog=f"bench/{program}.py", description=about)
    parser.add_argument("--quick", action="store_true", help="tiny sizes: shows that it works")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help=f"seed of the {seed}")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures to FILE")
    return parser


def measure(
    works: Iterable[Callable[[], Section]],
    machine: Machine,
    *,
    seed: int,
    json: Path | None,
    collector: bool = True,
) -> list[Section]:
    """Measure the sections, print each as it comes, and write all of them if asked to."""
    print(f"{machine.cpu}, {machine.cores} cores, {machine.python}, load {machine.load}")
    print(f"processor time of one core unless a table says otherwise; seed {seed}\n", flush=True)
    sections: list[Section] = []
    for work in works:
        with garbage_collector(enabled=collector):
            sections.append(work())
        print(sections[-1].markdown(), flush=True)
    if json is not None:
        document = {"schema": "wheelproof.bench/1", "machine": asdict(machine), "seed": seed}
        write_json(json, {**document, "sections": [asdict(section) for section in sections]})
    return sections


def exit_code(sections: Iterable[Section]) -> int:
    """Return 1 if any section missed a bound, otherwise 0."""
    return int(any(section.missed for section in sections))


def medians(rounds: int, *measures: Callable[[], float]) -> list[float]:
    """Return the median of each measure; they take turns, so all see the same machine load."""
    taken = [[measure() for measure in measures] for _ in range(rounds)]
    return [statistics.median(column) for column in zip(*taken, strict=True)]


def times(ratio: float) -> str:
    """Return a ratio as text."""
    return f"{ratio:.2f}" if ratio < 10 else f"{ratio:,.0f}"
