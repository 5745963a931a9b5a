"""Lines that come as Parquet: the same lines, or one line with the reason."""

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

from support.pipeline.recorded_fleet import chance_lines
from wheelproof_spark.check.reading.splits import PlacedLine, Split, placed_lines
from wheelproof_spec.history.line_parser import LINE_LIMIT


def _write(path: Path, lines: Sequence[object], kind: pa.DataType, name: str = "line") -> Path:
    schema = pa.schema([(name, kind)])
    table = pa.Table.from_arrays([pa.array(lines, kind)], schema=schema)
    parquet.write_table(table, path, row_group_size=100)
    return path


def _read(path: Path) -> list[PlacedLine]:
    return list(placed_lines(Split(file_id=0, path=str(path), start=0, end=1)))


@pytest.mark.parametrize(
    "kind",
    [
        *(pa.binary(), pa.string(), pa.large_binary(), pa.large_string()),
        *(pa.dictionary(pa.int32(), pa.string()), pa.string_view(), pa.binary_view()),
    ],
    ids=str,
)
def test_a_row_is_a_line(tmp_path: Path, kind: pa.DataType) -> None:
    lines = [line[:-1] for seed in range(30) for line in chance_lines(seed, f"h{seed}")]
    values = [line.decode() for line in lines] if "string" in str(kind) else lines
    found = _read(_write(tmp_path / "a.parquet", values, kind))
    assert found == [PlacedLine(row, line, None) for row, line in enumerate(lines)]


def test_rows_that_are_no_lines_are_named(tmp_path: Path) -> None:
    rows = [b"good", None, b"two\nlines", b"x" * (LINE_LIMIT + 1), b""]
    found = _read(_write(tmp_path / "a.parquet", rows, pa.binary()))
    assert [line.problem for line in found] == [
        None,
        "is null",
        "has a line end inside",
        f"has more than {LINE_LIMIT:,} bytes",
        None,
    ]


@pytest.mark.parametrize(
    ("name", "kind", "value"), [("other", pa.binary(), b"x"), ("line", pa.int64(), 1)]
)
def test_another_schema_is_one_line_with_the_reason(
    tmp_path: Path, name: str, kind: pa.DataType, value: object
) -> None:
    (line,) = _read(_write(tmp_path / "a.parquet", [value], kind, name))
    assert f"it has {name} {kind}" in str(line.problem)


def test_two_columns_are_another_schema(tmp_path: Path) -> None:
    column = pa.array([b"x"], pa.binary())
    schema = pa.schema([("line", pa.binary()), ("more", pa.binary())])
    path = tmp_path / "a.parquet"
    parquet.write_table(pa.Table.from_arrays([column, column], schema=schema), path)
    (line,) = _read(path)
    assert "it has line binary, more binary" in str(line.problem)


def test_a_damaged_file_says_so(tmp_path: Path) -> None:
    whole = _write(tmp_path / "a.parquet", [b"%d" % n for n in range(500)], pa.binary())
    content = whole.read_bytes()
    cut = tmp_path / "cut.parquet"
    cut.write_bytes(content[:-20])
    (line,) = _read(cut)
    assert "cannot be read as Parquet" in str(line.problem)


def test_what_unpacks_to_too_much_is_not_unpacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("wheelproof_spark.check.reading.parquet_lines.MOST_CHUNK_BYTES", 1_000)
    path = _write(tmp_path / "a.parquet", [b"%0900d" % n for n in range(9)], pa.binary())
    (line,) = _read(path)
    assert "row group 0 has more than 1,000 bytes" in str(line.problem)
