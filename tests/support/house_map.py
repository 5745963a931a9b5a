"""The table of imports in CONTRIBUTING.md: who may import what, and what they do import."""

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from support.checkout import ROOT, Import, imports, module_name, python_files

MAP = ROOT / "CONTRIBUTING.md"
_HEADER = re.compile(r"\| [^|]+ \| [^|]+ \| may import \|")
_QUOTED = re.compile(r"`([^`]+)`")
_STAR = "*"


@dataclass(frozen=True, slots=True)
class Row:
    """What lies in some folders, or files without `.py`, and what that may import.

    A star stands for one component: the same one in both columns.
    """

    paths: tuple[tuple[str, ...], ...]
    allowed: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Place:
    """Where a module is on the map: its row, how exactly a path named it, and its component."""

    row: Row
    exactness: tuple[int, int]
    component: str


def rows() -> list[Row]:
    """Read the tables of CONTRIBUTING.md that have a column "may import"."""
    found: list[Row] = []
    inside = False
    for line in MAP.read_text(encoding="utf-8").splitlines():
        inside = line.startswith("|") and (inside or _HEADER.fullmatch(line) is not None)
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if not inside or not _QUOTED.search(cells[0]):
            continue
        paths = tuple(tuple(path.split("/")) for path in _QUOTED.findall(cells[0]))
        found.append(Row(paths, tuple(_QUOTED.findall(cells[2]))))
    return found


class HouseMap:
    """The modules of the house, where they are on the map, and what they import of each other."""

    def __init__(self, rows: list[Row], houses: dict[str, Path]) -> None:
        """Read the packages of `houses`: the folder that a package is in, by its name."""
        self._rows = rows
        self._modules: dict[str, Path] = {}
        for package, folder in houses.items():
            for path in python_files(folder / package):
                self._modules[module_name(path, folder)] = path
        self.imports = list(imports(*(folder / name for name, folder in houses.items())))
        self._names = {path: name for name, path in self._modules.items()}

    def homeless(self) -> list[str]:
        """Return the modules that import something and that no row names."""
        names = {self._names[found.file] for found in self.imports}
        return sorted(name for name in names if self._place(name) is None)

    def forbidden(self) -> list[str]:
        """Return the imports that the map does not allow."""
        return [str(found) for found in self.imports if self._permission(found) is None]

    def unused(self) -> list[str]:
        """Return what a row allows and nobody in it imports."""
        used = {permission for found in self.imports if (permission := self._permission(found))}
        return [
            f"{'/'.join(row.paths[0])} may import {name}"
            for row in self._rows
            for name in row.allowed
            if (row, name) not in used
        ]

    def arrows(self) -> dict[str, set[str]]:
        """Return which modules of the house each one imports."""
        arrows: dict[str, set[str]] = {name: set() for name in self._modules}
        for found in self.imports:
            target = self._module(found)
            if target is not None:
                arrows[self._names[found.file]].add(target)
        return arrows

    def _permission(self, found: Import) -> tuple[Row, str] | None:
        """Return what allows an import: a row, and the name in it or nothing for its own."""
        source = self._place(self._names[found.file])
        if source is None:
            return None
        target = self._module(found)
        if target is None:
            if found.package in sys.stdlib_module_names:
                return source.row, ""
            return (source.row, found.package) if found.package in source.row.allowed else None
        place = self._place(target)
        if place is not None and (place.row, place.component) == (source.row, source.component):
            return source.row, ""
        parts = _parts(target)
        return next(
            (
                (source.row, name)
                for name in source.row.allowed
                if _lies_under(parts, tuple(name.replace(_STAR, source.component).split("/")))
            ),
            None,
        )

    def _module(self, found: Import) -> str | None:
        """Return the module of the house that is imported, if it is one."""
        module = found.module
        while module and module not in self._modules:
            module = module.rpartition(".")[0]
        return module or None

    def _place(self, module: str) -> Place | None:
        parts = _parts(module)
        return max(self._places(parts), key=lambda place: place.exactness, default=None)

    def _places(self, parts: tuple[str, ...]) -> Iterator[Place]:
        for row in self._rows:
            for path in row.paths:
                if _lies_under(parts, path):
                    stars = [part for part, word in zip(parts, path, strict=False) if word == _STAR]
                    exactness = (len(path), len(path) - len(stars))
                    yield Place(row, exactness, stars[0] if stars else "")


def circles(arrows: dict[str, set[str]]) -> list[list[str]]:
    """Return the modules that import each other: the strong components, by Tarjan's algorithm."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(module: str) -> None:
        index[module] = low[module] = len(index)
        stack.append(module)
        for target in sorted(arrows[module]):
            if target not in index:
                visit(target)
                low[module] = min(low[module], low[target])
            elif target in stack:
                low[module] = min(low[module], index[target])
        if low[module] == index[module]:
            members = stack[stack.index(module) :]
            del stack[len(stack) - len(members) :]
            if len(members) > 1 or module in arrows[module]:
                found.append(sorted(members))

    for module in sorted(arrows):
        if module not in index:
            visit(module)
    return found


def _parts(module: str) -> tuple[str, ...]:
    return tuple(module.split("."))


def _lies_under(parts: tuple[str, ...], path: tuple[str, ...]) -> bool:
    return len(parts) >= len(path) and all(
        word in (part, _STAR) for part, word in zip(parts, path, strict=False)
    )
