"""What the documents show is what the programs do."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from support.checkout import ROOT
from wheelproof_spec.app.pages import picture
from wheelproof_spec.app.pages.known_bugs import PAGE, render

DOCUMENTS = (
    "README.md",
    "docs/findings.md",
    "docs/judge-your-implementation.md",
    "docs/linearizability.md",
    "docs/model-checker.md",
    "docs/tour.md",
    "docs/vectors.md",
)


@dataclass(frozen=True, slots=True)
class _Shown:
    document: str
    command: str
    output: tuple[str, ...]


def _blocks(document: str, language: str) -> Iterator[str]:
    text = (ROOT / document).read_text(encoding="utf-8")
    for match in re.finditer(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        yield match[1]


def _shown() -> list[_Shown]:
    found: list[_Shown] = []
    for document in DOCUMENTS:
        for block in _blocks(document, "console"):
            for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
                command, _, output = part.partition("\n")
                found.append(_Shown(document, command, tuple(output.splitlines())))
    return found


def _like(line: str) -> str:
    """Return the line without what differs from run to run: numbers, and the space around them."""
    return re.sub(r"\s+", " ", re.sub(r"[\d.,]*\d", "0", line)).strip()


@pytest.mark.slow
@pytest.mark.parametrize("shown", _shown(), ids=lambda shown: f"{shown.document}: {shown.command}")
def test_documented_command_prints_what_the_document_shows(shown: _Shown) -> None:
    here = Path(sys.executable).parent
    environment = {
        **os.environ,
        "PATH": f"{here}{os.pathsep}{os.environ['PATH']}",
        "COLUMNS": "120",
    }
    completed = subprocess.run(
        ["sh", "-c", shown.command],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        check=False,
    )
    printed = iter([_like(line) for line in completed.stdout.splitlines()])
    assert shown.output, "a command is shown with its output"
    for line in shown.output:
        if line != "...":
            assert _like(line) in printed, f"not printed, or not in this order: {line}"


@pytest.mark.parametrize("document", DOCUMENTS)
def test_documented_python_runs(document: str) -> None:
    for block in _blocks(document, "python"):
        completed = subprocess.run(
            [sys.executable, "-c", block], cwd=ROOT, capture_output=True, text=True, check=False
        )
        assert completed.returncode == 0, completed.stderr
        for comment in re.findall(r"^print\(.*?\)  # (.*)$", block, re.MULTILINE):
            assert comment in completed.stdout


def test_documented_known_bugs_are_those_of_the_table() -> None:
    assert (ROOT / PAGE).read_text(encoding="utf-8") == render()


def test_documented_picture_is_that_of_the_explorer() -> None:
    assert (ROOT / picture.PAGE).read_text(encoding="utf-8") == picture.render()


def test_documented_links_lead_somewhere() -> None:
    for document in [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("adapters/*.md")]:
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", document.read_text("utf-8")):
            assert (document.parent / target).exists(), f"{document.name}: {target}"
