"""The files of the checkout, and what Python files among them import and say."""

import ast
import subprocess
from collections.abc import Iterator
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
    return [
        path
        for path in project_files()
        if path.suffix == ".py" and any(path.is_relative_to(folder) for folder in folders)
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


def _imports_of(path: Path) -> Iterator[Import]:
    tree = _tree(path)
    at_once = set(_run_at_once(tree))
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{path}:{node.lineno} is a relative import"
            modules = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        for module in modules:
            yield Import(path, node.lineno, module, node in at_once)


def _run_at_once(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the statements that run when the file is imported: none that is inside a function."""
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            yield child
            yield from _run_at_once(child)


@cache
def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), path.name)
