"""What is new in a folder: files that have grown, have changed, or have strange names."""

import os
from dataclasses import dataclass
from pathlib import Path

import pytest

from wheelproof_spark.base.listing import NO_FILE, FoundFile, LocalFolder, outside
from wheelproof_spark.base.options import Address, folder, runs
from wheelproof_spark.check.inputs import Plan, plan
from wheelproof_spark.check.reading.splits import placed_lines
from wheelproof_spark.tables.files import FileEntry
from wheelproof_spark.tables.manifest import Manifest
from wheelproof_spec.base.errors import UsageError

_LINES = [b"%06d\n" % number for number in range(3_000)]


@pytest.fixture
def source(tmp_path: Path) -> Path:
    place = tmp_path / "in"
    place.mkdir()
    return place


@dataclass(slots=True)
class _Known:
    """What is known of the input after some plans."""

    manifest: Manifest
    files: list[FileEntry]


def _manifest() -> _Known:
    return _Known(Manifest(profile=None, max_states=1), [])


def _plan(source: Path, known: _Known) -> Plan:
    """Return the plan; what is known goes on from it."""
    found, number = LocalFolder(source, source.parent / "out"), len(known.files) + 1
    work = plan(found.files(), found.bring, known.files, known.manifest, number)
    known.files = work.files
    return work


def _planned(source: Path, manifest: _Known) -> tuple[list[int], int]:
    """Return where the splits begin, and how many files are void."""
    work = _plan(source, manifest)
    return [split.start for split in work.splits], len(work.withdrawn)


def _listed(source: Path, output: Path) -> dict[str, FoundFile]:
    found = LocalFolder(source, output).files()
    named = {file.name: file for file in found}
    assert len(named) == len(found)
    return named


def _of_bytes(source: Path, name: bytes) -> Path:
    return Path(os.fsdecode(os.fsencode(source) + b"/" + name))


@pytest.mark.parametrize("changed", [None, 0, 1_500, 2_999])
def test_a_file_has_grown_only_if_nothing_before_has_changed(
    source: Path, changed: int | None
) -> None:
    path, manifest = source / "a.jsonl", _manifest()
    path.write_bytes(b"".join(_LINES))
    assert _planned(source, manifest) == ([0], 0)
    lines = [*_LINES, b"more\n"]
    if changed is not None:
        lines[changed] = b"other!\n"
    path.write_bytes(b"".join(lines))
    grown = ([7 * len(_LINES)], 0)
    assert _planned(source, manifest) == (grown if changed is None else ([0], 1))


@pytest.mark.parametrize("repeats", [1, 100])
def test_a_change_that_keeps_size_and_time_is_seen(source: Path, repeats: int) -> None:
    path, manifest = source / "a.jsonl", _manifest()
    content = b"".join(_LINES * repeats)
    path.write_bytes(content)
    before = path.stat()
    assert _planned(source, manifest)[1] == 0
    # A byte between the samples of a large file, too.
    at = len(content) // 2 + 5
    path.write_bytes(content[:at] + b"x" + content[at + 1 :])
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert (path.stat().st_size, path.stat().st_mtime_ns) == (before.st_size, before.st_mtime_ns)
    assert _planned(source, manifest)[1] == 1


def test_a_small_file_with_the_same_bytes_is_not_read_again(source: Path) -> None:
    path, manifest = source / "a.jsonl", _manifest()
    path.write_bytes(b"".join(_LINES))
    assert _planned(source, manifest) == ([0], 0)
    path.rename(source / ".b")
    path.write_bytes((source / ".b").read_bytes())
    os.utime(path, (1, 1))
    assert _plan(source, manifest).empty


def test_a_name_that_is_no_text_is_read(source: Path) -> None:
    _of_bytes(source, b"caf\xe9.jsonl").write_bytes(b"one\n")
    work = _plan(source, _manifest())
    assert [file.path for file in work.files] == ["caf\\xe9.jsonl"]
    (split,) = work.splits
    split.path.encode()
    assert [line.raw for line in placed_lines(split)] == [b"one"]


def test_no_two_files_have_one_name(source: Path) -> None:
    # The byte, what it is escaped as, and what that is escaped as.
    names = (b"\xff", b"\\xff", b"\\\\xff", b"\\\xff", b"\\", b"\\\\")
    for name in names:
        _of_bytes(source, name).write_bytes(name)
    manifest = _manifest()
    assert len({file.path for file in _plan(source, manifest).files}) == len(names)
    assert _plan(source, manifest).empty


def test_what_is_no_file_is_listed(source: Path, tmp_path: Path) -> None:
    os.mkfifo(source / "pipe")
    (source / "dead").symlink_to("nowhere")
    (source / "round").symlink_to("round")
    (source / "loop").symlink_to(source)
    (source / ".hidden").write_bytes(b"")
    (source / "empty").write_bytes(b"")
    found = _listed(source, tmp_path / "out")
    assert {name for name, file in found.items() if file.state == NO_FILE} == {
        "pipe",
        "dead",
        "round",
    }
    assert found.keys() == {"pipe", "dead", "round", "empty"}


def test_a_new_link_to_a_folder_renames_no_file(source: Path, tmp_path: Path) -> None:
    (source / "m" / "n").mkdir(parents=True)
    (source / "m" / "n" / "a").write_bytes(b"one\n")
    assert _listed(source, tmp_path / "out").keys() == {"m/n/a"}
    (source / "a").symlink_to(source / "m" / "n")
    (source / "m" / "b").symlink_to(source / "m")
    assert _listed(source, tmp_path / "out").keys() == {"m/n/a"}


@pytest.mark.parametrize("target", ["out", "out/gold", "out/gold/deep", "out/plan", "."])
def test_an_output_is_reached_by_no_link(source: Path, tmp_path: Path, target: str) -> None:
    output = tmp_path / "out"
    (output / "gold" / "deep").mkdir(parents=True)
    (output / "plan").write_bytes(b"{}")
    (source / "deep").mkdir()
    (source / "deep" / "link").symlink_to(tmp_path / target)
    with pytest.raises(UsageError, match="leads to the output"):
        LocalFolder(source, output).files()
    # What is beside the output is no part of it, though its name begins like that.
    (source / "deep" / "link").unlink()
    (tmp_path / "outer").mkdir()
    (source / "deep" / "link").symlink_to(tmp_path / "outer")
    (tmp_path / "outer" / "a").write_bytes(b"one\n")
    assert _listed(source, output).keys() == {"deep/link/a"}


def test_a_file_of_the_output_by_another_name_is_refused(source: Path, tmp_path: Path) -> None:
    output = tmp_path / "out"
    output.mkdir()
    (output / "plan").write_bytes(b"{}")
    (source / "hard.json").hardlink_to(output / "plan")
    with pytest.raises(UsageError, match=r"hard\.json leads to the output"):
        LocalFolder(source, output).files()


def test_a_file_is_brought_as_it_is_by_then(source: Path, tmp_path: Path) -> None:
    here = LocalFolder(source, tmp_path / "out")
    for name in ("goes", "grows", "stays"):
        (source / name).write_bytes(b"one\n")
    goes, grows, stays = here.files()
    (source / "goes").unlink()
    (source / "grows").write_bytes(b"one\ntwo\n")
    brought = here.bring(grows)
    assert brought is not None
    assert brought.state.size == 8
    assert (here.bring(goes), here.bring(stays)) == (None, stays)


def test_neither_folder_is_inside_of_the_other(source: Path, tmp_path: Path) -> None:
    for output in (source, source / "out", tmp_path):
        with pytest.raises(UsageError, match="is inside of"):
            outside(output, source)
    assert outside(tmp_path / "inner", source) == source


@pytest.mark.parametrize("text", ["s3a://bucket/out", "hdfs://host/a", "file:/a/b"])
def test_an_address_is_no_folder(text: str) -> None:
    with pytest.raises(Exception, match="is an address"):
        folder(text)


@pytest.mark.parametrize("text", ["/a/b", "file:/a/b", "file:///a/b"])
def test_an_input_on_this_machine_is_listed_by_python(text: str) -> None:
    assert runs(text) == Path("/a/b")
    assert runs("hdfs://host/a") == Address("hdfs://host/a")
