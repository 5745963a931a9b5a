"""What the documents show is what the programs do."""

import argparse
import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from support.checkout import ROOT, project_files
from wheelproof_lab import __main__ as laboratory
from wheelproof_lab.publish import picture
from wheelproof_lab.publish.known_bugs import PAGE, render
from wheelproof_spec.app.cli import build_parser

pytestmark = pytest.mark.slow

DOCUMENTS = tuple(
    path.relative_to(ROOT).as_posix() for path in project_files() if path.suffix == ".md"
)
_PROGRAMS = ("wheelproof", "make", "pip", "python", "python3", "java", "mvn", "cargo", "go", "npm")
_NOT_RUN = tomllib.loads(Path(__file__).with_name("not_run.toml").read_text(encoding="utf-8"))
_OURS = {"wheelproof": build_parser, "python -m wheelproof_lab": laboratory.build_parser}
"""The parsers that understand commands, by how the commands begin."""
_BEGINNINGS = tuple(f"{begin} " for begin in _OURS)
_GENERATED = ("docs/verdicts.md",)
"""Pages whose commands come from a table; tests/lab/publish/test_verdict_page.py has theirs."""
_BLOCK = re.compile(r"^ *```(\w*)\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
_MENTIONED = ("arguments are required", "--template is required", "expected one argument")
"""What is wrong with a verb or an option that is only mentioned."""
_HERE = ("adapters/", "docs/", "tests/", "tla/", "vectors/", "spec/", "bench/")


def _commands(document: str, *, mentioned: bool) -> Iterator[str]:
    """Yield the commands in blocks that show no output, or those of the program anywhere."""
    text = (ROOT / document).read_text(encoding="utf-8")
    for block in _BLOCK.finditer(text):
        for line in block[2].replace("\\\n", " ").splitlines():
            command = line.strip().removeprefix("$ ")
            program = command.partition(" ")[0]
            known = program in _PROGRAMS or program.startswith("adapters/")
            wanted = command.startswith(_BEGINNINGS) if mentioned else block[1] in ("", "sh")
            if known and wanted and (mentioned or not line.startswith("$ ")):
                yield command
    if mentioned:
        prose = _BLOCK.sub("", text).replace("\n", " ")
        yield from re.findall(r"`((?:wheelproof|python -m wheelproof_lab) [^`]+)`", prose)


@pytest.mark.parametrize("document", DOCUMENTS)
def test_documented_commands_are_run_or_say_why_not(document: str) -> None:
    commands = [] if document in _GENERATED else list(_commands(document, mentioned=False))
    unknown = [one for one in commands if not any(map(one.startswith, _NOT_RUN))]
    assert unknown == [], "show the output, in a block of `console`, or say why in not_run.toml"


def test_no_reason_is_left_over() -> None:
    commands = [one for document in DOCUMENTS for one in _commands(document, mentioned=False)]
    commands += [block for document in DOCUMENTS for block in _blocks(document, "python")]
    unused = [known for known in _NOT_RUN if not any(one.startswith(known) for one in commands)]
    assert unused == []


@pytest.mark.parametrize("document", DOCUMENTS)
def test_documented_commands_are_understood(
    document: str, capsys: pytest.CaptureFixture[str]
) -> None:
    if document == "CHANGELOG.md":
        pytest.skip("it tells of commands as they were")
    for command in _commands(document, mentioned=True):
        begin = next(begin for begin in _OURS if command.startswith(f"{begin} "))
        words = [_filled_in(word) for word in _words(command.removeprefix(begin))]
        problem = _refusal(_OURS[begin], words, capsys)
        assert not problem or any(map(problem.__contains__, _MENTIONED)), command
        named = [part for word in words for part in word.split() if part.startswith(_HERE)]
        missing = [part for part in named if not any(ROOT.glob(part.rstrip("/")))]
        assert missing == [], command


def _refusal(
    build: Callable[[list[str]], argparse.ArgumentParser],
    words: list[str],
    capsys: pytest.CaptureFixture[str],
) -> str:
    """Return why the program does not take these words; nothing if it does."""
    try:
        build(words).parse_known_args(words)
    except SystemExit as ended:
        return capsys.readouterr().err if ended.code else ""
    return ""


def _words(command: str) -> list[str]:
    """Return the words of a command, without what the shell does with its output."""
    return shlex.split(re.split(r" [|>&] | # |&&", command)[0], comments=True)


def _filled_in(word: str) -> str:
    """Return a word, or for what a reader has to fill in something that is accepted."""
    return {"N": "1", "SEED": "1", "MACHINE": "timer", "THREADS": "none"}.get(word, word)


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
    | [\d,]+ (?= \ events ( , | $ ) | \ tests\ of\  )  # how much was recorded on a real clock
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
        ("657 events, 353 tests of 4 clauses", "658 events, 354 tests of 4 clauses", True),
        ("657 events, 353 tests of 4 clauses", "657 events, 353 tests of 3 clauses", False),
        ("on Java 17.0.15", "on Java 21", True),
        ("1 passed in 0.10s", "1 passed in 2.83s", True),
        ("1 passed in 0.10s", "2 passed in 0.10s", False),
    ],
)
def test_times_and_rates_may_differ_and_nothing_else(
    shown: str, printed: str, *, alike: bool
) -> None:
    assert (_like(shown) == _like(printed)) is alike


@pytest.mark.parametrize("shown", _shown(), ids=lambda shown: f"{shown.document}: {shown.command}")
def test_documented_command_prints_what_the_document_shows(shown: _Shown) -> None:
    printed = iter([_like(line) for line in _printed(shown.command).splitlines()])
    assert shown.output, "a command is shown with its output"
    for line in shown.output:
        if line != "...":
            assert _like(line) in printed, f"not printed, or not in this order: {line}"


@cache
def _printed(command: str) -> str:
    """Run a command, once though two documents may show it, and return what it prints."""
    here = Path(sys.executable).parent
    environment = {
        **os.environ,
        "PATH": f"{here}{os.pathsep}{os.environ['PATH']}",
        "COLUMNS": "120",
    }
    completed = subprocess.run(
        ["sh", "-c", command],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        check=False,
    )
    return completed.stdout


def test_a_reader_needs_pytest_alone_for_the_examples() -> None:
    """The settings of the clone, and its conftest, need the packages of its developers."""
    completed = subprocess.run(
        [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider"],
        cwd=ROOT / "docs" / "examples",
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert completed.returncode == 0, completed.stdout
    assert "test_account.py::" in completed.stdout


@pytest.mark.parametrize("document", DOCUMENTS)
def test_documented_python_runs(document: str) -> None:
    for block in _blocks(document, "python"):
        if block.startswith(tuple(_NOT_RUN)):
            continue
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
    for document in DOCUMENTS:
        # In code a pair of brackets may be followed by another one.
        text = re.sub(r"`[^`\n]*`", "", (ROOT / document).read_text(encoding="utf-8"))
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text):
            assert (ROOT / document).parent.joinpath(target).exists(), f"{document}: {target}"
