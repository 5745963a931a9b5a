"""Places in the program under test."""

import inspect
import linecache
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import FrameType

_CHECKER = Path(__file__).parents[1]
_EXAMPLES = _CHECKER / "examples.py"
"""Code under test, although it comes with the checker."""
_SHOWN_CALLS = 4


def calling_frame() -> FrameType | None:
    """Return the innermost frame of the program under test."""
    frame = inspect.currentframe()
    while frame is not None and is_checkers(frame.f_code.co_filename):
        frame = frame.f_back
    return frame


@cache
def is_checkers(file: str) -> bool:
    """Tell whether a source file belongs to the checker, so that its frames explain nothing."""
    path = Path(file)
    return path.is_relative_to(_CHECKER) and path != _EXAMPLES


def is_library(module: str) -> bool:
    """Tell by its name whether a module is part of Python.

    >>> is_library("concurrent.futures"), is_library("hypothesis.strategies")
    (True, False)
    """
    return module.partition(".")[0] in sys.stdlib_module_names


@dataclass(frozen=True, slots=True)
class SourceLine:
    """A line of the program: its file, its number from 1, the function and the line itself."""

    file: str
    number: int
    function: str
    text: str

    def __str__(self) -> str:
        name = Path(self.file).name
        return f"{name}, line {self.number}, in {self.function}: {self.text}"


def users_line() -> SourceLine | None:
    """Return the innermost line that a user has written, None if there is none.

    Lines of Python's library, of `wheelproof.sync` and of the checker do not count.
    """
    frame = inspect.currentframe()
    while frame is not None and _is_tool(frame):
        frame = frame.f_back
    if frame is None:
        return None
    file, number = frame.f_code.co_filename, frame.f_lineno
    return SourceLine(file, number, frame.f_code.co_name, linecache.getline(file, number).strip())


def _is_tool(frame: FrameType) -> bool:
    if is_checkers(frame.f_code.co_filename):
        return True
    module = str(frame.f_globals.get("__name__"))
    return module.startswith("wheelproof.sync") or is_library(module)


def call_stack(frame: FrameType | None) -> str:
    """Return the open calls of the program, the innermost first."""
    places: list[str] = []
    while frame is not None and len(places) < _SHOWN_CALLS:
        code = frame.f_code
        if not is_checkers(code.co_filename) and frame.f_globals.get("__name__") != "threading":
            places.append(f"{code.co_name} ({Path(code.co_filename).name}, line {frame.f_lineno})")
        frame = frame.f_back
    return " <- ".join(places)


def calling_line() -> str:
    """Return the file, line and function of the program's innermost frame."""
    frame = calling_frame()
    if frame is None:
        return "an unknown place"
    code = frame.f_code
    return f"{Path(code.co_filename).name}, line {frame.f_lineno}, in {code.co_name}"


def is_constructing(instance: object) -> bool:
    """Tell whether the constructor of `instance` is under way on this thread."""
    frame = calling_frame()
    while frame is not None:
        code = frame.f_code
        mine = code.co_varnames[0] if code.co_argcount else ""
        if code.co_name == "__init__" and frame.f_locals.get(mine) is instance:
            return True
        frame = frame.f_back
    return False
