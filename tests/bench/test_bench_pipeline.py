"""The benchmark of the pipeline runs and prints every figure; nobody tests how large."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

BENCH = Path(__file__).resolve().parents[2] / "bench" / "pipeline.py"


@pytest.mark.slow
def test_the_benchmark_of_the_pipeline_prints_its_figures(tmp_path: Path) -> None:
    report = tmp_path / "figures.json"
    words = ["--events", "2000", "--seed", "5", "--master", "local[1]", "--json", str(report)]
    done = subprocess.run(
        [sys.executable, str(BENCH), *words], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    for figure in ("parse + shuffle + sort", "files to tables", "of the speed", "MiB"):
        assert figure in done.stdout
    document = json.loads(report.read_text(encoding="utf-8"))
    assert len(document["speeds"]) == 3
