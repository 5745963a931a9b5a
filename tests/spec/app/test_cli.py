"""The program as a whole: help, version, and what it says when an extra is missing."""

import argparse
import io
import subprocess
import sys
from pathlib import Path
from typing import cast

import pytest

from wheelproof_spec.app.cli import build_parser, main
from wheelproof_spec.app.verbs import VERBS
from wheelproof_spec.base.results.terminal import Progress, coloured
from wheelproof_spec.base.results.verdicts import ExitCode


def test_cli_help_names_every_verb(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--help"])
    assert ended.value.code == ExitCode.PASS
    printed = capsys.readouterr().out
    assert all(verb in printed for verb in VERBS)


def test_cli_unknown_verb_is_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["none-such"])
    assert ended.value.code == ExitCode.USAGE
    assert "none-such" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        ("chek", "check"),
        ("fuzz purgatry", "purgatory"),
        ("conform --driver false --component tmer", "timer"),
        ("record --output x --component acumulator", "accumulator"),
        ("check x --profile kafak", "kafka"),
        ("conform --driver false --profile kafak", "kafka"),
        ("explore bug/test-than-submit", "bug/test-then-submit"),
    ],
)
def test_cli_says_what_may_have_been_meant(
    words: str, meant: str, capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        code: object = main(words.split())
    except SystemExit as ended:
        code = ended.code
    assert code == ExitCode.USAGE
    assert f"did you mean {meant}?" in capsys.readouterr().err


def _parsers(parser: argparse.ArgumentParser) -> list[argparse.ArgumentParser]:
    found = [parser]
    for action in cast("list[argparse.Action]", vars(parser)["_actions"]):
        known = cast("object", action.choices)
        if isinstance(known, dict):
            for verb in cast("dict[str, object]", known).values():
                found += _parsers(verb) if isinstance(verb, argparse.ArgumentParser) else []
    return found


def test_cli_every_file_is_declared_as_read_or_written() -> None:
    parsers = [parser for parser in _parsers(build_parser()) if parser.get_default("run")]
    assert len(parsers) > len(VERBS)
    for parser in parsers:
        declared = {*parser.get_default("reads"), *parser.get_default("writes")}
        for action in cast("list[argparse.Action]", vars(parser)["_actions"]):
            name = getattr(action.type, "__name__", "")
            if name in {"Path", "folder"}:
                assert {action.dest, f"{action.dest}/manifest.json"} & declared, (
                    f"{parser.prog}: {action.dest} is neither read nor written"
                )


@pytest.mark.parametrize("words", ["--version", "check --help", "explore --help", "doctor --help"])
def test_cli_starts_without_engines_and_components(words: str) -> None:
    program = (
        "import atexit, sys; from wheelproof_spec.app.cli import main\n"
        "atexit.register(lambda: print(*sys.modules, file=sys.stderr))\n"
        f"main({words.split()!r})"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    modules = done.stderr.split()
    heavy = ("engines.explore", "engines.drive", "engines.history", "engines.fuzz", "components")
    assert done.returncode == ExitCode.PASS
    assert [
        name for name in modules if name.startswith(tuple(f"wheelproof_spec.{h}" for h in heavy))
    ] == []


def test_cli_version_names_what_is_used(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--version"])
    printed = capsys.readouterr().out
    assert printed.startswith("wheelproof 0.")
    for name in ("Python 3.", "TLC ", "Java ", "greenlet", "hypothesis", "pyspark", "crosshair"):
        assert name in printed


def test_doctor_names_what_is_missing_and_the_remedy(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("JAVA_HOME", raising=False)
    assert main(["doctor"]) == ExitCode.INCONCLUSIVE
    printed = capsys.readouterr().out
    assert (
        "missing  Java 17 or newer: no java on the PATH or in JAVA_HOME; without it: no pipeline"
        in printed
    )
    assert "install Java 17 or newer, or say where it is with JAVA_HOME" in printed


def test_python_m_is_the_program() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "wheelproof_spec", "--help"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.startswith("usage: wheelproof")


@pytest.mark.parametrize(
    ("typed", "completed"),
    [
        ("ch", "check"),
        ("fuzz p", "purgatory"),
        ("fuzz --threads r", "real"),
        ("pipeline c", "check campaign"),
        ("pipeline check --in", "--input"),
        ("explore --engine g", "graph"),
    ],
)
def test_completion_in_bash(
    typed: str, completed: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["completion", "bash"]) == ExitCode.PASS
    script = tmp_path / "completion.bash"
    script.write_text(
        f"{capsys.readouterr().out}\nCOMP_WORDS=(wheelproof {typed}); "
        'COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _wheelproof; echo "${COMPREPLY[*]}"\n'
    )
    done = subprocess.run(["bash", str(script)], capture_output=True, text=True, check=True)
    assert done.stdout.split() == completed.split()


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_verdicts_are_coloured_on_a_terminal_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    text = "x: fail, broken\nPASS: y"
    assert coloured(text, io.StringIO()) == text
    assert coloured(text, _Terminal()) == "x: \x1b[31mfail\x1b[0m, broken\n\x1b[32mPASS\x1b[0m: y"
    monkeypatch.setenv("NO_COLOR", "1")
    assert coloured(text, _Terminal()) == text


@pytest.mark.parametrize(("terminal", "quiet"), [(True, False), (True, True), (False, False)])
def test_progress_is_for_a_terminal_alone(
    terminal: bool, quiet: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream = _Terminal() if terminal else io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    shown = Progress(quiet=quiet, first_s=0)
    assert list(shown.counting("abc", "letters")) == ["a", "b", "c"]
    shown.clear()
    assert ("0 letters" in stream.getvalue()) is (terminal and not quiet)


@pytest.mark.parametrize(
    ("words", "module", "extra"),
    [
        (["fuzz", "timer"], "hypothesis", "fuzz"),
        (["tlc"], "rich", "tlc"),
        (["explore", "--all"], "greenlet", "explore"),
        (["graph", "--all"], "greenlet", "explore"),
        (["prove", "--all"], "z3", "prove"),
        (["pipeline", "check", "--input", "in", "--output", "out"], "pyspark", "spark"),
        (["pipeline", "check", "--input", "in", "--output", "out"], "py4j", "spark"),
        (["check", "README.md", "--html", "out/page.html"], "jinja2", "report"),
    ],
)
@pytest.mark.slow
def test_cli_missing_extra_is_one_sentence(words: list[str], module: str, extra: str) -> None:
    program = (
        f"import sys; sys.modules[{module!r}] = None; "
        f"from wheelproof_spec.app.cli import main; sys.exit(main({words!r}))"
    )
    completed = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert completed.returncode == ExitCode.USAGE
    assert len(completed.stderr.splitlines()) == 1
    assert f"pip install 'wheelproof[{extra}]'" in completed.stderr
