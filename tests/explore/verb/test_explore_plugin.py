"""The pytest plugin, in tests of a user."""

import re
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from wheelproof_explore.page.page import render_exploration
from wheelproof_lab.worlds.classics import lost_update

pytestmark = pytest.mark.slow

pytest_plugins = ("pytester",)

_USED = (render_exploration, lost_update)
"""Imported here, so that not every test within a test imports them anew."""


@pytest.fixture(autouse=True)
def _no_other_plugins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")


_HEAD = """
from functools import partial
from wheelproof import sync
from wheelproof_explore.program import Scenario
from wheelproof_lab.worlds.classics import increments, lost_update
"""
_LOSES = """
def test_counts(explore):
    explore(lost_update)
"""
_PASSES = """
def test_two_locked_increments(explore):
    def scenario():
        lock, counter = sync.lock("lock"), sync.volatile(0, "counter")

        def increment():
            with lock:
                counter.set(counter.get() + 1)

        def check():
            assert counter.get() == 2

        return Scenario(threads={"a": increment, "b": increment}, check=check)

    certificate = explore(scenario)
    assert certificate.classes == 2
"""


def _run(pytester: pytest.Pytester, body: str, *options: str) -> pytest.RunResult:
    pytester.makepyfile(test_user=_HEAD + body)
    plugin = "wheelproof_explore.pytest_plugin"
    return pytester.runpytest_inprocess("-p", "no:cacheprovider", "-p", plugin, *options)


def _printed(result: pytest.RunResult) -> str:
    return "\n".join(result.outlines)


def _schedule(result: pytest.RunResult) -> str:
    found = re.search(r"--explore-replay (wp1\S+)", _printed(result))
    assert found is not None
    return found[1]


def test_the_plugin_is_installed_with_the_package() -> None:
    (found,) = entry_points(group="pytest11", name="wheelproof")
    assert found.value == "wheelproof_explore.pytest_plugin"


def test_a_program_that_holds_passes_and_gives_its_certificate(pytester: pytest.Pytester) -> None:
    _run(pytester, _PASSES).assert_outcomes(passed=1)


def test_a_failure_shows_the_table_and_how_to_repeat_it(pytester: pytest.Pytester) -> None:
    result = _run(pytester, _LOSES)
    result.assert_outcomes(failed=1)
    printed = _printed(result)
    assert "1 after 2 increments" in printed
    assert re.search(r"step +t0 +t1", printed)
    assert "default schedule, except: at step 2 t0 -> t1" in printed
    assert "repeat: pytest test_user.py::test_counts --explore-replay wp1-" in printed
    assert "explorer.py" not in printed


def test_a_schedule_string_repeats_one_run(pytester: pytest.Pytester) -> None:
    schedule = _schedule(_run(pytester, _LOSES))
    again = _run(pytester, _LOSES + _PASSES, "--explore-replay", schedule)
    again.assert_outcomes(failed=1, passed=1)
    assert "(run 1)" in _printed(again)


def test_a_schedule_string_can_stay_in_the_test(pytester: pytest.Pytester) -> None:
    schedule = _schedule(_run(pytester, _LOSES))
    replaying = _LOSES.replace("lost_update)", f"lost_update, replay={schedule!r})")
    assert "(run 1)" in _printed(_run(pytester, replaying))


def test_a_page_is_written_for_what_fails(pytester: pytest.Pytester, tmp_path: Path) -> None:
    result = _run(pytester, _LOSES + _PASSES, "--explore-html", str(tmp_path / "pages"))
    (page,) = (tmp_path / "pages").iterdir()
    assert page.name == "test_user.py-test_counts.html"
    assert str(page) in _printed(result)


def test_a_bound_makes_it_inconclusive_which_is_no_pass(pytester: pytest.Pytester) -> None:
    body = """
def test_many(explore):
    explore(partial(increments, 3), max_runs=5)
"""
    result = _run(pytester, body)
    result.assert_outcomes(failed=1)
    assert "inconclusive: the bound on runs was reached after 5 runs" in _printed(result)


def test_samples_look_for_failures_only(pytester: pytest.Pytester) -> None:
    body = """
def test_samples(explore):
    assert explore(partial(increments, 3), samples=20).runs == 20

def test_finds(explore):
    explore(lost_update, samples=200, seed=3)
"""
    _run(pytester, body).assert_outcomes(passed=1, failed=1)


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ("explore(lost_update, replay='nonsense')", "this is no schedule string"),
        ("explore(lambda: 1 / 0)", "exception in main: ZeroDivisionError"),
        ("explore(3)", "3 is no function"),
    ],
)
def test_what_cannot_be_explored_fails_with_a_sentence(
    pytester: pytest.Pytester, body: str, sentence: str
) -> None:
    result = _run(pytester, f"\ndef test_it(explore):\n    {body}\n")
    result.assert_outcomes(failed=1)
    assert sentence in _printed(result)
    assert "Traceback" not in _printed(result)


def test_a_damaged_schedule_string_ends_the_session(pytester: pytest.Pytester) -> None:
    result = _run(pytester, _LOSES, "--explore-replay", "nonsense")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*--explore-replay: *no schedule string*"])


def test_without_greenlet_a_sentence_says_what_to_install(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "greenlet", None)
    result = _run(pytester, _LOSES)
    result.assert_outcomes(failed=1)
    assert "pip install '.[explore]'" in _printed(result)


def test_the_plugin_imports_nothing_but_pytest_until_it_is_used() -> None:
    program = (
        "import sys, wheelproof_explore.pytest_plugin\n"
        "ours = [name for name in sys.modules if name.startswith('wheelproof')]\n"
        "print(*sorted(ours), 'greenlet' in sys.modules)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == [
        "wheelproof_explore",
        "wheelproof_explore.pytest_plugin",
        "False",
    ]


def test_hypothesis_draws_what_is_explored(pytester: pytest.Pytester) -> None:
    drawn = """
from hypothesis import given, settings, strategies as st
from wheelproof_lab.worlds.classics import last_zero

quick = settings(database=None, deadline=None, max_examples=3)

@quick
@given(st.integers(2, 3))
def test_any_number(explore, numbers):
    explore(partial(last_zero, numbers))

@quick
@given(st.booleans())
def test_one_of_two(explore, loses):
    explore(lost_update if loses else partial(increments, 2))
"""
    result = _run(pytester, drawn)
    result.assert_outcomes(passed=1, failed=1)
    assert "repeat: pytest test_user.py::test_one_of_two --explore-replay wp1-" in _printed(result)
