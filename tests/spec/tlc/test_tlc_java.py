"""Java: where it is looked for, and what is too old or none at all."""

from pathlib import Path

import pytest

from wheelproof_spec.base.errors import MissingToolError
from wheelproof_spec.tlc.running.java import check_java, find_java


def _fake_java(path: Path, version_line: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\necho '{version_line}' >&2\n", encoding="utf-8")
    path.chmod(0o755)
    return path


@pytest.mark.parametrize(
    ("line", "major"),
    [
        ('openjdk version "17.0.15" 2025-04-15', 17),
        ('java version "11.0.2" 2019-01-15 LTS', 11),
        ('openjdk version "25" 2025-09-16', 25),
        ('openjdk version "24-ea" 2025-03-18', 24),
    ],
)
def test_versions(tmp_path: Path, line: str, major: int) -> None:
    assert check_java(_fake_java(tmp_path / "java", line)).major == major


@pytest.mark.parametrize("version", ["1.8.0_292", "10.0.2", "9"])
def test_too_old(tmp_path: Path, version: str) -> None:
    path = _fake_java(tmp_path / "java", f'java version "{version}"')
    with pytest.raises(MissingToolError, match=r"Java 11 or newer .* install Java 11 or newer"):
        check_java(path)


def test_a_program_that_is_no_java(tmp_path: Path) -> None:
    with pytest.raises(MissingToolError, match="tells no version"):
        check_java(_fake_java(tmp_path / "java", "hello"))


def test_a_file_that_cannot_be_run(tmp_path: Path) -> None:
    with pytest.raises(MissingToolError, match="a working Java"):
        find_java(tmp_path / "missing", {})


def test_no_java_on_the_path(tmp_path: Path) -> None:
    with pytest.raises(MissingToolError, match="Java was not found; install Java 11"):
        find_java(None, {"PATH": str(tmp_path)})


def test_java_home_comes_before_the_path(tmp_path: Path) -> None:
    home = _fake_java(tmp_path / "home" / "bin" / "java", 'openjdk version "21.0.1"')
    on_path = _fake_java(tmp_path / "path" / "java", 'openjdk version "17.0.1"')
    environment = {"JAVA_HOME": str(tmp_path / "home"), "PATH": str(on_path.parent)}
    assert find_java(None, environment).path == home
    assert find_java(None, {"PATH": str(on_path.parent)}).path == on_path
    assert find_java(on_path, environment).path == on_path
