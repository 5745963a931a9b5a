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
    "docs/explore.md",
    "docs/real-code/README.md",
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


_VARYING = re.compile(
    r"""
      \d+\.\d+ \ ? s \b  # a time
    | (?<= :\ ) \d+ (?= \ s, )  # a time, in a line of progress
    | \d+\.\d+ $  # a time, in a column of TLC's
    | [\d,]+ (?= \ \w+/s \b )  # a rate
    | [\d,]+ (?= \ events $ )  # how much was recorded on a real clock
    | (?<= Java\ ) [\d.]+ | (?<= python-heapq\ ) [\d.]+  # what is installed
    """,
    re.VERBOSE,
)
"""What differs from run to run, or from machine to machine: every other digit is compared."""


def _like(line: str) -> str:
    """Return the line without what differs, and with one space wherever there is any."""
    return " ".join(_VARYING.sub("0", line.rstrip()).split())


@pytest.mark.parametrize(
    ("shown", "printed", "alike"),
    [
        ("x: pass, all 57 classes (630 runs/s)", "x: pass, all 57 classes (1,201 runs/s)", True),
        ("x: pass, all 57 classes (630 runs/s)", "x: pass, all 72 classes (630 runs/s)", False),
        ("  timer: 1 s, 33 cases", "  timer: 5 s, 33 cases", True),
        ("  timer: 1 s, 33 cases", "  timer: 1 s, 34 cases", False),
        ("33 cases, 1569 steps, 0.7 s", "33 cases, 1569 steps, 10.2 s", True),
        ("has 5 s left after 5 s  (7 steps)", "has 4 s left after 5 s  (7 steps)", False),
        ("MC   model   pass   408   46   9.0", "MC  model  pass  408  46  15.6 ", True),
        ("MC   model   pass   408   46   9.0", "MC  model  pass  409  46  9.0", False),
        ("profile kafka, 657 events", "profile kafka, 658 events", True),
        ("on Java 17.0.15", "on Java 21", True),
        ("1 passed in 0.10s", "1 passed in 2.83s", True),
        ("1 passed in 0.10s", "2 passed in 0.10s", False),
    ],
)
def test_times_and_rates_may_differ_and_nothing_else(
    shown: str, printed: str, *, alike: bool
) -> None:
    assert (_like(shown) == _like(printed)) is alike


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
