"""The program as a whole: help, version, and what it says when an extra is missing."""

import argparse
import io
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import cast

import pytest

from wheelproof_lab import __main__ as laboratory
from wheelproof_spec.app.cli import GROUPS, build_parser, main
from wheelproof_spec.app.program import Group
from wheelproof_spec.base.results.terminal import Progress, coloured
from wheelproof_spec.base.results.verdicts import ExitCode

_MOST_VERBS = 12


def _help(run: Callable[[Sequence[str]], int], capsys: pytest.CaptureFixture[str]) -> str:
    with pytest.raises(SystemExit) as ended:
        run(["--help"])
    assert ended.value.code == ExitCode.PASS
    return capsys.readouterr().out


@pytest.mark.parametrize(("run", "groups"), [(main, GROUPS), (laboratory.main, laboratory.GROUPS)])
def test_cli_help_lists_each_verb_once_in_its_group(
    run: Callable[[Sequence[str]], int],
    groups: Sequence[Group],
    capsys: pytest.CaptureFixture[str],
) -> None:
    printed = _help(run, capsys)
    verbs = [name for group in groups for name in group.verbs]
    assert len(verbs) == len(set(verbs)) <= _MOST_VERBS
    assert re.findall(r"^  ([a-z]+)  ", printed, re.MULTILINE) == verbs
    for group in groups:
        lines = [f"  {name:<12} {summary}" for name, summary in group.verbs.items()]
        assert "\n".join((f"{group.title}:", *lines, "")) in printed


@pytest.mark.parametrize(("run", "groups"), [(main, GROUPS), (laboratory.main, laboratory.GROUPS)])
def test_cli_without_words_lists_the_verbs(
    run: Callable[[Sequence[str]], int],
    groups: Sequence[Group],
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit) as ended:
        run([])
    assert ended.value.code == ExitCode.USAGE
    listed = capsys.readouterr()
    assert all(group.text() in listed.out for group in groups)
    assert listed.err.endswith(": name one of these verbs\n")
    assert listed.err.count("\n") == 1


def test_cli_no_verb_is_in_both_programs_but_the_vectors() -> None:
    ours, theirs = (
        {name for group in groups for name in group.verbs} for groups in (GROUPS, laboratory.GROUPS)
    )
    assert ours & theirs == {"vectors"}


@pytest.mark.parametrize(
    ("build", "groups"),
    [(build_parser, GROUPS), (laboratory.build_parser, laboratory.GROUPS)],
)
def test_cli_each_verb_carries_something_out(
    build: Callable[[Sequence[str]], argparse.ArgumentParser], groups: Sequence[Group]
) -> None:
    for name in (name for group in groups for name in group.verbs):
        declared = [parser for parser in _parsers(build([name])) if parser.get_default("run")]
        assert declared, name


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
    programs = [*_parsers(build_parser()), *_parsers(laboratory.build_parser())]
    parsers = [parser for parser in programs if parser.get_default("run")]
    assert len(parsers) > _MOST_VERBS
    for parser in parsers:
        declared = {*parser.get_default("reads"), *parser.get_default("writes")}
        for action in cast("list[argparse.Action]", vars(parser)["_actions"]):
            name = getattr(action.type, "__name__", "")
            if name in {"Path", "folder"}:
                assert {action.dest, f"{action.dest}/plan"} & declared, (
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
    heavy = tuple(f"wheelproof_spec.{name}" for name in ("drive", "history", "fuzz", "components"))
    assert done.returncode == ExitCode.PASS
    assert [name for name in modules if name.startswith((*heavy, "wheelproof_lab"))] == []


@pytest.mark.parametrize("words", ["--version", "--help"])
def test_cli_says_who_it_is_with_little_of_the_standard_library(words: str) -> None:
    """Whoever presses the tabulator, or asks for the version, should not wait for imports."""
    program = (
        "import atexit, sys; from wheelproof_spec.app.cli import main\n"
        "atexit.register(lambda: print(*sys.modules, file=sys.stderr))\n"
        f"main([{words!r}])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    modules = set(done.stderr.split())
    assert done.returncode == ExitCode.PASS
    assert {"argparse", "wheelproof_spec.app.cli"} <= modules
    slow = {"importlib.metadata", "importlib.resources", "email", "json", "logging", "subprocess"}
    slow |= {"asyncio", "tempfile", "zipfile", "hypothesis", "jinja2", "pytest", "rich"}
    assert modules & slow == set()


def test_the_version_is_that_of_the_installed_package(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--version"])
    assert capsys.readouterr().out.split()[1] == f"{version('wheelproof')},"


def test_cli_version_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--version"])
    printed = capsys.readouterr().out
    assert re.fullmatch(r"wheelproof 0\.[0-9.]+, Python 3\.[0-9.]+\n", printed)


def test_doctor_names_the_versions_of_what_is_used(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor"]) == ExitCode.PASS
    printed = capsys.readouterr().out
    for name in ("wheelproof 0.", "TLC: 2.", "greenlet 3", "hypothesis 6", "pyspark 4"):
        assert name in printed


def test_doctor_names_what_is_missing_and_the_remedy(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("JAVA_HOME", raising=False)
    assert main(["doctor"]) == ExitCode.INCONCLUSIVE
    printed = capsys.readouterr().out
    assert (
        "missing  Java 17 or newer: no java on the PATH or in JAVA_HOME; needed by pipeline"
        in printed
    )
    assert "install Java 17 or newer, or say where it is with JAVA_HOME" in printed


def test_doctor_takes_what_nobody_installed_for_optional(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setattr("importlib.metadata.version", _no_package)
    assert main(["doctor"]) == ExitCode.PASS
    printed = capsys.readouterr().out
    assert "optional the extra fuzz: hypothesis -; needed by fuzz, " in printed
    assert printed.splitlines()[-1].startswith("nothing is missing; optional: the extra tlc, ")


def test_doctor_fails_an_extra_that_is_there_in_part(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.metadata.version", _no_numpy)
    assert main(["doctor"]) == ExitCode.INCONCLUSIVE
    printed = capsys.readouterr().out
    assert printed.splitlines()[-1].startswith("missing: the extra spark")


def _no_package(name: str) -> str:
    raise PackageNotFoundError(name)


def _no_numpy(name: str) -> str:
    return _no_package(name) if name == "numpy" else version(name)


def test_python_m_is_the_program() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "wheelproof_spec", "--help"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.startswith("usage: wheelproof")


@pytest.fixture(scope="module")
def completion(tmp_path_factory: pytest.TempPathFactory) -> Path:
    script = tmp_path_factory.mktemp("completion") / "wheelproof.bash"
    command = [sys.executable, "-m", "wheelproof_spec", "completion", "bash"]
    script.write_text(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    return script


@pytest.mark.parametrize(
    ("typed", "completed"),
    [
        ("che", "check"),
        ("d", "doctor"),
        ("fuzz p", "purgatory"),
        ("fuzz --threads r", "real"),
        ("pipeline c", "check campaign compact"),
        ("pipeline check --in", "--input"),
        ("explore --engine g", "graph"),
        ("conform --template ru", "rust"),
        ("check run", "run.jsonl"),
        ("check run.jsonl --html run", "run.jsonl"),
        ("pipeline report --output run", "run.jsonl"),
    ],
)
def test_completion_in_bash(typed: str, completed: str, completion: Path, tmp_path: Path) -> None:
    (tmp_path / "run.jsonl").touch()
    program = (
        f"source {completion}\nCOMP_WORDS=(wheelproof {typed})\n"
        "COMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n"
        "$(complete -p wheelproof | sed 's/.*-F \\([^ ]*\\).*/\\1/') && :\n"
        'echo "${COMPREPLY[*]}"\n'
    )
    done = subprocess.run(
        ["bash", "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == completed.split()


def test_completion_in_zsh_is_a_script_for_zsh(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", "zsh"]) == ExitCode.PASS
    assert capsys.readouterr().out.startswith("#compdef wheelproof")


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


_USERS, _LAB = "wheelproof_spec.app.cli", "wheelproof_lab.__main__"


@pytest.mark.parametrize(
    ("program", "words", "module", "extra"),
    [
        (_USERS, ["fuzz", "timer"], "hypothesis", "fuzz"),
        (_USERS, ["tlc"], "rich", "tlc"),
        (_USERS, ["completion", "bash"], "shtab", "completion"),
        (_USERS, ["explore", "--all"], "greenlet", "explore"),
        (_LAB, ["graph", "entry-add-flush"], "greenlet", "explore"),
        (_LAB, ["prove", "--all"], "z3", "prove"),
        (_LAB, ["prove", "--all"], "cvc5", "prove"),
        (_USERS, ["pipeline", "check", "--input", "in", "--output", "out"], "pyspark", "spark"),
        (_USERS, ["pipeline", "check", "--input", "in", "--output", "out"], "py4j", "spark"),
        (_USERS, ["check", "README.md", "--html", "page.html"], "jinja2", "report"),
    ],
)
@pytest.mark.slow
def test_cli_missing_extra_is_one_sentence(
    program: str, words: list[str], module: str, extra: str
) -> None:
    text = (
        f"import sys; sys.modules[{module!r}] = None; "
        f"from {program} import main; sys.exit(main({words!r}))"
    )
    completed = subprocess.run(
        [sys.executable, "-c", text], capture_output=True, text=True, check=False
    )
    assert completed.returncode == ExitCode.USAGE
    assert len(completed.stderr.splitlines()) == 1
    assert f"pip install '.[{extra}]'" in completed.stderr


def test_an_interrupt_in_a_class_body_is_an_interrupt(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def wrapped(_: object) -> None:
        # What Python 3.11 makes of a signal while a dataclass is made.
        raise RuntimeError("Error calling __set_name__") from KeyboardInterrupt()

    monkeypatch.setattr("wheelproof_spec.app.verbs.doctor._summary", wrapped)
    assert main(["doctor"]) == ExitCode.INTERRUPTED
    assert "interrupted; what was not finished is not judged" in capsys.readouterr().err


@pytest.mark.parametrize("option", ["--json", "--junit", "--html"])
def test_a_report_whose_folder_is_not_there_is_refused_before_any_work(
    option: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report = tmp_path / "reprots" / "report"
    words = ["conform", "--driver", "./never-started", option, str(report)]
    assert main(words) == ExitCode.USAGE
    said = capsys.readouterr().err
    assert f"{option} {report}: there is no folder {report.parent}; make it" in said
    assert not report.parent.exists()
