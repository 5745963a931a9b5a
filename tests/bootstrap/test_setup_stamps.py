"""Fingerprints, stamps and the lock between two set-ups."""

import fcntl
from pathlib import Path

import pytest

from tools.stamps import exclusive, fingerprint, fingerprint_of_files, is_stamped, write_stamp


def test_borders_between_parts_count() -> None:
    assert fingerprint("ab", "c") != fingerprint("a", "bc")
    assert fingerprint("ab", "c") == fingerprint(b"ab", b"c")


def test_fingerprint_of_files_sees_content_names_and_new_files(tmp_path: Path) -> None:
    source = tmp_path / "src" / "deep" / "A.java"
    source.parent.mkdir(parents=True)
    source.write_text("class A {}")
    first = fingerprint_of_files(tmp_path, ["src", "pom.xml"])
    source.write_text("class A { }")
    changed = fingerprint_of_files(tmp_path, ["src", "pom.xml"])
    renamed_file = source.rename(source.with_name("B.java"))
    renamed = fingerprint_of_files(tmp_path, ["src", "pom.xml"])
    (tmp_path / "pom.xml").write_text("<project/>")
    added = fingerprint_of_files(tmp_path, ["src", "pom.xml"])
    assert len({first, changed, renamed, added}) == 4
    (tmp_path / "target").mkdir()
    (tmp_path / "target" / "A.class").write_text("output")
    assert fingerprint_of_files(tmp_path, ["src", "pom.xml"]) == added
    assert renamed_file.exists()


def test_stamp_holds_only_for_its_own_content(tmp_path: Path) -> None:
    stamp = tmp_path / "deep" / "work.stamp"
    assert not is_stamped(stamp, "one")
    write_stamp(stamp, "one")
    assert is_stamped(stamp, "one")
    assert not is_stamped(stamp, "two")
    assert [path.name for path in stamp.parent.iterdir()] == ["work.stamp"]


def test_set_up_is_locked_until_its_end_even_when_it_fails(tmp_path: Path) -> None:
    path = tmp_path / "state" / "lock"
    with exclusive(path), path.open("w") as other, pytest.raises(BlockingIOError):
        fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
    with pytest.raises(KeyError), exclusive(path):
        raise KeyError
    with path.open("w") as other:
        fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
