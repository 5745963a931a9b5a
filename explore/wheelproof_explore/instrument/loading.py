"""Replacement of the code of functions in the packages that are instrumented."""

import gc
import importlib
import inspect
import re
import sys
from collections import Counter
from collections.abc import Generator, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import cache, partial
from importlib.machinery import SourceFileLoader
from itertools import compress
from operator import is_
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import ClassVar, cast
from weakref import ReferenceType, ref

from wheelproof_explore.failures.problems import ProgramRejectedError
from wheelproof_explore.instrument.accesses import Seeing
from wheelproof_explore.instrument.building import MARK
from wheelproof_explore.instrument.functions import seen
from wheelproof_explore.instrument.rewriting import rewritten

OWN = "own"
"""In the place of a package: whatever is loaded and is not installed, at the time of asking."""
NOTHING = "none"
"""In the place of a package: see locks, queues and the like alone."""
_OURS = re.compile(r"wheelproof(_\w+)?(\.|$)")
"""The project's own modules, by their names."""
_STANDARD_LIBRARY = Path(str(inspect.__file__)).parent
_PACKAGES = {"site-packages", "dist-packages"}
"""The names of folders that packages are installed into."""

_Key = tuple[str, int, str, int]
_Known = dict[_Key, CodeType]
_Sources = dict[_Key, CodeType | None]
"""The codes of functions as their sources have them; None for what may well be another one."""


@contextmanager
def instrumented(program: str, packages: Sequence[str], seeing: Seeing) -> Generator[None]:
    """Make the functions of these packages report their accesses, inside the block.

    Raises ProgramRejectedError for a package that has no source.
    """
    with ExitStack() as stack:
        seeing.known.clear()
        if packages:
            stack.enter_context(seen(seeing))
        codes: _Known = {}
        sources: _Sources = {}
        modules = modules_seen(packages)
        for name in modules:
            written = seeing.written.get(name, frozenset())
            made, read = _rewritten_codes(program, sys.modules[name], written)
            codes |= made
            sources |= read
        names = {(file, name) for file, _, name, _ in sources}
        seeing.known.update(id(inner) for code in codes.values() for inner in _with_inner(code))
        seeing.files = {key[0] for key in codes}
        if seeing.modules != modules:
            # Later on, the functions that runs have made are made of code that is rewritten.
            seeing.modules, seeing.functions = modules, _functions(seeing.files)
        for function in seeing.functions:
            if _has_changed(function.__code__, sources, names):
                # Who calls it may be unseen as well, so that nobody notices.
                file = Path(function.__code__.co_filename).name
                seeing.blind[f"{file}, which has changed since it was imported"] = None
            if _replace(function, codes, stack):
                seeing.known.add(id(function.__code__))
        yield


def import_packages(program: str, packages: Sequence[str]) -> None:
    """Import the packages that are instrumented, before the program does.

    Raises ProgramRejectedError for a package that is not there.
    """
    for package in packages:
        if package == OWN:
            continue
        try:
            importlib.import_module(package)
        except Exception as error:
            raise ProgramRejectedError(
                program,
                f"is to be instrumented in {package}: {type(error).__name__}: {error}",
                "name what the program imports, as `import` does",
            ) from error


def packages_seen(given: object, instrument: Sequence[str] | None) -> Sequence[str]:
    """Return the packages to instrument for the function `given`; by default, its own code."""
    if instrument is not None:
        return tuple(package for package in instrument if package != NOTHING)
    return OWN, home_of(given)


def home_of(given: object) -> str:
    """Return the name of the module that the function `given` is from."""
    while isinstance(given, partial):
        given = given.func
    return getattr(given, "__module__", None) or type(given).__module__


def modules_seen(packages: Sequence[str]) -> frozenset[str]:
    """Return the names of the loaded modules that `packages` names, OWN for the user's own."""
    wanted = {package for package in packages if package != OWN}
    return frozenset(
        name
        for name, module in list(sys.modules.items())
        if (OWN in packages and _is_own(name, module))
        or any(name == package or name.startswith(f"{package}.") for package in wanted)
    )


def _is_own(name: str, module: ModuleType) -> bool:
    file = getattr(module, "__file__", None)
    if not isinstance(file, str) or _is_installed(file):
        return False
    spec = getattr(module, "__spec__", None)
    # Under `python -m` the main module has the name of its file in its specification alone.
    return not _OURS.match(getattr(spec, "name", None) or name)


@cache
def _is_installed(file: str) -> bool:
    """Tell whether a file is no Python source of the user's."""
    path = Path(file)
    installed = _PACKAGES & {*path.parts} or path.is_relative_to(_STANDARD_LIBRARY)
    return path.suffix != ".py" or bool(installed)


def _rewritten_codes(
    program: str, module: ModuleType, written: frozenset[str]
) -> tuple[_Known, _Sources]:
    try:
        source, file = inspect.getsource(module), inspect.getfile(module)
    except (OSError, TypeError):
        if hasattr(module, "__path__"):
            # A package without a source file of its own.
            return {}, {}
        raise ProgramRejectedError(
            program,
            f"is to be instrumented in {module.__name__}, of which there is no source",
            "name modules that are written in Python",
        ) from None
    try:
        made, sources = replacements(source, file, written)
        # pytest and others have hooks that change what a module says.
        is_plain = type(getattr(module, "__loader__", None)) is SourceFileLoader
        return made, sources if is_plain else dict.fromkeys(sources)
    except RecursionError:
        raise ProgramRejectedError(
            program,
            f"is to be instrumented in {module.__name__}, which nests its code too deep",
            f"name modules without {file}",
        ) from None


@cache
def replacements(
    source: str, file: str, written: frozenset[str] = frozenset()
) -> tuple[_Known, _Sources]:
    """Return the code of each function of a module that is to replace its own, and its own.

    `written` are the module's variables that other modules have written.
    """
    before = compile(source, file, "exec", dont_inherit=True)
    after = compile(rewritten(source, file, written), file, "exec", dont_inherit=True)
    pairs = [*_pairs(before, after)]
    # Functions that share a line and a name, as lambdas do, are told apart by their columns.
    times = Counter(_key(one) for one, _ in pairs)
    keyed = [
        (_key(one) if times[_key(one)] == 1 else _key_in_line(one), one, two) for one, two in pairs
    ]
    again = Counter(key for key, _, _ in keyed)
    made = {
        key: other
        for key, one, other in keyed
        if again[key] == 1 and one.co_freevars == other.co_freevars
    }
    return made, {_key(one): one if times[_key(one)] == 1 else None for one, _ in pairs}


def _pairs(before: CodeType, after: CodeType) -> Iterator[tuple[CodeType, CodeType]]:
    """Yield the old and the new code of each function inside a code object."""
    old, new = _inner(before), [code for code in _inner(after) if code.co_firstlineno < MARK]
    for one, other in zip(old, new, strict=True):
        yield one, other
        yield from _pairs(one, other)


def _inner(code: CodeType) -> list[CodeType]:
    return [constant for constant in code.co_consts if isinstance(constant, CodeType)]


def _key(code: CodeType) -> _Key:
    return code.co_filename, code.co_firstlineno, code.co_qualname, 0


def _key_in_line(code: CodeType) -> _Key:
    columns = (column for _, _, column, _ in code.co_positions() if column)
    return code.co_filename, code.co_firstlineno, code.co_qualname, next(columns, 0)


class _Search:
    """The last search for functions: what was found, and a list made before it."""

    functions: ClassVar[Sequence[ReferenceType[FunctionType]]] = ()
    made_before: ClassVar[list[object] | None] = None


def _functions(files: set[str]) -> list[FunctionType]:
    """Return the functions in `files` that the collector knows.

    What was made since the last search is no older, for the collector, than a list that was made
    before it. While that is young, all of it is: a test that explores once for each example goes
    through the young alone.
    """
    if not files:
        return []
    young = gc.get_objects(0) + gc.get_objects(1)
    before = _Search.made_before
    # At first there is none: what was imported before this module is as old as may be.
    if before is not None and any(map(partial(is_, before), young)):
        found = [one for one in (function() for function in _Search.functions) if one is not None]
    else:
        found = _functions_among(_objects())
        _Search.made_before = []
        young = gc.get_objects(0) + gc.get_objects(1)
    functions = {id(one): one for one in (*found, *_functions_among(young))}
    _Search.functions = [ref(one) for one in functions.values()]
    return [one for one in functions.values() if one.__code__.co_filename in files]


def _functions_among(things: list[object]) -> list[FunctionType]:
    """No line of Python runs for each object: Hypothesis traces lines to explain a failure."""
    are_functions = map(partial(is_, FunctionType), map(type, things))
    return [*cast("Iterator[FunctionType]", compress(things, are_functions))]


def _objects() -> list[object]:
    """Return the objects that the collector knows, those that `gc.freeze` keeps out too.

    A server or a test runner that freezes what it has imported would hide all functions of the
    program otherwise, and nothing that they share would be seen.
    """
    if not gc.get_freeze_count():
        return gc.get_objects()
    # What is alive now stays frozen with the rest: let it be without garbage.
    gc.collect()
    gc.unfreeze()
    try:
        return gc.get_objects()
    finally:
        gc.freeze()


def _has_changed(code: CodeType, sources: _Sources, names: set[tuple[str, str]]) -> bool:
    """Tell whether a code is not what its source says."""
    key = _key(code)
    if key not in sources:
        # Libraries make functions in the name of a file, but not under names that it has.
        return (code.co_filename, code.co_qualname) in names
    source = sources[key]
    if source is None or any(name.startswith("_wp_") for name in code.co_names):
        return False
    # `types.coroutine` marks the code of a function.
    return source != code.replace(co_flags=source.co_flags)


def _with_inner(code: CodeType) -> Iterator[CodeType]:
    """Yield a code and those of all functions inside it."""
    yield code
    for one in _inner(code):
        yield from _with_inner(one)


def _replace(function: FunctionType, codes: _Known, stack: ExitStack) -> bool:
    before = function.__code__
    after = codes.get(_key(before)) or codes.get(_key_in_line(before))
    if after is None or after.co_freevars != before.co_freevars:
        return False
    # `types.coroutine` marks the code of a function.
    marks = before.co_flags & inspect.CO_ITERABLE_COROUTINE
    stack.callback(setattr, function, "__code__", before)
    function.__code__ = after.replace(co_flags=after.co_flags | marks)
    return True
