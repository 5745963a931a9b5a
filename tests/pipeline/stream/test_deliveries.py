"""Whatever happens to files: batch, stream and `check` say the same at every step.

WHEELPROOF_DELIVERIES=A..B says which seeds the long test takes, 1..10 by default: a seed is one
sequence. What fails prints the seed, what was done, and the line that repeats it alone.
"""

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from support import seeds
from support.pipeline.deliveries import STEPS, Deliveries, Lines, Said, said, told
from support.pipeline.pipeline_tables import Judged, run
from support.pipeline.recorded_fleet import chance_lines
from support.pipeline.streamed_folder import StreamedFolder
from wheelproof_spark.campaign.seed_ranges import seed_range

_SEEDS = "WHEELPROOF_DELIVERIES"
_TOLD = 10**15
"""The seed of the first case that is not by chance."""
_LATE = 100
_SPLIT = 3_000
"""Many runs cross a piece of a file of so many bytes."""


def _agrees(folder: Path, sequences: Sequence[Deliveries], steps: int) -> Judged:
    source, nothing = folder / "in", Counter[Said]()
    source.mkdir()
    stream = StreamedFolder(folder / "arriving", folder / "streamed")
    streamed: Judged | None = None
    # A sequence by itself may have no file at first or at last, and an empty folder is refused.
    (source / "always").write_bytes(b"no line\n")
    stream.arrive([b"no line\n"], "always")
    for step in range(steps):
        last = step == steps - 1
        for sequence in sequences:
            sequence.step(source, stream)
        judged = told(run(source, folder / "out", split_bytes=_SPLIT).table("verdicts"))
        streamed = stream.judge(late=_LATE, closing=last, split_bytes=_SPLIT)
        given = told(streamed.table("runs"))
        for sequence in sequences:
            seed = sequence.seed
            done = f"{' '.join(sequence.done)}; {_SEEDS}={seed}..{seed} pytest -m long {__file__}"
            assert judged.get(seed, nothing) == said(sequence.files.values()), done
            expected, found = said(sequence.arrived), given.get(seed, nothing)
            assert found <= expected, done
            assert not last or found == expected, done
        assert streamed.manifest.counts.late == 0
    assert streamed is not None
    assert streamed.manifest.counts.repeated > 0
    return streamed


class _Told(Deliveries):
    """A sequence that is not by chance: the files of each step."""

    def __init__(self, seed: int, steps: Sequence[Sequence[Lines]]) -> None:
        super().__init__(seed)
        self._steps = list(steps)

    def step(self, folder: Path, stream: StreamedFolder) -> None:
        for lines in self._steps.pop(0) if self._steps else ():
            self.write(folder, stream, lines)


def _cases() -> Iterator[tuple[str, Sequence[Sequence[slice | Lines]], Sequence[str]]]:
    """Yield what is delivered in each step of lines of one run, and the verdicts in the end."""
    whole, first, second, no_header = slice(None), slice(4), slice(4, None), slice(2, 3)
    other = tuple(chance_lines(7, "SEED-run"))
    yield "twice", ([whole], [whole]), ["pass"]
    yield "a line after the verdict", ([whole], [no_header]), ["pass"]
    yield "a line before the run", ([no_header], [whole]), ["pass"]
    yield "another run of that name", ([whole], [other]), ["pass", "fail"]
    yield "a piece twice", ([first], [first], [second]), ["pass"]
    yield "in pieces after the verdict", ([whole], [first, second]), ["pass"]
    yield "whole after its pieces", ([first], [second], [whole]), ["pass"]
    yield "cut off after the verdict", ([whole], [first]), ["pass", "inconclusive"]
    yield "a strange line before the run", ([other[3:4]], [whole]), ["error", "pass"]
    same = tuple(chance_lines(5, "SEED-run"))
    hidden = (*same[:2], same[1], *same[3:])
    yield "a line twice and another one later", ([hidden], [no_header]), ["pass"]
    yield "a header after a repeat", ([whole], [no_header], [slice(1)]), ["error", "pass"]
    yield "without its end", ([slice(-1)],), ["inconclusive"]


def _lines(of_run: Lines, what: slice | Lines, seed: int) -> Lines:
    if isinstance(what, tuple):
        return tuple(line.replace(b"SEED", b"%d" % seed) for line in what)
    return of_run[what]


def _told_cases() -> tuple[list[Deliveries], Mapping[int, Sequence[str]]]:
    """Return the sequences of the cases, and the verdicts in the end by their seeds."""
    expected: dict[int, Sequence[str]] = {}
    sequences: list[Deliveries] = []
    for seed, (_, steps, verdicts) in enumerate(_cases(), start=_TOLD):
        run_of = tuple(chance_lines(5, f"{seed}-run"))
        expected[seed] = sorted(verdicts)
        sequences.append(_Told(seed, [[_lines(run_of, what, seed) for what in it] for it in steps]))
    return sequences, expected


@pytest.mark.campaign
@pytest.mark.long
def test_any_sequence_of_deliveries_has_the_verdicts_of_check(
    spark: SparkSession, tmp_path: Path
) -> None:
    del spark
    fixed = seeds.seed(1)
    first, last = seed_range(os.environ.get(_SEEDS, f"{fixed}..{fixed + 9}"))
    cases, expected = _told_cases()
    by_chance = [Deliveries(seed) for seed in range(first, last + 1)]
    steps = seeds.runs(STEPS // 2, hunted=STEPS)
    streamed = _agrees(tmp_path, [*by_chance, *cases], steps)
    rows = [row for row in streamed.table("runs") if int(str(row["run"]).split("-")[0]) >= _TOLD]
    found = {
        seed: sorted(str(verdict) for _, verdict, *_ in runs.elements())
        for seed, runs in told(rows).items()
    }
    assert found == expected
    # Of the strange line, and of the run that begins with a header later, no end came either.
    assert sum(row["cut_off"] is True for row in rows) == 4
