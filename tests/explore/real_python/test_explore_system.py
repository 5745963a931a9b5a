"""Files, environment variables and the working directory are state that all threads share."""

import glob
import importlib
import io
import json
import os
import shutil
import sqlite3
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from pathlib import Path
from types import ModuleType

import pytest

from wheelproof_explore.library import check, explore
from wheelproof_explore.verdicts import Verdict

pytestmark = pytest.mark.usefixtures("unshrunk")

_Read = Callable[[Path], int]
_Write = Callable[[Path, int], object]
_Count = tuple[_Read, _Write]


def _read_by_open(folder: Path) -> int:
    with open(folder / "count") as file:
        return int(file.read() or 0)


def _write_by_open(folder: Path, count: int) -> None:
    with open(folder / "count", "w") as file:
        file.write(str(count))


def _read_lines(folder: Path) -> int:
    with (folder / "count").open() as file:
        return sum(int(line) for line in file)


def _write_by_print(folder: Path, count: int) -> None:
    with (folder / "count").open("w") as file:
        print(count, file=file)


def _read_by_json(folder: Path) -> int:
    with open(folder / "count") as file:
        count: int = json.load(file)
    return count


def _write_by_json(folder: Path, count: int) -> None:
    with open(folder / "count", mode="w") as file:
        json.dump(count, file)


def _read_by_system(folder: Path) -> int:
    number = os.open(folder / "count", os.O_RDONLY)
    try:
        return int(os.read(number, 10))
    finally:
        os.close(number)


def _write_by_system(folder: Path, count: int) -> None:
    number = os.open(folder / "count", os.O_WRONLY | os.O_TRUNC)
    os.write(number, str(count).encode())
    os.close(number)


def _read_names(folder: Path) -> int:
    return len(os.listdir(folder / "names"))


def _write_names(folder: Path, count: int) -> None:
    os.makedirs(folder / "names" / str(count), exist_ok=True)


def _read_by_glob(folder: Path) -> int:
    return len(glob.glob(f"{folder}/names/*"))


def _read_by_paths(folder: Path) -> int:
    return len([*(folder / "names").iterdir()])


def _write_by_paths(folder: Path, count: int) -> None:
    (folder / "names" / str(count)).mkdir(exist_ok=True)


def _copy_tree(folder: Path, count: int) -> None:
    shutil.copytree(folder / "empty", folder / "names" / str(count), dirs_exist_ok=True)


def _in_database(folder: Path, command: str) -> list[tuple[int]]:
    connection = sqlite3.connect(folder / "database", isolation_level=None)
    try:
        return connection.execute(command).fetchall()
    finally:
        connection.close()


def _read_database(folder: Path) -> int:
    return _in_database(folder, "select n from counts")[0][0]


def _write_database(folder: Path, count: int) -> None:
    _in_database(folder, f"update counts set n = {count}")


def _read_variable(_: Path) -> int:
    return int(os.environ["WHEELPROOF_COUNT"])


def _get_variable(_: Path) -> int:
    return int(os.getenv("WHEELPROOF_COUNT", "0"))


def _write_variable(_: Path, count: int) -> None:
    os.environ["WHEELPROOF_COUNT"] = str(count)


def _update_variables(_: Path, count: int) -> None:
    os.environ.update(WHEELPROOF_COUNT=str(count))


_WAYS: dict[str, _Count] = {
    "open": (_read_by_open, _write_by_open),
    "a file's lines, and print": (_read_lines, _write_by_print),
    "json": (_read_by_json, _write_by_json),
    "a path": (
        lambda folder: int((folder / "count").read_text()),
        lambda folder, count: (folder / "count").write_text(str(count)),
    ),
    "calls of the system": (_read_by_system, _write_by_system),
    "names": (_read_names, _write_names),
    "glob": (_read_by_glob, _write_by_paths),
    "paths": (_read_by_paths, _copy_tree),
    "a database": (_read_database, _write_database),
    "a variable": (_read_variable, _write_variable),
    "getenv": (_get_variable, _update_variables),
}


def _counts(folder: Path, way: _Count, *, mended: bool) -> None:
    read, write = way
    lock: AbstractContextManager[object] = threading.Lock() if mended else nullcontext()
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "names").mkdir(parents=True)
    (folder / "empty").mkdir()
    (folder / "count").write_text("0")
    _in_database(folder, "create table counts (n)")
    _in_database(folder, "insert into counts values (0)")
    os.environ["WHEELPROOF_COUNT"] = "0"

    def add() -> None:
        with lock:
            write(folder, read(folder) + 1)

    threads = [threading.Thread(target=add) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    count = read(folder)
    del os.environ["WHEELPROOF_COUNT"]
    assert count == 2


@pytest.mark.parametrize("way", _WAYS)
def test_a_lost_update_in_files_and_variables_is_found(way: str, tmp_path: Path) -> None:
    program = partial(_counts, tmp_path / "here", _WAYS[way], mended=False)
    assert explore(program).verdict() is Verdict.FAIL
    # It is no data race: what orders the calls may be the system itself.
    assert explore(program, accesses="races").verdict() is Verdict.INCONCLUSIVE


@pytest.mark.parametrize("way", _WAYS)
def test_a_lock_around_it_passes(way: str, tmp_path: Path) -> None:
    assert check(partial(_counts, tmp_path / "here", _WAYS[way], mended=True)).classes > 1


def _together(work: Callable[[], object]) -> None:
    lock, done = threading.Lock(), list[int]()

    def main() -> None:
        with lock:
            done.append(1)
        work()

    threads = [threading.Thread(target=main) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_what_is_no_file_makes_no_step(tmp_path: Path) -> None:
    """Only two locked appends have an order: no other pair of calls touches the same thing."""

    def work() -> None:
        text, path = io.StringIO(), tmp_path / "a"
        text.write("text")
        print(text.getvalue(), file=text)
        os.path.join("a", path.name, str(path.with_suffix(".b")))
        os.getpid()

    before = check(partial(_together, lambda: None)).classes
    assert check(partial(_together, work)).classes == before


def test_reading_alone_has_no_order(tmp_path: Path) -> None:
    (tmp_path / "count").write_text("1")

    def work() -> None:
        _read_by_open(tmp_path)
        (tmp_path / "count").exists()
        _read_by_json(tmp_path)

    before = check(partial(_together, lambda: None)).classes
    assert check(partial(_together, work)).classes == before


_INSTALLED = """
def save(path, text):
    with open(path, "w") as file:
        file.write(text)
def load(path):
    with open(path) as file:
        return file.read()
"""


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """A package that uses files where nobody sees it."""
    folder = tmp_path / "site-packages"
    folder.mkdir()
    (folder / "installed_files.py").write_text(_INSTALLED)
    monkeypatch.setattr(sys, "path", [str(folder), *sys.path])
    yield importlib.import_module("installed_files")
    del sys.modules["installed_files"]


def test_files_inside_of_a_package_leave_no_pass(installed: ModuleType, tmp_path: Path) -> None:
    path = str(tmp_path / "saved")
    found = explore(partial(_together, lambda: installed.save(path, "1")))
    assert found.verdict() is Verdict.INCONCLUSIVE
    assert "what uses files, without a step of its own: save (installed_files" in found.summary()


def test_files_that_a_package_only_reads_are_no_matter(
    installed: ModuleType, tmp_path: Path
) -> None:
    path = tmp_path / "saved"
    path.write_text("1")
    check(partial(_together, lambda: installed.load(str(path))))

    def work() -> None:
        if installed.load(str(path)) != "2":
            path.write_text("2")

    found = explore(partial(_together, work))
    assert found.verdict() is Verdict.INCONCLUSIVE
    assert "what uses files, without a step of its own: load (installed_files" in found.summary()


def test_each_run_begins_with_the_files_of_the_first(tmp_path: Path) -> None:
    kept, folder = tmp_path / "kept", tmp_path / "folder"
    here = Path.cwd()
    folder.mkdir()
    (folder / "inside").write_bytes(b"\x00 inside")
    kept.write_text("0")
    (tmp_path / "link").symlink_to("kept")

    def work() -> None:
        new = tmp_path / "new"
        if new.exists():
            (tmp_path / "second").mkdir()
        else:
            new.write_text("1")

    def main() -> None:
        assert {path.name for path in tmp_path.iterdir()} == {"kept", "folder", "link"}
        assert kept.read_text() == "0"
        os.chdir(tmp_path)
        shutil.rmtree("folder")
        os.remove("link")
        os.rename("kept", "moved")
        kept.write_text("1")
        _together(work)

    # Both threads may see no file: no second folder then.
    assert check(main).classes > 2
    assert {path.name for path in tmp_path.iterdir()} == {"kept", "folder", "link"}
    assert kept.read_text() == (tmp_path / "link").read_text() == "0"
    assert (folder / "inside").read_bytes() == b"\x00 inside"
    assert Path.cwd() == here


def test_a_folder_that_both_threads_make_is_found_without_any_preparation(tmp_path: Path) -> None:
    folder = tmp_path / "folder"

    def work() -> None:
        if not folder.exists():
            folder.mkdir()

    found = explore(partial(_together, work))
    assert found.verdict() is Verdict.FAIL
    assert "FileExistsError" in found.summary()
    assert not folder.exists()


def test_what_cannot_be_brought_back_leaves_no_pass(tmp_path: Path) -> None:
    (tmp_path / "large").write_bytes(bytes(1 << 20))
    found = explore(partial(_together, lambda: (tmp_path / "large").write_bytes(b"1")))
    assert found.verdict() is Verdict.INCONCLUSIVE
    assert "large, which a run leaves behind for the next one" in found.summary()
    assert (tmp_path / "large").read_bytes() == b"1"
