"""The files of the checkout, and what Python files among them import and say."""

import ast
import subprocess
from collections import deque
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
REFERENCE = ROOT / "reference"
EXPLORE = ROOT / "explore"
SPEC = ROOT / "spec"
PIPELINE = ROOT / "pipeline"
LAB = ROOT / "lab"


@dataclass(frozen=True, slots=True)
class Import:
    """An import of a module, absolute, and whether it happens when the file is imported."""

    file: Path
    line: int
    module: str
    at_once: bool

    @property
    def package(self) -> str:
        """The first part of the module's name."""
        return self.module.partition(".")[0]

    def __str__(self) -> str:
        return f"{self.file.relative_to(ROOT)}:{self.line} imports {self.module}"


@cache
def project_files() -> tuple[Path, ...]:
    """Return every file that is tracked, or is going to be."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    paths = (ROOT / name for name in listed.stdout.split("\0") if name)
    return tuple(sorted(path for path in paths if path.is_file()))


def python_files(*folders: Path) -> list[Path]:
    """Return the project's Python files below the folders."""
    below = set(folders)
    return [
        path
        for path in project_files()
        if path.suffix == ".py" and not below.isdisjoint((path, *path.parents))
    ]


def imports(*folders: Path) -> list[Import]:
    """Return all imports of the Python files below the folders."""
    return [one for path in python_files(*folders) for one in _imports_of(path)]


def docstrings(*folders: Path) -> str:
    """Return every docstring of the Python files below the folders, those of values included."""
    return "\n".join(
        node.value.value
        for path in python_files(*folders)
        for node in ast.walk(_tree(path))
        if isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def module_name(path: Path, folder: Path) -> str:
    """Return the dotted name of the module in `path`, seen from `folder`."""
    parts = path.relative_to(folder).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def _imports_of(path: Path) -> tuple[Import, ...]:
    """Return the imports of a file; those inside of functions do not run at once."""
    found: list[Import] = []
    nodes = deque[tuple[ast.AST, bool]]([(_tree(path), True)])
    while nodes:
        node, at_once = nodes.popleft()
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{path}:{node.lineno} is a relative import"
            modules = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            at_once = at_once and not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
            # No expression has an import inside.
            inside = (one for one in ast.iter_child_nodes(node) if not isinstance(one, ast.expr))
            nodes.extend((one, at_once) for one in inside)
            continue
        found += [Import(path, node.lineno, module, at_once) for module in modules]
    return tuple(found)


@cache
def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), path.name)
