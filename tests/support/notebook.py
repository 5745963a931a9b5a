"""Runs a Jupyter notebook without Jupyter: its cells, in order, in one fresh interpreter.

A cell is Python that prints, and lines that begin with `!` go to a shell, as they do in Jupyter. A
cell that ends with a value is refused: Jupyter shows it, and nothing here does.
"""

import ast
import json
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NotRequired, TypedDict

_MARK = "=== the end of a cell ==="
_SHELL = """
import subprocess as _subprocess

def _shell(command):
    done = _subprocess.run(["sh", "-c", command], stdout=-1, stderr=-2, text=True, check=False)
    print(done.stdout, end="")
"""


class NotebookError(Exception):
    """A file that is no notebook, or one that does not run as Jupyter would run it."""


class _Output(TypedDict):
    output_type: str
    text: NotRequired[str | list[str]]


class _Cell(TypedDict):
    id: str
    cell_type: str
    source: str | list[str]
    outputs: NotRequired[list[_Output]]


class _Document(TypedDict):
    nbformat: int
    nbformat_minor: int
    cells: list[_Cell]


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of code, and the text that the notebook has as its output."""

    code: str
    shown: str


def code_cells(notebook: Path) -> list[Cell]:
    """Return the cells of code; raise `NotebookError` if the file is not what Jupyter writes."""
    document: _Document = json.loads(notebook.read_text(encoding="utf-8"))
    if (document["nbformat"], document["nbformat_minor"]) != (4, 5):
        raise NotebookError("it is not of the format 4.5")
    cells = document["cells"]
    if len({cell["id"] for cell in cells}) < len(cells):
        raise NotebookError("two cells have one id")
    strange = [kind for cell in cells if (kind := cell["cell_type"]) not in ("markdown", "code")]
    if strange:
        raise NotebookError(f"a cell is {strange[0]}")
    return [
        Cell("".join(cell["source"]), "".join(_printed(cell)))
        for cell in cells
        if cell["cell_type"] == "code"
    ]


def _printed(cell: _Cell) -> Iterator[str]:
    """Yield what a cell prints; a text may be a list of lines."""
    for output in cell.get("outputs", ()):
        if output["output_type"] != "stream":
            raise NotebookError("a cell shows something else than what it prints")
        yield "".join(output.get("text", ""))


def run(cells: Sequence[Cell], folder: Path, environment: Mapping[str, str]) -> list[str]:
    """Run the cells in a folder; return what each printed. Raises `NotebookError` if one raises."""
    script = _SHELL
    for number, cell in enumerate(cells, start=1):
        code = "\n".join(map(_line, cell.code.splitlines()))
        script += f"{_showing_nothing(code, number)}\nprint({_MARK!r}, flush=True)\n"
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=folder,
        env=dict(environment),
        capture_output=True,
        text=True,
        check=False,
    )
    printed = done.stdout.split(f"{_MARK}\n")
    if done.returncode != 0:
        raise NotebookError(f"cell {len(printed)} raised:\n{done.stderr}")
    return printed[:-1]


def _line(line: str) -> str:
    return f"_shell({line[1:]!r})" if line.startswith("!") else line


def _showing_nothing(code: str, number: int) -> str:
    """Return code that fails if the cell ends with a value, which Jupyter would show."""
    module = ast.parse(code)
    if module.body and isinstance(module.body[-1], ast.Expr):
        told = f"cell {number} ends with a value that is not printed"
        module.body[-1:] = [
            ast.Assign([ast.Name("_value", ast.Store())], module.body[-1].value, lineno=0),
            *ast.parse(f"assert _value is None, {told!r}").body,
        ]
    return ast.unparse(module)
