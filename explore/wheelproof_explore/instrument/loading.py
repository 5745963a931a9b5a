"""Replacement of the code of functions in the packages that are instrumented."""

import gc
import importlib
import inspect
import sys
from collections import Counter
from collections.abc import Generator, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import cache
from pathlib import Path
from types import CodeType, FunctionType, ModuleType

from wheelproof_explore.failures.problems import ProgramRejectedError
from wheelproof_explore.instrument.accesses import Seeing, seen
from wheelproof_explore.instrument.rewriting import MARK, rewritten

_OURS = ("wheelproof", "wheelproof_explore")
_STANDARD_LIBRARY = Path(str(inspect.__file__)).parent
_PACKAGES = {"site-packages", "dist-packages"}
"""The names of folders that packages are installed into."""

_Known = dict[tuple[str, int, str], CodeType]


@contextmanager
def instrumented(program: str, packages: Sequence[str], seeing: Seeing) -> Generator[None]:
    """Make the functions of these packages report their accesses, inside the block.

    Raises ProgramRejectedError for a package that has no source.
    """
    with ExitStack() as stack:
        if packages:
            stack.enter_context(seen(seeing))
        codes: _Known = {}
        for package in packages:
            for module in _modules(package):
                codes |= _rewritten_codes(program, module)
        for function in _functions() if codes else ():
            _replace(function, codes, stack)
        yield


def import_packages(program: str, packages: Sequence[str]) -> None:
    """Import the packages that are instrumented, before the program does.

    Raises ProgramRejectedError for a package that is not there.
    """
    for package in packages:
        try:
            importlib.import_module(package)
        except Exception as error:
            raise ProgramRejectedError(
                program,
                f"is to be instrumented in {package}: {type(error).__name__}: {error}",
                "name what the program imports, as `import` does",
            ) from error


def own_modules(name: str) -> tuple[str, ...]:
    """Return the modules that belong with module `name`, which is imported: those of its folder.

    That is the folder from which `import` finds it. What is installed belongs with nothing, and
    neither do the model checker and the runtime that it controls.
    """
    module = sys.modules[name]
    file = _source_file(module)
    if file is None:
        return (name,)
    root = file.parents[name.count(".") + hasattr(module, "__path__")]
    others = {
        other
        for other, loaded in list(sys.modules.items())
        if other != "__main__"
        and other.partition(".")[0] not in _OURS
        and (source := _source_file(loaded)) is not None
        and source.is_relative_to(root)
    }
    return name, *sorted(others - {name})


def _source_file(module: ModuleType) -> Path | None:
    """Return where a module's source is, if it is in Python and not installed."""
    file = getattr(module, "__file__", None)
    if not isinstance(file, str) or not file.endswith(".py"):
        return None
    path = Path(file)
    is_installed = _PACKAGES & {*path.parts} or path.is_relative_to(_STANDARD_LIBRARY)
    return None if is_installed else path


def _modules(package: str) -> Iterator[ModuleType]:
    for name, module in list(sys.modules.items()):
        if name == package or name.startswith(f"{package}."):
            yield module


def _rewritten_codes(program: str, module: ModuleType) -> _Known:
    try:
        source, file = inspect.getsource(module), inspect.getfile(module)
    except (OSError, TypeError):
        if hasattr(module, "__path__"):
            # A package without a source file of its own.
            return {}
        raise ProgramRejectedError(
            program,
            f"is to be instrumented in {module.__name__}, of which there is no source",
            "name modules that are written in Python",
        ) from None
    try:
        return replacements(source, file)
    except RecursionError:
        raise ProgramRejectedError(
            program,
            f"is to be instrumented in {module.__name__}, which nests its code too deep",
            f"name modules without {file}",
        ) from None


@cache
def replacements(source: str, file: str) -> _Known:
    """Return the code of each function of a module that is to replace its own code."""
    before = compile(source, file, "exec", dont_inherit=True)
    after = compile(rewritten(source, file), file, "exec", dont_inherit=True)
    pairs = [*_pairs(before, after)]
    # Lambdas on one line cannot be told apart: all of them stay unchanged.
    times = Counter(_key(one) for one, _ in pairs)
    return {
        _key(one): other
        for one, other in pairs
        if times[_key(one)] == 1 and one.co_freevars == other.co_freevars
    }


def _pairs(before: CodeType, after: CodeType) -> Iterator[tuple[CodeType, CodeType]]:
    """Yield the old and the new code of each function inside a code object."""
    old, new = _inner(before), [code for code in _inner(after) if code.co_firstlineno < MARK]
    for one, other in zip(old, new, strict=True):
        yield one, other
        yield from _pairs(one, other)


def _inner(code: CodeType) -> list[CodeType]:
    return [constant for constant in code.co_consts if isinstance(constant, CodeType)]


def _key(code: CodeType) -> tuple[str, int, str]:
    return code.co_filename, code.co_firstlineno, code.co_qualname


def _functions() -> Iterator[FunctionType]:
    for thing in _objects():
        if type(thing) is FunctionType:
            yield thing


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


def _replace(function: FunctionType, codes: _Known, stack: ExitStack) -> None:
    before = function.__code__
    after = codes.get(_key(before))
    if after is not None and after.co_freevars == before.co_freevars:
        # `types.coroutine` marks the code of a function.
        marks = before.co_flags & inspect.CO_ITERABLE_COROUTINE
        stack.callback(setattr, function, "__code__", before)
        function.__code__ = after.replace(co_flags=after.co_flags | marks)
