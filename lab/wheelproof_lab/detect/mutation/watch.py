"""Watches the methods of classes: which are called, by which threads, and how they end."""

import ast
import inspect
import re
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import wraps
from pathlib import Path
from types import FunctionType, ModuleType, TracebackType

_ERROR = re.compile(r"\b[A-Z]\w*Error\b")
_RAISES = re.compile(r"\b[Rr]aises\b(.*?)(?:\n\n|$)", re.DOTALL)


@dataclass(slots=True)
class Seen:
    """How often each method was called or ended with an error, and which threads called it.

    A method's name has its class; "BufferPool.close ProducerClosedError" is one of its exits, and
    "buffer_pool:266" a line that an error passed through.
    """

    counts: Counter[str] = field(default_factory=Counter[str])
    threads: dict[str, set[str]] = field(default_factory=dict[str, set[str]])


def classes_of(modules: Iterable[ModuleType]) -> Iterator[type[object]]:
    """Yield the public classes that the modules define; a protocol has no methods of its own."""
    for module in modules:
        for name, value in vars(module).items():
            ours = isinstance(value, type) and value.__module__ == module.__name__
            if ours and not name.startswith("_") and not getattr(value, "_is_protocol", False):
                yield value


def methods_of(kind: type[object]) -> Iterator[tuple[str, FunctionType | property]]:
    """Yield the public methods and properties that a class itself defines."""
    for name, value in vars(kind).items():
        public = not name.startswith("_") and not getattr(value, "__isabstractmethod__", False)
        if public and isinstance(value, FunctionType | property):
            yield name, value


def errors_named(method: FunctionType | property) -> Iterator[str]:
    """Yield the names of the errors that a method raises, according to its docstring."""
    said = " ".join(_RAISES.findall(inspect.getdoc(method) or ""))
    yield from dict.fromkeys(_ERROR.findall(said))


def raises_of(module: ModuleType) -> Iterator[tuple[str, str]]:
    """Yield each line of a module that raises an error, with its function and the error."""
    path = Path(str(module.__file__))
    for function in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(function, ast.FunctionDef):
            for node in ast.walk(function):
                if isinstance(node, ast.Raise) and node.exc is not None:
                    error = ast.unparse(node.exc).partition("(")[0]
                    yield f"{path.stem}:{node.lineno}", f"{path.stem}.{function.name} {error}"


@contextmanager
def watching(
    classes: Iterable[type[object]], seen: Seen, who: Callable[[], str]
) -> Generator[None]:
    """Record in `seen` the calls and errors of the classes' methods inside the block."""
    before = [(kind, *method) for kind in classes for method in methods_of(kind)]
    for kind, name, method in before:
        place = f"{kind.__name__}.{name}"
        if isinstance(method, FunctionType):
            setattr(kind, name, _noting(place, method, seen, who))
        elif method.fget is not None:
            setattr(kind, name, property(_noting(place, method.fget, seen, who)))
    try:
        yield
    finally:
        for kind, name, method in before:
            setattr(kind, name, method)


def _noting(
    place: str, method: Callable[..., object], seen: Seen, who: Callable[[], str]
) -> Callable[..., object]:
    threads = seen.threads.setdefault(place, set())

    @wraps(method)
    def noting(*arguments: object, **more: object) -> object:
        seen.counts[place] += 1
        threads.add(who())
        try:
            return method(*arguments, **more)
        except Exception as error:
            seen.counts[f"{place} {type(error).__name__}"] += 1
            seen.counts.update(_lines(error.__traceback__))
            raise

    return noting


def _lines(traceback: TracebackType | None) -> Iterator[str]:
    while traceback is not None:
        yield f"{Path(traceback.tb_frame.f_code.co_filename).stem}:{traceback.tb_lineno}"
        traceback = traceback.tb_next
