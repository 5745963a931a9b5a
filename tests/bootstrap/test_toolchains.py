"""A toolchain that is there and does not work counts as missing."""

import os
from pathlib import Path

import pytest

from support.toolchains import require
from tools.system_packages import trouble_with

_NO_DEFAULT = "error: no default toolchain is configured"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The first folder of the path: with a good go, a broken cargo and a mvn that is no program."""
    _program(tmp_path / "go", '[ "$1" = version ] && echo go1')
    _program(tmp_path / "node", '[ "$1" = --version ] && echo v20')
    _program(tmp_path / "cargo", f'echo >&2; echo "{_NO_DEFAULT}" >&2; exit 1')
    _program(tmp_path / "mvn", "", shell="/nowhere/sh")
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}/bin")
    monkeypatch.delenv("CI", raising=False)
    return tmp_path


def _program(path: Path, script: str, shell: str = "/bin/sh") -> None:
    path.write_text(f"#!{shell}\n{script}\n", encoding="utf-8")
    path.chmod(0o755)


def test_what_works_has_no_trouble(folder: Path) -> None:
    assert trouble_with("go", os.environ) is None
    assert trouble_with("node", os.environ) is None
    assert trouble_with(str(folder / "go"), os.environ) is None


def test_what_does_not_work_is_said_in_a_sentence(folder: Path) -> None:
    cargo, mvn = trouble_with("cargo", os.environ), trouble_with("mvn", os.environ)
    asked = "`cargo --version` ended with 1"
    assert cargo == f"{folder / 'cargo'} is there and does not work: {asked}: {_NO_DEFAULT}"
    assert mvn is not None
    assert mvn.startswith(f"{folder / 'mvn'} is there and cannot be started: ")
    assert trouble_with("rustc", {"PATH": str(folder)}) == "no rustc was found"


@pytest.mark.usefixtures("folder")
def test_a_test_without_its_toolchain_is_left_out_but_fails_in_ci(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    require("go", "node")
    with pytest.raises(pytest.skip.Exception, match="cargo is there and does not work"):
        require("go", "cargo")
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.fail.Exception, match=r"no default .*; in CI it is required"):
        require("cargo")
