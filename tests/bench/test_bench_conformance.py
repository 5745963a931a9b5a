"""The benchmark of the oracle runs and prints every figure; how large they are is nobody's test."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from support.checkout import ROOT

BENCH = ROOT / "bench" / "conformance.py"


@pytest.mark.long
def test_the_benchmark_prints_its_figures(tmp_path: Path) -> None:
    report = tmp_path / "figures.json"
    done = subprocess.run(
        [sys.executable, str(BENCH), "--quick", "--seed", "5", "--json", str(report)],
        capture_output=True,
        text=True,
        timeout=250,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    figures = (
        "last / first",
        "once parsed",
        "strict parsing",
        "beside TLC",
        "driven",
        "MiB",
    )
    for figure in figures:
        assert figure in done.stdout
    sections = json.loads(report.read_text(encoding="utf-8"))["sections"]
    histories, _, driven = (section["rows"] for section in sections)
    assert [row[0] for row in histories] == ["timer", "timer", "pool", "pool"]
    assert all(int(row[1].replace(",", "")) > 1_000 for row in driven)
