"""What once had a wrong verdict, a row for each: what fails in plain Python passes nowhere."""

import sys
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

import pytest

from support.explore.programs import wrong_fails, wrong_passes
from wheelproof_explore.__main__ import main
from wheelproof_explore.verdicts import ExitCode

_TEXT = "".join(
    (
        wrong_passes.PRELUDE,
        "from wheelproof_explore import Scenario\n",
        *(row.text(name) for name, row in wrong_passes.LOOKS.items()),
        wrong_passes.WHOLE,
        wrong_fails.PROGRAMS,
    )
)
_ADDS = """
def add(box):
    box.n += 1
"""
_WRONG: dict[str, str] = {
    **{f"looks_{name}": row.said for name, row in wrong_passes.LOOKS.items()},
    **wrong_passes.WHOLE_SAID,
    **dict.fromkeys(wrong_fails.STEERED, wrong_passes.FAILS),
}


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Yield the file of all programs, beside which is a module that is imported in a run."""
    with _package(tmp_path_factory.mktemp("known"), "own_known", _TEXT, late=_ADDS) as programs:
        yield programs


@contextmanager
def _package(folder: Path, name: str, programs: str, **others: str) -> Generator[Path]:
    """Write a package, yield the file of its programs, and forget what was imported of it."""
    package = folder / name
    package.mkdir()
    for module, text in {"__init__": "", "programs": programs, **others}.items():
        (package / f"{module}.py").write_text(text, encoding="utf-8")
    with patch.object(sys, "path", list(sys.path)):
        yield package / "programs.py"
    for module in [module for module in sys.modules if module.split(".")[0] == name]:
        del sys.modules[module]


def _verdict(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """Return the exit code by name, and all that was said."""
    code = ExitCode(main(list(words)))
    shown = capsys.readouterr()
    return f"{code.name}: {shown.out}{shown.err}"


@pytest.mark.parametrize("name", _WRONG)
def test_what_fails_in_python_does_not_pass(
    name: str, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    expected, said = _WRONG[name], _verdict(capsys, f"{file}:{name}")
    unseen = expected == wrong_passes.INCONCLUSIVE
    assert said.startswith((ExitCode.INCONCLUSIVE if unseen else ExitCode.FAIL).name), said
    assert expected in said.splitlines()[0]


@pytest.mark.parametrize("name", _WRONG)
def test_nor_does_it_in_the_search_for_data_races(
    name: str, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = _verdict(capsys, f"{file}:{name}", "--accesses", "races")
    assert said.startswith((ExitCode.FAIL.name, ExitCode.INCONCLUSIVE.name)), said


@pytest.mark.parametrize("accesses", ["steps", "races"])
@pytest.mark.parametrize("name", wrong_fails.RIGHT)
def test_what_is_right_passes(
    name: str, accesses: str, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = wrong_fails.RIGHT[name]
    said = _verdict(capsys, f"{file}:{name}", "--accesses", accesses, *options)
    assert said.startswith(ExitCode.PASS.name), said


def test_what_steers_the_steps_unseen_is_no_internal_error(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = _verdict(capsys, f"{file}:{wrong_fails.STEERED_UNSEEN}", "--instrument", "none")
    assert said.startswith(ExitCode.INCONCLUSIVE.name), said
    assert "state that is not seen steers the steps" in said


_CHANGED = """
import pathlib, threading
from own_changed import changed
file = pathlib.Path(changed.__file__)
file.write_text("\\n" + file.read_text())
class Box: n = 0
def program():
    lock, seen, box = threading.Lock(), Box(), Box()
    def work():
        with lock:
            seen.n += 1
        changed.add(box)
    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert box.n == 2
"""


@pytest.mark.parametrize("accesses", ["steps", "races"])
def test_a_module_that_changed_after_its_import_is_no_pass(
    accesses: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with _package(tmp_path, "own_changed", _CHANGED, changed=_ADDS) as programs:
        said = _verdict(capsys, f"{programs}:program", "--accesses", accesses)
    assert said.startswith(ExitCode.INCONCLUSIVE.name), said
    assert "changed.py, which has changed since it was imported" in said
