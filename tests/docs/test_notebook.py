"""The notebook of the first hour does what it shows; `support.notebook` runs it without Jupyter."""

import json
import os
import re
import sys
from pathlib import Path

import pytest

from support.checkout import ROOT
from support.notebook import Cell, NotebookError, code_cells, run

NOTEBOOK = ROOT / "docs" / "notebooks" / "first-hour.ipynb"


def _environment() -> dict[str, str]:
    here = Path(sys.executable).parent
    return {**os.environ, "PATH": f"{here}{os.pathsep}{os.environ['PATH']}", "COLUMNS": "120"}


@pytest.mark.slow
def test_every_cell_prints_what_it_shows(tmp_path: Path) -> None:
    cells = code_cells(NOTEBOOK)
    printed = run(cells, tmp_path, _environment())
    assert printed == [cell.shown for cell in cells]


def test_a_wheel_moves_a_race_is_found_and_a_recording_is_judged() -> None:
    shown = "\n".join(cell.shown for cell in code_cells(NOTEBOOK))
    for part in ("d, due at 23 ms, runs at 23 ms", "account.py:two_customers: fail", "PASS:"):
        assert part in shown
    assert "Timer.RunsAtMostOncePerAdd is broken" in shown


def test_its_links_lead_somewhere() -> None:
    links = re.findall(r"\]\(([^)#:]+)", NOTEBOOK.read_text(encoding="utf-8"))
    assert len(links) > 3
    assert [link for link in links if not (NOTEBOOK.parent / link).exists()] == []


def test_the_runner_tells_output_and_keeps_the_order(tmp_path: Path) -> None:
    cells = [Cell("n = 2\nprint(n)", ""), Cell("!echo $((1 + 2))\nprint(n * 2)", ""), Cell("", "")]
    assert run(cells, tmp_path, _environment()) == ["2\n", "3\n4\n", ""]


@pytest.mark.parametrize(
    ("code", "problem"), [("1 / 0", "ZeroDivisionError"), ("1 + 1", "a value that is not printed")]
)
def test_what_jupyter_would_show_otherwise_is_an_error(
    code: str, problem: str, tmp_path: Path
) -> None:
    with pytest.raises(NotebookError, match=problem):
        run([Cell("print(1)", "1\n"), Cell(code, "")], tmp_path, _environment())


@pytest.mark.parametrize(
    ("field", "value", "problem"),
    [
        ("nbformat_minor", 4, "format 4.5"),
        ("cells", [{"id": "a", "source": "", "cell_type": "raw"}], "a cell is raw"),
        ("cells", [{"id": "a", "source": "", "cell_type": "markdown"}] * 2, "two cells"),
    ],
)
def test_what_is_no_notebook_is_an_error(
    field: str, value: object, problem: str, tmp_path: Path
) -> None:
    document = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    path = tmp_path / "n.ipynb"
    path.write_text(json.dumps({**document, field: value}), encoding="utf-8")
    with pytest.raises(NotebookError, match=problem):
        code_cells(path)
