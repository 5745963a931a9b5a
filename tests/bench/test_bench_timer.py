"""The benchmark of the timer runs and prints every figure; how large they are is nobody's test."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Sized

import pytest

from support.checkout import ROOT

BENCH = ROOT / "bench" / "timer.py"
CONTESTANTS = ("wheelproof SystemTimer", "heapq, lazy deletion", "asyncio call_later")
LIMIT_SECONDS = 120


def _run(*arguments: str) -> tuple[int, str, str]:
    process = subprocess.Popen(
        [sys.executable, str(BENCH), *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        output, errors = process.communicate(timeout=LIMIT_SECONDS)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
    return process.returncode, output, errors


@pytest.fixture(scope="module", name="run")
def _quick_run(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, dict[str, object]]:
    report = tmp_path_factory.mktemp("bench") / "figures.json"
    code, output, errors = _run("--quick", "--rounds", "1", "--seed", "5", "--json", str(report))
    assert code == 0, errors
    document: dict[str, object] = json.loads(report.read_text(encoding="utf-8"))
    return output, document


def _section(output: str, title: str) -> list[str]:
    sections = [part.splitlines() for part in output.split("\n\n")]
    return next(lines for lines in sections if lines[0].startswith(title))


def test_head_names_the_machine_and_the_seed(run: tuple[str, dict[str, object]]) -> None:
    head = run[0].split("\n\n")[0]
    assert "cores" in head
    assert "CPython" in head or "PyPy" in head
    assert "seed 5" in head


@pytest.mark.parametrize("title", ["add + cancel of one timer", "the life of one timer"])
def test_costs_have_a_row_for_each_contestant_and_state_of_the_collector(
    run: tuple[str, dict[str, object]], title: str
) -> None:
    lines = _section(run[0], title)
    assert lines[1].split() == ["100", "1,000", "last/first"]
    for contestant in CONTESTANTS:
        for state in ("gc on", "gc off"):
            label = f"{contestant}, {state}"
            figures = next(line for line in lines if line.startswith(label))[len(label) :].split()
            assert len(figures) == 3
            assert all(float(figure) > 0 for figure in figures)


def test_bytes_have_a_row_for_each_contestant(run: tuple[str, dict[str, object]]) -> None:
    lines = _section(run[0], "bytes of one timer")
    assert [line[:36].rstrip() for line in lines[1:]] == list(CONTESTANTS)
    assert all(int(line[36:]) > 0 for line in lines[1:])


def test_sync_layer_is_set_against_bare_threading(run: tuple[str, dict[str, object]]) -> None:
    lines = _section(run[0], "add + cancel on a TimingWheel")
    assert [line[:36].rstrip() for line in lines[1:]] == [
        "wheelproof.sync",
        "bare threading",
        "ratio",
    ]


def test_json_holds_the_same_figures(run: tuple[str, dict[str, object]]) -> None:
    document = run[1]
    assert document["schema"] == "wheelproof.bench/1"
    costs = document["costs"]
    assert isinstance(costs, Sized)
    assert len(costs) == len(CONTESTANTS) * 2 * 2
    assert set(document) >= {"machine", "workload", "bytes_a_timer", "sync_layer"}


def test_rounds_below_one_are_refused() -> None:
    code, output, errors = _run("--rounds", "0")
    assert code == 2
    assert output == ""
    assert "--rounds" in errors
