"""The benchmark of the producer runs and prints every figure; how large they are is nobody's test.

That all memory is back in the end is.
"""

import json
import subprocess
import sys
from pathlib import Path

from support.checkout import ROOT

BENCH = ROOT / "bench" / "producer.py"
LIMIT_SECONDS = 120


def test_producer_benchmark_prints_its_figures_and_loses_no_memory(tmp_path: Path) -> None:
    report = tmp_path / "figures.json"
    done = subprocess.run(
        [sys.executable, str(BENCH), "--quick", "--json", str(report)],
        capture_output=True,
        text=True,
        timeout=LIMIT_SECONDS,
        check=True,
    )
    assert "all memory back: True\n" in done.stdout
    for state in ("on", "off"):
        table = done.stdout.split(f"garbage collector {state}, in us\n")[1].splitlines()
        assert table[0].split() == ["partitions", "append", "ready", "drain"]
        for row, first in zip(table[1:4], ("10", "100", "last/first"), strict=True):
            name, *figures = row.split()
            assert name == first
            assert len(figures) == 3
            assert all(float(figure) > 0 for figure in figures)
    document: dict[str, object] = json.loads(report.read_text(encoding="utf-8"))
    assert document["schema"] == "wheelproof.bench/1"
    assert set(document) >= {"machine", "threads_pair", "partitions"}
