"""Programs of a user that are named by where they are, as `module:function`, `file.py:function`."""

import ast
import importlib
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from wheelproof_explore.failures.problems import InputRejectedError
from wheelproof_explore.instrument.loading import packages_seen
from wheelproof_explore.patched.environment import whole_names
from wheelproof_explore.program import Program
from wheelproof_explore.tasks.plain import threading_program

_REMEDY = "name a function and where it is, as module:function or file.py:function"
_MOST_NAMES = 6


def imported(
    name: str,
    *,
    instrument: Sequence[str] | None = None,
    accesses: str | None = None,
    faults: Sequence[str] = (),
) -> Program:
    """Return the program that `module:attribute` or `file.py:attribute` names.

    A function is the main thread of a run, or sets one up; see `threading_program`. `instrument`
    are the packages whose accesses are seen; see `packages_seen`. `accesses` is "steps" or "races".
    `faults` are calls that may fail; see `environment`.
    What a Program has of these stays, unless it is given here. Raises InputRejectedError for a
    module that cannot be imported, and if it has no such thing.
    """
    where, _, attribute = name.rpartition(":")
    if where.endswith(".py") and not Path(where).is_file():
        raise InputRejectedError(name, f"there is no file {where}", _REMEDY)
    try:
        module = _module_of(where)
        loaded = importlib.import_module(module)
        if where.endswith(".py") and not Path(loaded.__file__ or "").samefile(where):
            raise ImportError(f"a module {module} is in {loaded.__file__}; rename the file")
        found: object = getattr(loaded, attribute, None)
        program = _seen_program(name, found, instrument, accesses)
        home = loaded.__name__
    except (Exception, SystemExit, GeneratorExit) as error:
        raise InputRejectedError(name, f"{type(error).__name__}: {error}", _REMEDY) from error
    if program is None:
        raise InputRejectedError(name, f"{attribute!r} is no function", _REMEDY)
    if not faults:
        return program
    return replace(program, patch_threading=True, faults=whole_names(faults, home))


def functions_to_name(file: str) -> str:
    """Return what to type for a file without a function: the functions that it has.

    The file is read, not run. Raises InputRejectedError if it is not there, or no Python.
    """
    if not Path(file).is_file():
        raise InputRejectedError(file, f"there is no file {file}", _REMEDY)
    try:
        tree = ast.parse(Path(file).read_bytes(), file)
    except (SyntaxError, ValueError) as error:
        raise InputRejectedError(file, f"{type(error).__name__}: {error}", _REMEDY) from error
    names = _names_to_call(tree.body)
    if not names:
        return f"write a function in it that starts the threads, and name it: {file}:your_function"
    more = len(names) - _MOST_NAMES
    others = ", ".join(names[1:_MOST_NAMES]) + (f" and {more} more" if more > 0 else "")
    return f"name a function in it: {file}:{names[0]}" + (f", or {others}" if others else "")


def _names_to_call(body: list[ast.stmt]) -> list[str]:
    """Return the functions that are public, and are called without arguments."""
    found: list[str] = []
    for one in body:
        if not isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef) or one.name.startswith("_"):
            continue
        given = one.args
        needed = len(given.posonlyargs) + len(given.args) - len(given.defaults)
        if needed == 0 and None not in given.kw_defaults:
            found.append(one.name)
    return found


def _seen_program(
    name: str, found: object, instrument: Sequence[str] | None, accesses: str | None
) -> Program | None:
    if isinstance(found, Program):
        patched = found.patch_threading or instrument is not None
        seen = found.instrument if instrument is None else packages_seen(found, instrument)
        steps = found.accesses_are_steps if accesses is None else accesses == "steps"
        return replace(
            found, name=name, patch_threading=patched, instrument=seen, accesses_are_steps=steps
        )
    seen = packages_seen(found, instrument)
    return threading_program(name, found, seen, steps=bool(seen) and accesses != "races")


def _module_of(where: str) -> str:
    """Return the name of a module, whose file may be given, so that it can be imported."""
    if not where.endswith(".py"):
        return where
    file = Path(where).resolve(strict=True)
    names, folder = [file.stem], file.parent
    while (folder / "__init__.py").is_file():
        names.insert(0, folder.name)
        folder = folder.parent
    sys.path.insert(0, str(folder))
    return ".".join(names[: -1 if file.stem == "__init__" else None])
