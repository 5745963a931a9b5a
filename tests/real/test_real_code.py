"""Released code that nobody here wrote, unchanged, in every interleaving of small programs."""

import importlib.util
import os
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest

from support.checkout import ROOT
from wheelproof_explore.explorer import explore
from wheelproof_explore.instrument.loading import NOTHING
from wheelproof_explore.tasks.imported import imported
from wheelproof_explore.verdicts import Verdict

pytestmark = pytest.mark.slow

_RELEASED = {
    "cachetools": "8.0.1",
    "circuitbreaker": "2.1.3",
    "expiringdict": "1.2.2",
    "kafka-python": "2.0.2",
    "readerwriterlock": "1.0.10",
}
_PASS = {
    "cachetools_condition": 6,
    "expiringdict_items": 3,
    "pool_of_threads": 92,
    "queue_fifo": 28,
    "queue_join": 3,
    "queue_lifo": 28,
    "queue_priority": 28,
    "queue_simple": 24,
    "queue_times_out": 13,
    "rwlock_fair": 6,
    "rwlock_read": 6,
    "rwlock_write": 22,
}
"""How many classes of interleavings each one has."""
_NEWEST = (
    "flush",
    "get_and_split",
    "callback",
    "flush_and_split",
    "FLUSH_IN_TIME",
    "ready_without_data",
)
"""The programs around kafka-python 3, which is installed beside the other packages."""
_NEWEST_PASS = {"flush": 3, "get_and_split": 6, "callback": 2}
_FAIL = {
    "wait_for_swallows_a_cancellation": "cancel() answered True, and the task went on",
    "KAFKA_POOL_IN_TIME": "given 5000 ms, timed out after 0 ms",
    "cachetools_cached": "called 2 times for one key",
    "expiringdict_iteration": "OrderedDict mutated during iteration",
    "kafka_pool": "is not in deque",
    "pool_waits_for_itself": "nobody will notify it",
}


@pytest.fixture(autouse=True)
def _programs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [str(ROOT / "docs" / "real-code"), *sys.path])
    for name, released in _RELEASED.items():
        try:
            found = version(name)
        except PackageNotFoundError:
            found = "nothing"
        if found != released:
            message = f"{name} {released} is judged here, and {found} is installed"
            if "CI" in os.environ:
                pytest.fail(message)
            pytest.skip(message)


@pytest.mark.parametrize("name", _PASS)
def test_released_code_that_passes(name: str) -> None:
    result = explore(imported(f"programs:{name}", instrument=[NOTHING]))
    assert (result.verdict(), result.classes) == (Verdict.PASS, _PASS[name]), result.summary()


@pytest.mark.parametrize("name", _FAIL)
def test_released_code_that_fails(name: str) -> None:
    result = explore(imported(f"programs:{name}", instrument=[NOTHING]))
    assert result.counterexample is not None, result.summary()
    assert _FAIL[name] in result.summary()
    assert len(result.counterexample.steps) <= 40


def test_a_finding_says_what_the_pool_does() -> None:
    program = "programs:kafka_pool_out_of_turn"
    result = explore(imported(program, instrument=[NOTHING]))
    assert _told(f"{program}: fail, {result.summary().splitlines()[0]}")


def _told(said: str) -> bool:
    """Tell whether a block of the findings is this line."""
    findings = ROOT / "docs" / "findings" / "ports.md"
    return f"```\n{said}\n```" in findings.read_text(encoding="utf-8")


@pytest.mark.parametrize("steps", [False, True])
def test_released_code_without_a_lock(*, steps: bool) -> None:
    packages = ["circuitbreaker"]
    name = "programs:circuitbreaker_counts"
    accesses = "steps" if steps else "races"
    result = explore(imported(name, instrument=packages, accesses=accesses))
    said = "2 failures, counted 1" if steps else "data race: CircuitBreaker._last_failure"
    assert said in result.summary()


def test_the_first_counterexample_is_short() -> None:
    result = explore(imported("programs:KAFKA_POOL_IN_TIME"))
    found = result.counterexample
    assert found is not None
    assert (result.runs, len(found.steps), len(found.deviations)) == (8, 21, 2)


def test_what_is_judged_is_what_was_released() -> None:
    imported("programs:kafka_pool", instrument=[NOTHING])
    programs = sys.modules["programs"]
    module = programs.pool_module()
    found = importlib.util.find_spec("cachetools")
    assert found is not None
    assert found.origin is not None
    assert Path(module.__file__).is_relative_to(Path(found.origin).parents[1])


@pytest.mark.parametrize("name", _NEWEST)
def test_the_newest_kafka_python(name: str) -> None:
    port = ROOT / "adapters" / "ports-python"
    environment = {**os.environ, "PYTHON": sys.executable}
    built = subprocess.run(
        [port / "run", "build"], capture_output=True, text=True, check=False, env=environment
    )
    if built.returncode and "CI" not in os.environ:
        pytest.skip(f"kafka-python 3.0.12 cannot be installed: {built.stderr.strip()}")
    assert built.returncode == 0, built.stderr
    path = (port / "target" / "3.0.12", *(ROOT / one for one in ("reference", "spec")))
    words = ["-m", "wheelproof_spec", "explore", f"kafka_python_3:{name}", "--instrument", NOTHING]
    explored = subprocess.run(
        [sys.executable, *words],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT / "docs" / "real-code",
        env={**environment, "PYTHONPATH": os.pathsep.join(map(str, path))},
    )
    said = explored.stdout.splitlines()[0]
    if name in _NEWEST_PASS:
        assert f": pass, all {_NEWEST_PASS[name]} classes," in said
    else:
        assert _told(said)
