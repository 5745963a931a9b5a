"""Newer Pythons: which program is taken, and what is installed for the tests."""

import os
import sys
from pathlib import Path

import pytest

from support.checkout import ROOT
from tools import pythons
from tools.checkout import Checkout
from tools.errors import SetupError
from tools.requirements import pinned_requirements, pins_of


def _program(path: Path, script: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    path.chmod(0o755)
    return path


def test_a_shim_that_fails_leads_to_the_version_behind_it(tmp_path: Path) -> None:
    """HOME may be an empty folder: the shims on the path say where pyenv is."""
    shims = tmp_path / "pyenv" / "shims"
    _program(shims / "python3.12", "echo command not found; exit 127")
    _program(tmp_path / "pyenv/versions/3.12.9/bin/python3.12", "echo 3.12")
    newest = _program(tmp_path / "pyenv/versions/3.12.10/bin/python3.12", "echo 3.12")
    environment = {"PATH": f"{shims}{os.pathsep}/bin", "HOME": str(tmp_path / "empty")}
    assert pythons.find_python("3.12", environment) == newest
    assert pythons.find_python("3.99", environment) is None


def test_a_program_is_what_it_says_and_not_what_it_is_called(tmp_path: Path) -> None:
    _program(tmp_path / "one" / "python3.12", "echo 3.11")
    other = _program(tmp_path / "two" / "python3.12", "echo 3.12")
    environment = {"PATH": f"{tmp_path / 'one'}{os.pathsep}{tmp_path / 'two'}"}
    assert pythons.find_python("3.12", environment) == other
    other.write_text("no script and no program", encoding="utf-8")
    assert pythons.find_python("3.12", environment) is None


def test_this_python_is_found() -> None:
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    folder = Path(sys.base_prefix) / "bin"
    assert pythons.find_python(version, {"PATH": str(folder)}) == folder / f"python{version}"


def test_what_is_installed_is_pinned() -> None:
    lock = Checkout(root=ROOT).requirements.read_text(encoding="utf-8")
    chosen = pins_of(lock, ("pytest", "greenlet"))
    assert pinned_requirements(chosen).keys() == {"pytest", "greenlet"}
    with pytest.raises(SetupError, match="does not pin no-such-package"):
        pins_of(lock, ("pytest", "no-such-package"))


def test_the_folders_that_run_on_every_python_are_there() -> None:
    for folder in pythons.FOLDERS:
        assert list((ROOT / folder).rglob("test_*.py")), folder


def test_an_environment_that_cannot_be_made_says_so(tmp_path: Path) -> None:
    for name in ("requirements.lock", "pyproject.toml"):
        (tmp_path / name).write_text("", encoding="utf-8")
    base = _program(tmp_path / "python", "echo no module named venv; exit 1")
    with pytest.raises(SetupError, match=r"\.venv-3\.12 could not be made") as caught:
        pythons.ensure_environment(Checkout(root=tmp_path), "3.12", base)
    assert caught.value.details == "no module named venv"
