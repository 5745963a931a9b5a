"""Runs whose lines come in any order, over several files: the verdicts of `pipeline check`."""

import gzip
import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from zstandard import ZstdCompressor

from support.pipeline.pipeline_tables import rows_of, run
from support.pipeline.recorded_fleet import (
    chance_lines,
    record_known_bug,
    record_reference,
    trace_lines,
)
from support.pipeline.streamed_folder import StreamedFolder, open_runs, verdicts
from wheelproof_spark.check.gold import TABLES
from wheelproof_spec.base.errors import UsageError

pytestmark = pytest.mark.slow

_FILES = 18


@pytest.fixture
def folder(spark: SparkSession, tmp_path: Path) -> StreamedFolder:
    del spark
    # What Spark takes for a pattern is a name like any other.
    return StreamedFolder(tmp_path / "in [1] {a,b}", tmp_path / "out [1] {a,b}*?")


def _scattered(chance: random.Random) -> Iterator[bytes]:
    """Yield files whose lines belong to runs that begin and end at any time."""
    lines = [
        (begin + chance.random() * 4, line)
        for number in range(60)
        for begin in [chance.randrange(_FILES - 4)]
        for line in chance_lines(number, f"h{number}")
    ]
    lines += [(chance.random() * 4, line) for line in trace_lines("t")]
    lines += [(chance.random() * 4, line) for line in trace_lines("u", numbered=False)]
    # The same lines once more, but never after the verdict on their run.
    lines += [(0, line) for at, line in chance.sample(lines, 20) if at > 2]
    for number in range(_FILES):
        of_file = [line for at, line in lines if int(at) == number]
        chance.shuffle(of_file)
        yield b"".join(of_file)


@pytest.mark.long
def test_any_order_has_the_verdicts_of_check(folder: StreamedFolder, tmp_path: Path) -> None:
    chance = random.Random(5)
    for number, content in enumerate(_scattered(chance)):
        pack = (bytes, gzip.compress, ZstdCompressor().compress)[number % 3]
        folder.arrive(pack(content))
    for seed in range(2):
        path = tmp_path / f"reference-{seed}"
        record_reference(path, 4, seed)
        folder.arrive(path.read_bytes())
    record_known_bug(tmp_path / "bug", 2)
    folder.arrive((tmp_path / "bug").read_bytes())
    cut_off, torn = chance_lines(4, "cut off"), chance_lines(3, "torn")
    folder.arrive([*cut_off[:5], *chance_lines(7, "gap")[:3], *chance_lines(7, "gap")[4:]])
    folder.arrive([torn[0].replace(b"machine", b"\xff"), *torn[1:], b"{"])
    streamed = folder.judge(late=10, closing=True, files=12, split_bytes=2_000)
    assert len(streamed.manifest.batches) == 3
    counts = streamed.manifest.counts
    assert (counts.open, counts.late, counts.quarantined) == (0, 0, 2)
    checked = run(folder.source, tmp_path / "checked")
    left_out = ("batch", "scope")
    assert rows_of(streamed, TABLES, without=left_out) == rows_of(checked, TABLES, without=left_out)
    again = folder.judge(late=10, closing=True)
    assert again.manifest == streamed.manifest


@pytest.mark.long
def test_runs_are_judged_when_they_end(folder: StreamedFolder) -> None:
    whole, halves, gap = chance_lines(2, "whole"), chance_lines(1, "halves"), chance_lines(3, "gap")
    hidden, endless = chance_lines(9, "hidden"), chance_lines(4, "endless")
    folder.arrive([*whole, *reversed(halves[4:]), *gap[:2], *gap[3:], *endless[:5]])
    # As many lines as the run has, but one of them twice.
    folder.arrive([*hidden[:2], *hidden[3:], hidden[1]])
    first = folder.judge()
    assert verdicts(first) == {"whole": ("pass", None)}
    assert open_runs(first) == {"halves", "gap", "hidden", "endless"}

    # What comes at the last moment counts; what comes again after the verdict is a repeat.
    folder.arrive([*halves[:4], hidden[2], whole[2]])
    second = folder.judge(idle=2)
    assert set(verdicts(second, 2)) == {"halves", "gap", "hidden"}
    assert verdicts(second)["gap"] == ("error", "lacks the number 1")
    assert {verdicts(second)[run][1] for run in ("halves", "hidden")} == {None}
    assert open_runs(second) == {"endless"}
    counts = second.manifest.counts
    assert (counts.late, counts.repeated, counts.duplicates) == (0, 1, 1)

    # A name is free for another file that has a header; without one it is that of the last run.
    folder.arrive([*chance_lines(6, "gap")])
    folder.arrive([gap[2]])
    third = folder.judge(idle=2)
    assert [row["batch"] for row in third.table("runs") if row["run"] == "gap"] == [2, 3]
    assert (third.manifest.counts.late, third.manifest.counts.repeated) == (1, 1)
    assert {row["run"] for row in third.table("runs") if row["batch"] == 3} == {"gap", "endless"}

    # Names are forgotten: a line that comes now has no header.
    folder.arrive(b"{}\n")
    folder.arrive([halves[-1], *chance_lines(8, "more")])
    folder.judge(files=1)
    # Neither is an empty file a batch, nor is a file another one by way of a circle of links.
    folder.arrive(b"")
    folder.judge()
    folder.arrive(chance_lines(5, "last"))
    (folder.source / "loop").symlink_to(folder.source)
    fourth = folder.judge()
    assert [batch.files for batch in fourth.manifest.batches] == [2, 1, 2, 1, 1, 1]
    assert [row["problem"] for row in fourth.table("runs") if row["run"] == "halves"] == [
        None,
        "has no header",
    ]


def test_what_becomes_a_file_is_read(folder: StreamedFolder, tmp_path: Path) -> None:
    folder.arrive(chance_lines(2, "one"))
    (folder.source / "link.jsonl").symlink_to(tmp_path / "later")
    (folder.source / "empty.jsonl").write_bytes(b"")
    first = folder.judge()
    assert (first.manifest.counts.files, first.manifest.counts.quarantined) == (2, 1)
    assert folder.judge().manifest == first.manifest
    (tmp_path / "later").write_bytes(b"".join(chance_lines(2, "two")))
    (folder.source / "empty.jsonl").write_bytes(b"".join(chance_lines(2, "three")))
    assert verdicts(folder.judge(), 2).keys() == {"two", "three"}
    # Its own tables are no input, and no batch is begun that has them.
    (folder.source / "link").symlink_to(folder.output / "gold")
    with pytest.raises(UsageError, match="leads to the output"):
        folder.judge()
