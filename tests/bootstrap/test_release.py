"""A release is refused until everything says the same version and is committed."""

import subprocess
from datetime import date
from pathlib import Path

import pytest

from support.checkout import ROOT
from tools.checkout import Checkout
from tools.errors import SetupError
from tools.release import require_releasable


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
