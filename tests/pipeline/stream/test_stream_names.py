"""Files that Java does not see, or not by their names: `stream` judges what `check` judges."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from support.pipeline.pipeline_tables import committed
from support.pipeline.recorded_fleet import chance_lines
from support.pipeline.streamed_folder import StreamedFolder, adds_up, verdicts
from wheelproof_spec.base.errors import UsageError
from wheelproof_spec.base.results.verdicts import ExitCode

pytestmark = pytest.mark.slow

_QUICK_START = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
_NAMES = ("ünï.jsonl".encode(), "日本.jsonl".encode(), b"\xff.jsonl", b"\\xff.jsonl", b"ok.jsonl")


def test_no_name_is_lost_in_a_small_locale(tmp_path: Path) -> None:
    source, output = tmp_path / "in", tmp_path / "out"
    source.mkdir()
    for number, name in enumerate(_NAMES):
        path = Path(os.fsdecode(os.fsencode(source) + b"/" + name))
        path.write_bytes(b"".join(chance_lines(2, f"run-{number}")))
    os.mkfifo(source / "pipe")
    (source / "dead").symlink_to("nowhere")
    words = ("--input", source, "--output", output, "--available-now", "--close")
    workers = ("--master", "local[1]", "--partitions", "1")
    done = subprocess.run(
        [sys.executable, "-m", "wheelproof_spec", "pipeline", "stream", *words, *workers],
        env={**os.environ, "LC_ALL": "C", "JAVA_TOOL_OPTIONS": _QUICK_START},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == ExitCode.INPUT_REJECTED, done.stderr
    judged = committed(source, output)
    adds_up(judged)
    assert {row["path"] for row in judged.table("files")} == {
        *("ünï.jsonl", "日本.jsonl", "\\xff.jsonl", "\\\\xff.jsonl", "ok.jsonl", "pipe", "dead")
    }
    assert verdicts(judged) == {f"run-{number}": ("pass", None) for number in range(5)}
    counts = judged.manifest.counts
    assert (counts.files, counts.quarantined) == (7, 2)


def test_what_becomes_a_file_is_read(spark: SparkSession, tmp_path: Path) -> None:
    del spark
    folder = StreamedFolder(tmp_path / "in [1] {a,b}", tmp_path / "out")
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
