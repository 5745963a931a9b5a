"""The benchmark of what was promised has every figure; how large they are is nobody's test.

What is counted and not timed is.
"""

import json
import math
import subprocess
import sys
from dataclasses import dataclass

import pytest

from support.checkout import ROOT

pytestmark = pytest.mark.slow

BENCH = ROOT / "bench" / "performance.py"
PAGE = ROOT / "docs" / "sources" / "performance.md"
LIMIT_SECONDS = 250


@dataclass(frozen=True, slots=True)
class _Run:
    printed: str
    rows: dict[str, list[list[str]]]


@pytest.fixture(scope="module", name="run")
def _quick_run(tmp_path_factory: pytest.TempPathFactory) -> _Run:
    report = tmp_path_factory.mktemp("bench") / "figures.json"
    done = subprocess.run(
        [sys.executable, str(BENCH), "--quick", "--seed", "5", "--json", str(report)],
        capture_output=True,
        text=True,
        timeout=LIMIT_SECONDS,
        check=True,
    )
    sections = json.loads(report.read_text(encoding="utf-8"))["sections"]
    return _Run(done.stdout, {section["title"]: section["rows"] for section in sections})


def _figure(cell: str) -> float:
    return float(cell.replace(",", "").removesuffix("%"))


def test_the_page_has_the_sections_that_the_benchmark_prints(run: _Run) -> None:
    page = PAGE.read_text(encoding="utf-8")
    for title in run.rows:
        assert f"\n## {title}\n" in page
        assert f"\n## {title}\n" in run.printed
    assert page.count("\n## ") == len(run.rows)
    assert "Made by `python bench/performance.py --write` on " in page


def test_every_figure_is_there(run: _Run) -> None:
    for rows in run.rows.values():
        assert rows
        # Some are differences of two measured times: on a busy machine those may be negative.
        assert all(math.isfinite(_figure(cell)) for row in rows for cell in row[1:])


@pytest.mark.repeats("c-old-delay-queue", "c-old-memory", "c-old-purge")
def test_the_old_purgatory_keeps_what_is_done(run: _Run) -> None:
    rows = run.rows["The purgatory against one built on a delay queue"]
    assert len(rows) == 8
    for name, *_, today, old in rows:
        waiting, interval = name.split(", ")[0], name.rpartition(" ")[2]
        assert _figure(today) == _figure(waiting)
        # Three thousand and more are done: all are kept, or those of an interval and of a pass.
        kept = _figure(old) - _figure(waiting)
        assert min(_figure(interval), 3_000) - 1 <= kept <= min(_figure(interval), 3_600) + 200


@pytest.mark.repeats("c-idle")
def test_an_idle_timer_wakes_up_five_times_a_second_and_not_a_thousand(run: _Run) -> None:
    assert run.rows["Wake-ups of an idle timer"][0] == ["0", "300", "60,000", "0.005"]
