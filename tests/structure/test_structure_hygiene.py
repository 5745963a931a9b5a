"""Nothing in the project's files ties it to one machine or to one package registry."""

import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.checkout import ROOT, project_files

_REGISTRIES = [
    ("pypi", "org"),
    ("files", "pythonhosted", "org"),
    ("repo", "maven", "apache", "org"),
    ("repo1", "maven", "org"),
    ("registry", "npmjs", "org"),
    ("proxy", "golang", "org"),
]
# The top-level domain "example" is reserved for what is made up.
_INDEX_ADDRESS = re.compile(r"https?://(?![\w.-]*\.example/)[^\s\"'<>]+/" + "simple" + r"\b")
# Its name behind `pip install`, alone or with extras; a path or a clone is no index.
_FROM_AN_INDEX = re.compile(r"pip install (?:[^`|&;:.]*[\s'\"])?" + "wheel" + r"proof(?![\w/.-])")

# OWNER and NAME stand for the reader's own repository.
_ADDRESS_OF_OURS = re.compile(
    r"https?://(?!github\.com/OWNER/NAME/)[^\s\"'<>)]*" + "wheel" + "proof"
)


def _lines_with(pattern: re.Pattern[str]) -> Iterator[str]:
    for path in project_files():
        text = path.read_text(encoding="utf-8", errors="replace")
        for number, line in enumerate(text.splitlines(), start=1):
            if pattern.search(line):
                yield f"{path.relative_to(ROOT)}:{number}: {line.strip()[:120]}"


def _machine_folders() -> list[str]:
    """Return where this machine keeps things, and where others are known to."""
    here = {str(ROOT), str(ROOT.parent), str(Path.home()), tempfile.gettempdir()}
    known = {f"/{name}" for name in ("root", "tmp", "work")}
    return sorted(folder for folder in here | known if folder != "/")


@pytest.mark.parametrize("folder", _machine_folders())
def test_no_file_names_a_folder_of_a_machine(folder: str) -> None:
    pattern = re.compile(rf"(?<![\w.$}}*]){re.escape(folder)}/")
    assert list(_lines_with(pattern)) == []


@pytest.mark.parametrize("parts", _REGISTRIES, ids=".".join)
def test_no_file_names_a_registry(parts: tuple[str, ...]) -> None:
    assert list(_lines_with(re.compile(rf"(?<![\w.-]){re.escape('.'.join(parts))}"))) == []


def test_no_file_has_the_address_of_a_package_index() -> None:
    assert list(_lines_with(_INDEX_ADDRESS)) == []


def test_nobody_is_told_to_install_from_an_index() -> None:
    """wheelproof is not published: what works is an install from a clone."""
    assert list(_lines_with(_FROM_AN_INDEX)) == []


def test_no_address_is_named_while_the_project_has_none() -> None:
    """It has no public address: a link to one would lead nowhere."""
    assert list(_lines_with(_ADDRESS_OF_OURS)) == []


def test_the_patterns_find_what_they_are_after() -> None:
    published = "wheel" + "proof"
    assert _FROM_AN_INDEX.search(f"pip install '{published}[explore]'")
    assert _FROM_AN_INDEX.search(f"python -m pip install --quiet {published}")
    assert not _FROM_AN_INDEX.search(f"pip install '.[explore]' in a clone, then {published}_x")
    assert _INDEX_ADDRESS.search("https://packages.company.test/" + "simple")
    assert not _INDEX_ADDRESS.search("https://registry.example/" + "simple")
    assert _ADDRESS_OF_OURS.search("[site](https://docs.company.test/" + published)
    assert not _ADDRESS_OF_OURS.search("https://github.com/OWNER/NAME/actions/" + published)
