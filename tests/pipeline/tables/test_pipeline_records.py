"""What was written is read as it was; what was damaged is refused by its name."""

import json
from dataclasses import asdict
from pathlib import Path

import pytest

from support.pipeline.pipeline_tables import save
from wheelproof_spark.base.listing import FileState
from wheelproof_spark.tables.files import FileEntry, read_files, write_files
from wheelproof_spark.tables.manifest import SCHEMA, BatchRecord, Counts, Manifest, load
from wheelproof_spark.tables.plan import Plan
from wheelproof_spec.base.errors import InputRejectedError

_STATE = FileState(size=9, mtime_ns=8, ctime_ns=7, inode=6)
_FILE = FileEntry(
    file_id=1, path="a.jsonl", state=_STATE, complete=True, tail="t", batches=[1, 2], lines=3
)
_BATCH = BatchRecord(
    number=1,
    files=1,
    bytes=9,
    lines=3,
    judged=1,
    seconds=0.5,
    master="local[*]",
    versions={"python": "3"},
    machine="m",
)
_MANIFEST = Manifest(
    profile=None,
    max_states=5,
    input="in",
    next_file=2,
    batches=[_BATCH],
    counts=Counts(files=1, lines=3),
    tables={"runs": "silver/000001"},
)


def test_a_manifest_is_read_as_it_was_written(tmp_path: Path) -> None:
    save(tmp_path, _MANIFEST)
    assert load(tmp_path) == _MANIFEST


def test_the_files_are_read_as_they_were_written(tmp_path: Path) -> None:
    write_files([_FILE], tmp_path / "files")
    assert read_files(tmp_path / "files") == [_FILE]


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("profile", 3, "'profile' is 3"),
        ("max_states", True, "'max_states' is True"),
        ("max_states", "5", "'max_states' is '5'"),
        ("batches", {}, "'batches' is {}"),
        ("batches", [{"number": 1}], "BatchRecord lacks 'files'"),
        ("batches", [3], "BatchRecord is 3, no object"),
        ("tables", {"runs": None}, "'tables' is None"),
        ("counts", {"line": 1}, "Counts has an unknown 'line'"),
    ],
)
def test_a_manifest_of_other_types_is_refused(
    tmp_path: Path, name: str, value: object, sentence: str
) -> None:
    document = {"schema": SCHEMA, **asdict(_MANIFEST), name: value}
    Plan(tmp_path).commit(1, (), json.dumps(document))
    with pytest.raises(InputRejectedError, match="cannot be read") as refused:
        load(tmp_path)
    assert sentence in str(refused.value)
