"""Alters the reference in one process: replaces classes and functions, or rewrites a module."""

import sys
from collections.abc import Mapping, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import CodeType, ModuleType


def replace_everywhere(replaced: Mapping[object, object], packages: Sequence[str]) -> None:
    """Bind each name of a replaced object to its replacement, in all loaded modules of `packages`.

    Modules that are loaded later import the replacement from those. A base class or a default that
    is the original already stays the original: so call this before its users are loaded.
    """
    others = {id(original): other for original, other in replaced.items()}
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] in packages:
            for attribute, value in list(vars(module).items()):
                if id(value) in others:
                    setattr(module, attribute, others[id(value)])


class _Loader(SourceFileLoader):
    def __init__(self, fullname: str, path: str, text: str) -> None:
        super().__init__(fullname, path)
        self._text = text

    def get_code(self, fullname: str) -> CodeType:
        return compile(self._text, self.get_filename(fullname), "exec")


class Rewritten(MetaPathFinder):
    """A finder that gives one module another text than its file has."""

    def __init__(self, module: str, text: str) -> None:
        self._module = module
        self._text = text

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the module's specification with the new text, or None for any other module."""
        found = PathFinder.find_spec(fullname, path, target) if fullname == self._module else None
        if found is not None and found.origin is not None:
            found.loader = _Loader(fullname, found.origin, self._text)
        return found


def rewrite(module: str, text: str) -> None:
    """Give another text to a module that is not loaded yet; raises RuntimeError if it is."""
    if module in sys.modules:
        raise RuntimeError(f"{module} is loaded already")
    sys.meta_path.insert(0, Rewritten(module, text))
