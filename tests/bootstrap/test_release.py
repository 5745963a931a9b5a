"""A release is refused until everything says the same version and is committed."""

import os
import subprocess
import sys
import tarfile
import zipfile
from datetime import date
from pathlib import Path

import pytest

from support.checkout import ROOT
from tools.checkout import Checkout
from tools.errors import SetupError
from tools.pythons import find_python, newer_versions
from tools.release import (
    look_over,
    pack_vectors,
    rehearse,
    require_releasable,
    try_wheel,
    write_checksums,
)


@pytest.fixture
def ready(tmp_path: Path) -> Path:
    files = {
        "pyproject.toml": '[project]\nversion = "1.2.0"\n',
        "CITATION.cff": "cff-version: 1.2.0\nversion: 1.2.0\n",
        "CHANGELOG.md": f"# Changes\n\n## 1.2.0 - {date.today().isoformat()}\n",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    who = ("-c", "user.name=a", "-c", "user.email=a@b.example")
    for words in (("init", "-q"), ("add", "."), (*who, "commit", "-qm", "all")):
        subprocess.run(["git", *words], cwd=tmp_path, check=True)
    return tmp_path


def test_what_is_ready_can_be_released(ready: Path) -> None:
    assert require_releasable(Checkout(root=ready)) == "1.2.0"


@pytest.mark.slow
def test_a_rehearsal_builds_what_works_on_every_python(capsys: pytest.CaptureFixture[str]) -> None:
    found = {version: find_python(version, os.environ) for version in newer_versions()}
    if os.environ.get("CI") == "true":
        assert None not in found.values(), "in CI each of them is required"
    mine = f"{sys.version_info.major}.{sys.version_info.minor}"
    pythons = {mine: Path(sys.executable)} | {
        version: python for version, python in found.items() if python is not None
    }
    source, wheel = sorted(rehearse(Checkout(root=ROOT), pythons), key=lambda name: ".whl" in name)
    assert source.endswith(".tar.gz")
    told = capsys.readouterr().out.splitlines()
    assert told == [f"{wheel} works on Python {version}" for version in pythons]


def test_what_an_index_would_refuse_is_found(tmp_path: Path) -> None:
    wheel = _wheel(tmp_path, "Description-Content-Type: text/x-rst\n\nA title\n=\n`no end\n")
    with pytest.raises(SetupError, match="twine check failed"):
        look_over(Checkout(root=ROOT), [wheel])


def test_a_wheel_that_does_not_work_is_found(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="wheelproof"):
        try_wheel(Checkout(root=ROOT), _wheel(tmp_path, "\n"), Path(sys.executable))


def _wheel(folder: Path, rest: str) -> Path:
    """Make a wheel with nothing in it but what says what it is; `rest` ends its metadata."""
    path = folder / "wheelproof-1.2.0-py3-none-any.whl"
    files = {
        "METADATA": f"Metadata-Version: 2.4\nName: wheelproof\nVersion: 1.2.0\n{rest}",
        "WHEEL": "Wheel-Version: 1.0\nGenerator: a\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        "RECORD": "",
    }
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in files.items():
            archive.writestr(f"wheelproof-1.2.0.dist-info/{name}", text)
    return path


def test_the_vectors_are_an_archive_with_a_checksum(tmp_path: Path) -> None:
    pack_vectors(Checkout(root=ROOT), "1.2.0", tmp_path)
    sums = write_checksums(tmp_path)
    # Of another archive, which is the same, byte by byte.
    pack_vectors(Checkout(root=ROOT), "1.2.0", tmp_path)
    subprocess.run(["sha256sum", "-c", "--strict", sums.name], cwd=tmp_path, check=True)
    with tarfile.open(tmp_path / "wheelproof-vectors-1.2.0.tar.gz") as archive:
        names = archive.getnames()
    assert "wheelproof-vectors-1.2.0/vectors/replay.py" in names
    assert "wheelproof-vectors-1.2.0/vectors/timer-corners.jsonl" in names
    assert "wheelproof-vectors-1.2.0/LICENSE" in names


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("CITATION.cff", "cff-version: 1.2.0\nversion: 1.1.0\n", "CITATION.cff: another version"),
        ("CHANGELOG.md", "## Unreleased\n", "CHANGELOG.md: there is no heading '## 1.2.0 - "),
        ("left.py", "", "changes that are not committed"),
    ],
)
def test_what_is_not_ready_is_refused(name: str, text: str, problem: str, ready: Path) -> None:
    (ready / name).write_text(text)
    with pytest.raises(SetupError, match=problem):
        require_releasable(Checkout(root=ready))


def test_the_citation_has_the_version_of_the_project() -> None:
    version = next(
        line for line in (ROOT / "pyproject.toml").read_text().splitlines() if "version" in line
    )
    assert version.replace(" = ", ": ").replace('"', "") in (ROOT / "CITATION.cff").read_text()
