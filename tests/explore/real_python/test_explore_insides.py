"""What belongs to Python's own classes: their code changes it, and who looks there sees that.

In the search for data races as well: what their special methods read is a look of theirs.
"""

import ast
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Literal

import pytest

from support.explore.exploring import beside_installed
from support.explore.programs import attributes, containers, insides, threads_and_tasks
from wheelproof_explore.failures.problems import ProgramRejectedError
from wheelproof_explore.library import explore
from wheelproof_explore.verdicts import Verdict

pytestmark = pytest.mark.usefixtures("unshrunk")

_OWN = "".join(one.PROGRAMS for one in (insides, attributes, containers, threads_and_tasks))
_KINDS = ("wrong", "right", "unknown", "refused")
_PROGRAMS: dict[str, ast.stmt] = {
    one.name: one
    for one in ast.parse(_OWN).body
    if isinstance(one, ast.FunctionDef) and one.name.startswith(_KINDS)
}


def _named(what: str) -> list[str]:
    return [name for name in _PROGRAMS if name.startswith(f"{what}_")]


@pytest.fixture
def own(tmp_path: Path, name: str) -> Iterator[ModuleType]:
    """The module without the other programs: each run brings back all that a module has."""
    lines: list[str] = [*_OWN.splitlines()]
    for other, one in _PROGRAMS.items():
        if other != name:
            end = one.end_lineno or one.lineno
            lines[one.lineno - 1 : end] = [""] * (end - one.lineno + 1)
    with beside_installed(tmp_path, {}, "own_insides", "\n".join(lines)) as module:
        yield module


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("name", _named("wrong"))
def test_what_the_code_of_python_changes_is_seen(own: ModuleType, name: str) -> None:
    exploration = explore(getattr(own, name))
    found = exploration.counterexample
    assert found is not None
    assert "AssertionError" in found.failure.message


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("name", _named("wrong"))
def test_it_is_no_pass_in_the_search_for_data_races(own: ModuleType, name: str) -> None:
    assert explore(getattr(own, name), accesses="races").verdict() is not Verdict.PASS


@pytest.mark.parametrize("accesses", ["steps", "races"])
@pytest.mark.parametrize("name", _named("unknown"))
def test_what_a_model_stands_for_is_no_pass(
    own: ModuleType, name: str, accesses: Literal["steps", "races"]
) -> None:
    exploration = explore(getattr(own, name), accesses=accesses)
    assert exploration.verdict() is Verdict.INCONCLUSIVE, exploration.summary()


@pytest.mark.parametrize("name", _named("refused"))
def test_what_may_have_failed_by_what_is_kept_alive_is_refused(own: ModuleType, name: str) -> None:
    with pytest.raises(ProgramRejectedError, match="kept a Finalised alive"):
        explore(getattr(own, name))


_LATE = """
import sys, threading
def work(): import late_module
def look():
    one, other = "late_module" in sys.modules, "late_module" in sys.modules
    assert one == other
def program():
    threads = [threading.Thread(target=one) for one in (look, work)]
    for one in threads: one.start()
    for one in threads: one.join()
"""


@pytest.mark.parametrize("accesses", ["steps", "races"])
def test_what_imports_change_is_no_pass(
    tmp_path: Path, accesses: Literal["steps", "races"]
) -> None:
    with beside_installed(tmp_path, {"late_module": ""}, "own_late", _LATE) as module:
        exploration = explore(module.program, accesses=accesses)
    assert exploration.verdict() is Verdict.INCONCLUSIVE, exploration.summary()


@pytest.mark.parametrize("name", _named("right"))
def test_what_is_right_passes(own: ModuleType, name: str) -> None:
    exploration = explore(getattr(own, name))
    assert exploration.verdict() is Verdict.PASS, exploration.summary()
