"""The benchmark of the pipeline runs and prints every figure; nobody tests how large."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from support.checkout import ROOT

BENCH = ROOT / "bench" / "pipeline.py"


@pytest.mark.hunt
def test_the_benchmark_of_the_pipeline_prints_its_figures(tmp_path: Path) -> None:
    report = tmp_path / "figures.json"
    words = ["--quick", "--seed", "5", "--master", "local[1]", "--json", str(report)]
    # The masters are left to those who measure: tests/pipeline has a cluster of its own.
    words += [word for part in ("one", "many") for word in ("--only", part)]
    done = subprocess.run(
        [sys.executable, str(BENCH), *words], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    for job in ("read, parse, judge where it is read", "pipeline check, files to tables"):
        assert done.stdout.count(job) == 2
    assert "cost of a line, large / small" in done.stdout
    sections = json.loads(report.read_text(encoding="utf-8"))["sections"]
    assert [len(section["rows"]) for section in sections] == [1, 4]
    assert [len(section["notes"]) for section in sections] == [1, 3]
