"""What somebody tries first has the right verdict without any option: docs/examples/mistakes.py."""

from pathlib import Path

import pytest

from support.checkout import ROOT
from wheelproof_explore.__main__ import main
from wheelproof_explore.verdicts import ExitCode

_FILE = ROOT / "docs" / "examples" / "mistakes.py"
_MISTAKES = {
    "lost_update": "assert account.total == 2",
    "two_locks": "deadlock",
    "lost_wake_up": "nobody will notify it",
    "await_between": "assert wallet.balance >= 0",
    "unlocked_deque": "pop from an empty deque",
}


@pytest.mark.parametrize("name", _MISTAKES)
def test_a_mistake_is_found_and_its_run_repeated(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([f"{_FILE}:{name}"]) == ExitCode.FAIL
    printed = capsys.readouterr().out
    assert _MISTAKES[name] in printed.splitlines()[0]
    (repeat,) = (line for line in printed.splitlines() if line.startswith("  repeat: "))
    assert main(repeat.split()[3:]) == ExitCode.FAIL


@pytest.mark.parametrize("name", _MISTAKES)
def test_what_is_mended_passes(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([f"{_FILE}:{name}_mended"]) == ExitCode.PASS
    assert "not looked at" not in capsys.readouterr().out


def test_a_pass_says_what_was_not_looked_at(capsys: pytest.CaptureFixture[str]) -> None:
    """The lock that the two threads take says nothing about the total."""
    assert main([f"{_FILE}:two_locks_mended", "--instrument", "none"]) == ExitCode.PASS
    assert "not looked at: what its code reads and writes" in capsys.readouterr().out


def test_a_bound_on_seconds_is_inconclusive(capsys: pytest.CaptureFixture[str]) -> None:
    words = [f"{_FILE}:lost_wake_up_mended", "--max-seconds", "1e-9"]
    assert main(words) == ExitCode.INCONCLUSIVE
    assert "the bound on seconds was reached after 1 runs" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["no_such_file.py:f"], "there is no file no_such_file.py"),
        (["no_such_file.py"], "there is no file no_such_file.py"),
        ([str(_FILE)], f"name a function in it: {_FILE}:lost_update, or lost_update_mended, two_"),
        ([f"{_FILE}:nothing"], "'nothing' is no function"),
        ([f"{ROOT}/reference/wheelproof/clock.py:f"], "'f' is no function"),
        ([f"{_FILE}:two_locks", "--max-seconds", "0"], "--max-seconds has to be above 0"),
    ],
)
def test_what_is_not_there_is_said(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) in (ExitCode.INPUT_REJECTED, ExitCode.USAGE)
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("def _own(): ...\ndef f(a): ...\n", "write a function in it that starts the threads"),
        ("async def f(*, a=1): ...\ndef g(*, a): ...\n", "mine.py:f\n"),
        ("def f(:\n", "SyntaxError"),
    ],
)
def test_a_file_alone_has_its_functions_named(
    text: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Those that need no argument; the file is not run."""
    file = tmp_path / "mine.py"
    file.write_text(f"{text}\nraise SystemExit\n", encoding="utf-8")
    assert main([str(file)]) in (ExitCode.INPUT_REJECTED, ExitCode.USAGE)
    assert said in capsys.readouterr().err


def test_a_file_with_the_name_of_another_module_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "threading.py"
    file.write_text("def f() -> None: ...\n", encoding="utf-8")
    assert main([f"{file}:f"]) == ExitCode.INPUT_REJECTED
    assert "a module threading is in" in capsys.readouterr().err


def test_a_file_of_a_package_and_a_name_with_a_space(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    package = tmp_path / "a folder" / "package_of_mine"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "other.py").write_text("N = []\n", encoding="utf-8")
    file = package / "program.py"
    file.write_text(_PROGRAM, encoding="utf-8")
    assert main([f"{file}:f"]) == ExitCode.FAIL
    printed = capsys.readouterr().out
    assert f"repeat: wheelproof explore '{file}:f' --replay" in printed


_PROGRAM = """
import threading
from package_of_mine import other

def f():
    threads = [threading.Thread(target=lambda: other.N.append(len(other.N))) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(other.N[-2:]) == [len(other.N) - 2, len(other.N) - 1]
"""
