"""The benchmark of the producer runs and prints every figure; how large they are is nobody's test.

That all memory is back in the end is.
"""

import json
import subprocess
import sys
from pathlib import Path

from support.checkout import ROOT

BENCH = ROOT / "bench" / "producer.py"
LIMIT_SECONDS = 250


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
    document = json.loads(report.read_text(encoding="utf-8"))
    assert document["schema"] == "wheelproof.bench/1"
    shared, *by_state = document["sections"]
    assert len(shared["rows"]) == 1
    assert ["collector on" in one["title"] for one in by_state] == [True, False]
    for section in by_state:
        assert section["head"] == ["partitions", "append", "ready", "drain"]
        assert [row[0] for row in section["rows"]] == ["10", "100", "last/first"]
        assert all(float(cell) > 0 for row in section["rows"] for cell in row[1:])
