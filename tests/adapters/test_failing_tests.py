"""docs/ports: the tests for maintainers fail as their pages show, and nothing there is made up."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from support.checkout import ROOT
from support.toolchains import require
from wheelproof_lab.publish.verdicts.page import PAGE

_PAGES = sorted(path for path in (ROOT / "docs/ports").glob("*.md") if path.stem != "README")
_TOOLS = {
    "ports-go": ("go",),
    "ports-rust": ("cargo",),
    "ports-node": ("node", "npm"),
    "ports-python": (),
    "netty-java": ("java", "mvn"),
}
_PLACE = re.compile(r"[\w./]+\.(?:go|rs|ts|js|py|java):[\d-]+")
_TIME = re.compile(r"\d+\.\d+ ?s\b")
_PASSED = re.compile(r"^--- PASS|^ok \d|\b[1-9]\d* passed", re.MULTILINE)


def _facts(page: str) -> dict[str, str]:
    return dict(re.findall(r"^\| (\w+) \| (.*) \|$", page, re.MULTILINE))


def _shown(page: str) -> tuple[str, list[str]]:
    """Return the command of a page, and the lines that it shows of the output."""
    (block,) = re.findall(r"^```\n\$ (.*?)^```$", page, re.MULTILINE | re.DOTALL)
    command, *lines = block.splitlines()
    return command, lines


def _missing(lines: list[str], output: str) -> list[str]:
    """Return the shown lines that were not printed, or not in this order."""
    printed = iter([_TIME.sub("0 s", line).strip() for line in output.splitlines()])
    shown = [_TIME.sub("0 s", line).strip() for line in lines if line != "..."]
    return [line for line in shown if line not in printed]


@pytest.mark.long
@pytest.mark.parametrize("path", _PAGES, ids=lambda path: path.stem)
def test_a_test_for_maintainers_fails_as_its_page_shows(path: Path) -> None:
    page = path.read_text(encoding="utf-8")
    (folder,) = set(re.findall(r"adapters/([\w-]+)/(?:failing|tests)/", page))
    require(*_TOOLS[folder])
    if path.stem == "redis-py" and sys.version_info >= (3, 13):
        pytest.skip("asyncio's Condition hands the notification on from Python 3.13 on")
    # Where CI is set pytest's summary has the whole message, and the page has not.
    here = {name: value for name, value in os.environ.items() if name != "CI"}
    here["PYTHON"] = sys.executable
    here["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{here['PATH']}"
    here.pop("PYTEST_ADDOPTS", None)
    build = [str(ROOT / f"adapters/{folder}/run"), "build"]
    built = subprocess.run(build, env=here, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    command, lines = _shown(page)
    done = subprocess.run(
        ["sh", "-c", f"({command}) 2>&1"],
        cwd=ROOT,
        env=here,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode != 0, "the defect is mended: the page may go"
    assert _missing(lines, done.stdout) == [], done.stdout
    if "fatal error" not in page:
        assert _PASSED.search(done.stdout), "a test beside it shows that the test itself is right"


def test_a_line_that_was_not_printed_is_missing() -> None:
    output = "a\n--- FAIL: TestX (0.02s)\n    b\n"
    assert _missing(["--- FAIL: TestX (0.51s)", "...", "b"], output) == []
    assert _missing(["b", "a"], output) == ["a"]
    assert _missing(["--- FAIL: TestY (0.02s)"], output) != []


@pytest.mark.parametrize("path", _PAGES, ids=lambda path: path.stem)
def test_a_page_for_maintainers_says_what_verdicts_and_findings_say(path: Path) -> None:
    page = path.read_text(encoding="utf-8")
    facts = _facts(page)
    ((word, way, anchor),) = re.findall(
        r"^\[(\w+), (\w+)\]\(\.\./verdicts\.md#(.+)\)$", facts["Verdict"]
    )
    verdicts = (ROOT / PAGE).read_text(encoding="utf-8")
    (row,) = re.findall(rf"^\| \[[^]]+\]\(#{anchor}\) \| (.*) \|$", verdicts, re.MULTILINE)
    driven, recorded = row.split(" | ")[4:6]
    assert word == {"driven": driven, "recorded": recorded}[way]
    told = (ROOT / "docs/findings/ports.md").read_text(encoding="utf-8")
    assert facts["Command"].strip("`") in told + verdicts
    assert facts["Package"].partition(" (")[0] in told
    assert all(place in told for place in _PLACE.findall(page.partition("## ")[0]))


def test_every_page_for_maintainers_is_listed() -> None:
    listed = (ROOT / "docs/ports/README.md").read_text(encoding="utf-8")
    assert sorted(re.findall(r"^\| \[.*?\]\(([\w-]+)\.md\)", listed, re.MULTILINE)) == [
        path.stem for path in _PAGES
    ]
