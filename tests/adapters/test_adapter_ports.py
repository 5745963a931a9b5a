"""Ports from the registries: what they are judged, and what docs/findings/ports.md says of them."""

import json
import re
import shlex
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from support.checkout import ROOT
from support.drive.adapters import conform
from support.toolchains import require
from wheelproof_lab.publish.verdicts.measure import Extent, measure
from wheelproof_lab.publish.verdicts.subjects import (
    DEVIATIONS,
    IMPLEMENTATIONS,
    Implementation,
)
from wheelproof_spec.app.recorded import judge_lines
from wheelproof_spec.base.results.verdicts import Verdict
from wheelproof_spec.components.registry import suites
from wheelproof_spec.drive import conformance
from wheelproof_spec.drive.plan import ConformancePlan
from wheelproof_spec.history.checkers import CheckOptions
from wheelproof_spec.history.reader import read_lines

pytestmark = pytest.mark.long

FINDINGS = (ROOT / "docs" / "findings" / "ports.md").read_text(encoding="utf-8")
PORTS = [
    one
    for one in IMPLEMENTATIONS
    if any("/ports-" in word for word in (*one.driver, *(one.recorder or ())))
]
TOOLS = {
    "ports-go": ("go",),
    "ports-java": ("mvn",),
    "ports-rust": ("cargo",),
    "ports-node": ("node", "npm"),
}
WRONG = {
    "kafka-python": "Accumulator.DrainPassesNobodyOverForLong",
    "go-zero": "Timer.NothingDueIsLeftBehind",
    "timer-wheel": "Timer.NothingDueIsLeftBehind",
}


def _built(driver: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    """Build a port from its registry, if its toolchain works."""
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("PYTHON", sys.executable)
    folder = Path(driver[0]).parent.name
    if not folder.startswith("ports-"):
        return
    # The set-up builds what is in Java; it may have a Maven that is not on the PATH.
    if not any((ROOT / "adapters" / folder / "target").glob("*.jar")):
        require(*TOOLS.get(folder, ()))
    built = subprocess.run([driver[0], "build"], capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr


@pytest.mark.parametrize("port", [one for one in PORTS if one.driver], ids=lambda port: port.name)
def test_a_port_is_judged_as_the_page_says(
    port: Implementation, monkeypatch: pytest.MonkeyPatch
) -> None:
    _built(port.driver, monkeypatch)
    (run,) = port.driven
    skip = None if run.skip is None else Path(run.skip)
    cases = 300 if port.name in WRONG else 60
    result = conform(shlex.join(port.driver), cases, skip, run.profile, run.component)
    broken = {failure.violation.rule for failure in result.failures}
    assert broken == ({WRONG[port.name]} if port.name in WRONG else set())
    assert result.verdict is (Verdict.FAIL if port.name in WRONG else Verdict.PASS)
    assert result.not_applicable


@pytest.mark.parametrize("name", [one.name for one in PORTS if one.recorder])
def test_a_port_with_threads_is_recorded_and_judged(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    port = next(one for one in PORTS if one.name == name)
    assert port.recorder is not None
    _built(port.recorder, monkeypatch)
    small = Extent(cases=1, operations=800, threads=4, histories=2, seed=3)
    (measured,) = measure([replace(port, driven=())], small, tmp_path, lambda _: None)
    (recorded,) = measured.recorded
    # Finding 48 needs luck: it may be there or not.
    known = {one.clauses for one in DEVIATIONS if one.implementation == name}
    broken = {one.violation.rule for one in recorded.verdicts if one.violation}
    assert broken <= {clause for clauses in known for clause in clauses}
    assert sum(one.events for one in recorded.verdicts) > recorded.calls.total()
    # A recorder that draws its own calls does not close its timer.
    closes = ("close",) if "load" in port.recorder else ()
    assert all(recorded.calls[call] for call in ("add", "cancel", *closes, "run"))


def test_agrona_passes_but_for_the_order_of_its_spokes(
    agrona: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    limits = Path(agrona).parent / "known-limits.txt"
    result = conform(agrona, 30, limits, "exact", must_fail=True)
    assert result.verdict is Verdict.PASS


@pytest.mark.parametrize("story", re.findall(r"^```\n(\$ .*?)^```", FINDINGS, re.M | re.S))
def test_a_finding_repeats_itself(story: str, agrona: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert Path(agrona).is_file()
    command, *lines = story.splitlines()
    driver = tuple(shlex.split(command.removeprefix("$ ")))
    _built(driver, monkeypatch)
    asked = "".join(f"{line[2:]}\n" for line in lines if line.startswith("> "))
    told = [json.loads(line[2:]) for line in lines if line.startswith("< ")]
    ended = subprocess.run(
        driver, input=asked, capture_output=True, text=True, check=False, timeout=60
    )
    seen = [json.loads(line) for line in ended.stdout.splitlines()]
    assert seen == told
    assert (ended.returncode != 0) is (len(told) < asked.count("\n"))


def test_the_history_of_a_finding_fails_as_it_says(tmp_path: Path) -> None:
    (lines,) = re.findall(r"^```\n(\{.*?)^```", FINDINGS, re.M | re.S)
    run = tmp_path / "run.jsonl"
    run.write_text(lines, encoding="utf-8")
    (verdict,) = judge_lines(str(run), read_lines(run), CheckOptions(profile="kafka")).verdicts
    assert verdict.violation is not None
    assert verdict.violation.rule == "Timer.NeverBeforeItIsDue"


@pytest.mark.parametrize(("folder", "tool"), [("go", "Go"), ("rust", "Cargo"), ("node", "npm")])
def test_a_port_without_its_toolchain_says_so(folder: str, tool: str, tmp_path: Path) -> None:
    (tmp_path / "dirname").symlink_to("/usr/bin/dirname")
    driver = ROOT / "adapters" / f"ports-{folder}" / "run"
    ended = subprocess.run(
        ["/bin/sh", driver, "build"],
        env={"PATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 2
    assert f"no {tool} was found; install" in ended.stderr


LEFT_WAITING = """\
{"id":1,"op":"reset","component":"buffer_pool","config":{"total_memory":1,"poolable_size":1,"start_ms":0}}
{"id":2,"op":"allocate","caller":"a","args":{"buffer":"a","size":1,"max_time_to_block_ms":9}}
{"id":3,"op":"advance","args":{"to_ms":0}}
{"id":4,"op":"allocate","caller":"b","args":{"buffer":"b","size":1,"max_time_to_block_ms":9}}
{"id":5,"op":"advance","args":{"to_ms":0}}
{"id":6,"op":"allocate","caller":"c","args":{"buffer":"c","size":1,"max_time_to_block_ms":9}}
{"id":7,"op":"advance","args":{"to_ms":0}}
{"id":8,"op":"deallocate","caller":"a","args":{"buffer":"a"}}
{"id":9,"op":"interrupt","caller":"d","args":{"name":"b"}}
{"id":10,"op":"advance","args":{"to_ms":0}}
"""


@pytest.mark.parametrize(
    "driver", ["adapters/ports-python/run redis", "adapters/ports-node/run tarn"]
)
def test_a_waiter_that_gives_up_as_its_resource_comes_leaves_nobody_waiting(
    driver: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if "redis" in driver and sys.version_info >= (3, 13):
        pytest.skip("asyncio hands the notification on")
    _built(tuple(driver.split()), monkeypatch)
    case = tmp_path / "case.jsonl"
    case.write_text(LEFT_WAITING, encoding="utf-8")
    plan = ConformancePlan(driver=f"{driver} concurrent", case=case)
    result = conformance.conform(suites()["buffer_pool"], plan)
    broken = [failure.violation.rule for failure in result.failures]
    assert broken == ["BufferPool.NobodyWaitsForWhatIsThere"]
