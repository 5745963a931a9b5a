"""The benchmark of the purgatory runs and prints every figure; how large they are is nobody's test.

That nothing is left in the end is.
"""

import json
import subprocess
import sys
from pathlib import Path

from support.checkout import ROOT

BENCH = ROOT / "bench" / "purgatory.py"
LIMIT_SECONDS = 120


def test_the_benchmark_prints_its_figures_and_leaves_nothing(tmp_path: Path) -> None:
    report = tmp_path / "figures.json"
    done = subprocess.run(
        [sys.executable, str(BENCH), "--quick", "--seed", "5", "--json", str(report)],
        capture_output=True,
        text=True,
        timeout=LIMIT_SECONDS,
        check=True,
    )
    for state in ("off", "on"):
        table = done.stdout.split(f"garbage collector {state}\n")[1].splitlines()
        assert table[0].split()[:4] == ["pending", "watch", "complete", "end"]
        for row, pending in zip(table[1:3], ("100", "1,000"), strict=True):
            first, *figures = row.split()
            assert first == pending
            assert all(float(figure.replace(",", "")) > 0 for figure in figures[:6])
    assert "left in the end (watches, keys, time-outs): (0, 0, 0)\n" in done.stdout
    document: dict[str, object] = json.loads(report.read_text(encoding="utf-8"))
    assert document["schema"] == "wheelproof.bench/1"
    assert set(document) >= {"machine", "seed", "peak_mib", "costs"}
