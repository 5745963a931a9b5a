"""What is new in a folder: files that have grown, have changed, or have strange names."""

import os
from pathlib import Path

import pytest

from wheelproof_spark.base.options import folder
from wheelproof_spark.check.inputs import plan
from wheelproof_spark.check.reading.splits import placed_lines
from wheelproof_spark.tables.manifest import Manifest

_LINES = [b"%06d\n" % number for number in range(3_000)]


def _planned(place: Path, manifest: Manifest) -> tuple[list[int], int]:
    """Return where its splits begin, and how many files are void; the manifest goes on."""
    work = plan(place, manifest, len(manifest.files) + 1)
    manifest.files = work.files
    return [split.start for split in work.splits], len(work.withdrawn)


@pytest.mark.parametrize("changed", [None, 0, 1_500, 2_999])
def test_a_file_has_grown_only_if_nothing_before_has_changed(
    tmp_path: Path, changed: int | None
) -> None:
    path, manifest = tmp_path / "a.jsonl", Manifest(profile=None, max_states=1)
    path.write_bytes(b"".join(_LINES))
    assert _planned(tmp_path, manifest) == ([0], 0)
    lines = [*_LINES, b"more\n"]
    if changed is not None:
        lines[changed] = b"other!\n"
    path.write_bytes(b"".join(lines))
    grown = ([7 * len(_LINES)], 0)
    assert _planned(tmp_path, manifest) == (grown if changed is None else ([0], 1))


def test_a_name_that_is_no_text_is_read(tmp_path: Path) -> None:
    name = b"caf\xe9.jsonl"
    path = Path(os.fsdecode(os.fsencode(tmp_path) + b"/" + name))
    path.write_bytes(b"one\n")
    work = plan(tmp_path, Manifest(profile=None, max_states=1), 1)
    assert [file.path for file in work.files] == ["caf\\xe9.jsonl"]
    (split,) = work.splits
    split.path.encode()
    assert [line.raw for line in placed_lines(split)] == [b"one"]


@pytest.mark.parametrize("text", ["s3a://bucket/out", "hdfs://host/a", "file:/a/b"])
def test_an_address_is_no_folder(text: str) -> None:
    with pytest.raises(Exception, match="is an address"):
        folder(text)
