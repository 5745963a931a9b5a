"""Splits: every line is read exactly once, whatever is in a file and wherever it is cut."""

import gzip
import random
import tracemalloc
import zlib
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest
from zstandard import ZstdCompressor

from support import seeds
from wheelproof_spark.check.reading.splits import (
    MOST_KEPT,
    PlacedLine,
    Split,
    lines_in,
    placed_lines,
)
from wheelproof_spec.history.line_parser import LINE_LIMIT

pytestmark = pytest.mark.slow


def _read(path: Path, *cuts: int) -> list[PlacedLine]:
    edges = [0, *cuts, max(path.stat().st_size, 1)]
    return [
        line
        for start, end in pairwise(edges)
        for line in placed_lines(Split(file_id=0, path=str(path), start=start, end=end))
    ]


def _file(folder: Path, content: bytes) -> Path:
    path = folder / "lines.jsonl"
    path.write_bytes(content)
    return path


def _content(chance: random.Random) -> bytes:
    lines = (bytes(chance.randrange(97, 123) for _ in range(chance.randrange(9))) for _ in "x" * 30)
    return b"\n".join(lines) + (b"\n" if chance.random() < 0.7 else b"cut")


@pytest.mark.campaign
@pytest.mark.parametrize("seed", range(30))
def test_splits_share_the_lines(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seeds.seed(0) + seed)
    content = _content(chance)
    path = _file(tmp_path, content)
    whole = _read(path)
    for size in (1, 2, 3, 7, 50):
        assert _read(path, *range(size, len(content), size)) == whole
    assert [line.raw for line in whole if line.problem is None] == content.split(b"\n")[:-1]
    for line in whole:
        assert content[line.offset : line.offset + len(line.raw)] == line.raw
    assert [line for line in whole if line.problem] == (
        [] if content.endswith(b"\n") else whole[-1:]
    )


@pytest.mark.parametrize("pack", [gzip.compress, ZstdCompressor().compress], ids=["gzip", "zstd"])
def test_packed_files_are_read_as_a_whole(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    content = _content(random.Random(1)) + b"\n"
    two_frames = pack(content) + pack(content)
    lines = _read(_file(tmp_path, two_frames))
    assert [line.raw for line in lines] == (content + content).split(b"\n")[:-1]
    assert lines[-1].offset == 2 * len(content) - len(lines[-1].raw) - 1


@pytest.mark.parametrize("pack", [gzip.compress, ZstdCompressor().compress], ids=["gzip", "zstd"])
def test_a_packed_file_that_is_cut_off_says_so(
    tmp_path: Path, pack: Callable[[bytes], bytes]
) -> None:
    chance = random.Random(2)
    content = b"".join(b"%d\n" % chance.getrandbits(60) for _ in range(60_000))
    packed = pack(content)
    for cut in (len(packed) // 2, len(packed) - 1):
        lines = _read(_file(tmp_path, packed[:cut]))
        assert lines[-1].problem is not None
        assert "cannot be unpacked" in lines[-1].problem
        good = [line.raw for line in lines if line.problem is None]
        assert content.split(b"\n")[: len(good)] == good
        if packed.startswith(b"\x1f\x8b"):
            # Nothing that could be unpacked is lost.
            there = zlib.decompressobj(wbits=31).decompress(packed[:cut])
            assert good == there.split(b"\n")[:-1]


def test_a_damaged_frame_ends_the_file(tmp_path: Path) -> None:
    content = bytearray(ZstdCompressor().compress(b"x" * 10 + b"\n"))
    content[5] ^= 0xFF
    assert _read(_file(tmp_path, bytes(content)))[-1].problem is not None


def test_a_line_that_is_too_long_is_kept_in_part(tmp_path: Path) -> None:
    path = _file(tmp_path, b"a\n" + b"x" * (3 * LINE_LIMIT) + b"\nb\n")
    first, long, last = _read(path, LINE_LIMIT, 2 * LINE_LIMIT)
    assert (first.raw, last.raw, last.offset) == (b"a", b"b", 3 * LINE_LIMIT + 3)
    assert (long.offset, len(long.raw)) == (2, MOST_KEPT)
    assert "has more than" in str(long.problem)


def test_what_cannot_be_read_is_one_line_with_the_reason(tmp_path: Path) -> None:
    missing = Split(file_id=0, path=str(tmp_path / "gone"), start=0, end=9)
    assert "cannot be read" in str(next(iter(placed_lines(missing))).problem)
    (archive,) = _read(_file(tmp_path, b"PK\x03\x04rest"))
    assert "zip archive" in str(archive.problem)


def test_what_unpacks_without_end_is_given_up(tmp_path: Path) -> None:
    bomb = gzip.compress((b"x" * 1_023 + b"\n") * 80_000)
    lines = _read(_file(tmp_path, bomb))
    assert "bytes came out of it" in str(lines[-1].problem)
    assert len(lines) < 80_000


def test_a_line_that_never_ends_is_read_once_and_never_kept(tmp_path: Path) -> None:
    path, size, step = tmp_path / "sparse.jsonl", 1 << 27, 32 << 20
    with path.open("wb") as sparse:
        sparse.truncate(size)
    tracemalloc.start()
    try:
        (line,) = _read(path, *range(step, size, step))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert "has more than" in str(line.problem)
    assert peak < 8 * LINE_LIMIT


def test_a_split_inside_of_a_long_line_reads_no_further(tmp_path: Path) -> None:
    path = _file(tmp_path, b"x" * (9 * LINE_LIMIT) + b"\n")
    first = 2 * LINE_LIMIT
    with path.open("rb") as stream:
        inside = Split(file_id=0, path=str(path), start=first, end=first + LINE_LIMIT)
        assert list(lines_in(stream, inside)) == []
        assert stream.tell() <= inside.end + LINE_LIMIT
