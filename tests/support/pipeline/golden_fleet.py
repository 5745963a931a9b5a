"""A fixed fleet with everything that can be wrong with an input, and the gold tables it makes.

`python -m support.pipeline.golden_fleet OUTPUT`, run in `tests`, writes the tables of an output in
the form in which they are checked in. Look at what has changed before it replaces them.
"""

import gzip
import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as parquet
from zstandard import ZstdCompressor

from support.pipeline.pipeline_tables import Judged, committed, rows_of
from support.pipeline.recorded_fleet import chance_lines, trace_lines
from wheelproof_spark.check.gold import TABLES
from wheelproof_spec.history.line_parser import LINE_LIMIT

GOLDEN = Path(__file__).with_name("golden_tables.json")
_VECTORS = Path(__file__).resolve().parents[3] / "vectors" / "timer-corners.jsonl"
_GIB = 1 << 30
_SEED = 5
_OTHER_SEED = 7
"""A history of a timer that passes; every case that is judged repeats it under another name."""


def run_of(name: str, seed: int = _SEED) -> list[bytes]:
    """Return the lines of a history."""
    return chance_lines(seed, name)


def write_fleet(folder: Path) -> Path:
    """Write the fleet; the files are the same each time."""
    folder.mkdir()
    files: dict[str, Sequence[bytes]] = {
        **_whole(),
        **_spoiled_lines(),
        **_spoiled_files(),
        **_spoiled_runs(),
    }
    for name, lines in files.items():
        (folder / name).write_bytes(b"".join(lines))
    schema = pa.schema([("line", pa.binary())])
    rows = pa.array([line[:-1] for line in run_of("parquet")], pa.binary())
    table = pa.Table.from_arrays([rows], schema=schema)
    parquet.write_table(table, folder / "whole.parquet", row_group_size=5)
    _write_places(folder)
    return folder


def _whole() -> Mapping[str, Sequence[bytes]]:
    packed = gzip.compress(b"".join(run_of("packed")), mtime=0)
    histories = [line for seed in range(12) for line in run_of(f"chance-{seed}", seed)]
    return {
        "chance.jsonl": histories,
        "packed.gz": [packed],
        "trace.jsonl": [*trace_lines("trace"), *trace_lines("wrong", spoiled=True)],
        "trace.zst": [ZstdCompressor().compress(b"".join(trace_lines("open", numbered=False)))],
    }


def _spoiled_lines() -> Mapping[str, Sequence[bytes]]:
    utf8, old = run_of("utf8"), run_of("old")
    return {
        "utf8.jsonl": [utf8[0], utf8[1].replace(b'"p"', b'"\xff"'), *utf8[2:]],
        "long.jsonl": [*run_of("long"), b"x" * (LINE_LIMIT + 5) + b"\n"],
        "versions.jsonl": [
            *run_of("new"),
            old[0].replace(b"history/1", b"history/0"),
            *old[1:],
            trace_lines("later")[0].replace(b"trace/1", b"trace/9"),
        ],
        "vector.jsonl": [_VECTORS.read_bytes().splitlines(keepends=True)[0]],
    }


def _spoiled_files() -> Mapping[str, Sequence[bytes]]:
    many = b"".join(b"".join(run_of(f"torn-{number}")) for number in range(3))
    torn = gzip.compress(many, mtime=0)
    # A gigabyte of one byte, as members of one gzip file.
    member = gzip.compress(bytes(_GIB // 64), mtime=0)
    return {
        "empty.jsonl": [],
        "cut.jsonl": [*run_of("cut"), b'{"kind"'],
        "cut.gz": [torn[: len(torn) // 2]],
        "bomb.gz": [member] * 64,
        "archive.zip": [b"PK\x03\x04rest"],
        "cut.parquet": [b"PAR1rest"],
    }


def _spoiled_runs() -> Mapping[str, Sequence[bytes]]:
    twice, gap, half, back = run_of("twice"), run_of("gap"), run_of("half"), run_of("back")
    return {
        "twice.jsonl": [*twice[:4], twice[2], *twice[4:]],
        "gap.jsonl": [*gap[:3], *gap[5:]],
        "half-1.jsonl": half[:5],
        "half-2.jsonl": half[5:],
        "same-1.jsonl": run_of("same"),
        "same-2.jsonl": run_of("same", _OTHER_SEED),
        "both.jsonl": [*run_of("both"), *run_of("both", _OTHER_SEED)],
        "back.jsonl": _clock_goes_back(back),
        "headless.jsonl": run_of("headless")[1:],
        "endless.jsonl": [*trace_lines("endless")[:-1]],
    }


def _clock_goes_back(lines: Sequence[bytes]) -> list[bytes]:
    header, *body = lines
    times = (b'"time_ns":%d,"value"' % (1_000_000 * (100 - at)) for at in range(len(body)))
    return [
        header.replace(b'"virtual"', b'"monotonic_ns"'),
        *(line.replace(b'"value"', time, 1) for line, time in zip(body, times, strict=True)),
    ]


def _write_places(folder: Path) -> None:
    """Write what is in a folder and is no file of lines."""
    with (folder / "endless-line.jsonl").open("wb") as sparse:
        sparse.truncate(_GIB)
    os.mkfifo(folder / "pipe.jsonl")
    (folder / "dangling.jsonl").symlink_to("nowhere.jsonl")
    (folder / "circle").symlink_to(folder, target_is_directory=True)
    (folder / "itself.jsonl").symlink_to("itself.jsonl")


def tables_of(judged: Judged) -> dict[str, list[object]]:
    """Return the gold tables in an order of their own, without the version of the judge."""
    found = rows_of(judged, TABLES, without=("judge",))
    return {name: [json.loads(row) for row in rows] for name, rows in found.items()}


def main(output: Path) -> None:
    """Write the tables of an output."""
    judged = committed(Path(), output)
    rows = (
        f"{json.dumps(name)}: [\n" + ",\n".join(json.dumps(row) for row in table) + "\n]"
        for name, table in tables_of(judged).items()
    )
    GOLDEN.write_text("{\n" + ",\n".join(rows) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
