"""Reading what Java says about itself, and the order in which Javas are tried."""

import os
from pathlib import Path

import pytest

from tools.java import REQUIRED_MODULES, Java, candidates, missing_modules, parse_settings

_SETTINGS = """\
Picked up JAVA_TOOL_OPTIONS: -Xmx1g
Property settings:
    file.encoding = UTF-8
    java.home = {home}
    java.specification.version = {release}
    java.vm.specification.version = 99

openjdk version "{release}.0.1" 2025-04-15
"""


@pytest.mark.parametrize(("release", "number"), [("17", 17), ("25", 25), ("1.8", 8)])
def test_home_and_release_are_read(release: str, number: int) -> None:
    text = _SETTINGS.format(home="/opt/java with space", release=release)
    assert parse_settings(text) == Java(home=Path("/opt/java with space"), release=number)


@pytest.mark.parametrize("text", ["", "Error: could not create the Java Virtual Machine.\n"])
def test_what_is_no_java_is_none(text: str) -> None:
    assert parse_settings(text) is None


def test_missing_modules_are_named() -> None:
    listing = "".join(f"{name}@17.0.15\n" for name in [*REQUIRED_MODULES, "java.base"])
    assert missing_modules(listing) == []
    without = listing.replace("java.management@17.0.15\n", "").replace("jdk.zipfs@", "jdk.zip@")
    assert missing_modules(without) == ["java.management", "jdk.zipfs"]


def test_java_home_comes_first_and_each_program_once(tmp_path: Path) -> None:
    named, on_path, usual = (_java_home(tmp_path / name) for name in ("named", "path", "usual"))
    link = tmp_path / "link"
    link.symlink_to(on_path)
    not_executable = _java_home(tmp_path / "broken")
    (not_executable / "bin" / "java").chmod(0o644)
    folders = [not_executable / "bin", on_path / "bin", link / "bin", tmp_path / "absent"]
    environment = {"JAVA_HOME": str(named), "PATH": os.pathsep.join(map(str, folders))}
    found = list(candidates(environment, [named, usual]))
    assert found == [home / "bin" / "java" for home in (named, on_path, usual)]


def test_empty_environment_leaves_the_usual_folders(tmp_path: Path) -> None:
    usual = _java_home(tmp_path / "usual")
    assert list(candidates({"JAVA_HOME": ""}, [usual])) == [usual / "bin" / "java"]


def _java_home(home: Path) -> Path:
    program = home / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    return home
