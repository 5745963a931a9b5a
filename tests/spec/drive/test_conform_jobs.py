"""Several processes of a driver give the result of one, whatever they answer."""

import shlex
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from support.drive.adapters import HEAPQ
from wheelproof_spec.base.errors import UsageError
from wheelproof_spec.base.results.verdicts import Verdict
from wheelproof_spec.components import registry
from wheelproof_spec.drive.conformance import conform
from wheelproof_spec.drive.plan import ConformancePlan
from wheelproof_spec.drive.result import ConformanceResult

_SUITE = registry.suites()["timer"]
_FOLLOWED = """
import os, pathlib, sys

log = pathlib.Path(sys.argv[1])
with log.open("a") as lines:
    lines.write(f"{os.getpid()}\\n")
seen = 0
for line in sys.stdin:
    with log.open("a") as lines:
        lines.write(f"{os.getpid()} {'reset' in line}\\n")
    seen += '"op":"add"' in line
    if 0 < int(sys.argv[2]) == seen:
        sys.exit(3)
    sys.stdout.write(answer(line))
    sys.stdout.flush()
    if '"op":"bye"' in line:
        break
"""
"""Behind the driver's own text: notes its process and each request, and dies at the nth add."""
_ANSWER = """
def answer(line, state={"timer": HeapTimer(1, 20, 0)}):
    request = json.loads(line)
    answer = {"id": request["id"], "ok": {}}
    if request["op"] == "hello":
        answer["ok"] = hello(request["schema"])
    elif request["op"] == "reset":
        state["timer"] = HeapTimer(**request["config"])
    elif request["op"] != "bye":
        answer["ok"] = getattr(state["timer"], request["op"])(**request.get("args", {}))
    return json.dumps(answer) + "\\n"
"""


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "log"


def _driver(log: Path, *, dies_at: int = 0, declares: bool = True) -> str:
    """Return a driver like python-heapq that says which of its processes was asked."""
    text = HEAPQ.read_text(encoding="utf-8").partition("def main()")[0] + _ANSWER + _FOLLOWED
    if not declares:
        text = text.replace('"several_processes"', '"another"')
    script = log.with_name("driver.py")
    script.write_text(text, encoding="utf-8")
    return shlex.join([sys.executable, "-I", str(script), str(log), str(dies_at)])


def _conform(driver: str, jobs: int, profile: str | None = None) -> ConformanceResult:
    """Return the result, without what is measured."""
    plan = ConformancePlan(driver=driver, profile=profile, cases=30, jobs=jobs)
    result = conform(_SUITE, plan)
    results = tuple(replace(one, seconds=0.0) for one in result.results)
    return replace(result, seconds=0.0, results=results)


def _processes(log: Path) -> Counter[str]:
    """Return how many cases each process was asked for, and forget it."""
    lines = log.read_text(encoding="utf-8").split("\n")[:-1]
    log.unlink()
    asked = Counter({line: 0 for line in lines if " " not in line})
    asked.update(line.partition(" ")[0] for line in lines if line.endswith("True"))
    return asked


def test_three_processes_share_the_cases_and_give_the_result_of_one(log: Path) -> None:
    driver = _driver(log)
    alone = _conform(driver, jobs=1)
    assert alone.verdict is Verdict.PASS
    (cases,) = _processes(log).values()
    assert _conform(driver, jobs=3) == alone
    shared = _processes(log)
    assert len(shared) == 3
    assert sum(shared.values()) == cases
    assert max(shared.values()) - min(shared.values()) <= 1


def test_a_failure_is_the_same_and_as_small(log: Path) -> None:
    driver = _driver(log)
    alone = _conform(driver, jobs=1, profile="never-early")
    assert alone.failures
    _processes(log)
    assert _conform(driver, jobs=2, profile="never-early") == alone
    assert len(_processes(log)) == 2


def test_a_driver_that_dies_is_asked_again_by_one_process(log: Path) -> None:
    driver = _driver(log, dies_at=100)
    alone = _conform(driver, jobs=1)
    assert alone.troubles
    _processes(log)
    assert _conform(driver, jobs=3) == alone
    assert len(_processes(log)) > 3


def test_a_driver_that_does_not_allow_it_is_driven_by_one_process_alone(log: Path) -> None:
    driver = _driver(log, declares=False)
    with pytest.raises(UsageError, match="does not declare the capability 'several_processes'"):
        _conform(driver, jobs=2)
    assert _conform(driver, jobs=1).verdict is Verdict.PASS
