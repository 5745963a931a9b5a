"""Notes calls of the function that a mutant changes: programs that call it run first."""

import importlib
from collections.abc import Callable
from functools import wraps
from types import FunctionType


class Reached:
    """A flag: whether a watched method was called since the last `take`."""

    def __init__(self) -> None:
        self._called = False

    def take(self) -> bool:
        """Return whether a watched method was called, and reset the answer to False."""
        called, self._called = self._called, False
        return called

    def watch(self, module: str, path: str) -> None:
        """Watch a method, `Class.method`, of a module; ignore a path that is not a plain method."""
        *classes, name = path.split(".")
        owner: object = importlib.import_module(module)
        for one in classes:
            owner = getattr(owner, one)
        method = vars(owner).get(name)
        if classes and isinstance(method, FunctionType):
            setattr(owner, name, self._noting(method))

    def _noting(self, method: Callable[..., object]) -> Callable[..., object]:
        @wraps(method)
        def noted(*args: object, **kwargs: object) -> object:
            self._called = True
            return method(*args, **kwargs)

        return noted
