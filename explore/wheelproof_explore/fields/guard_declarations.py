"""The fields declared with the lock that guards them, found in the source of their classes.

A declaration is an annotation such as `Annotated[int, GuardedBy("_lock")]`, of a field in the class
body or of `self.field` in a method. An annotation in a method leaves no trace at run time.
"""

import ast
import inspect
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from types import ModuleType

from wheelproof import sync
from wheelproof.sync import GuardedBy


@dataclass(frozen=True, slots=True)
class Declaration:
    """A field of a class, and the attributes that lead from an instance to its lock.

    `path` is empty if the declaration names the lock in words.
    """

    owner: type
    field: str
    path: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.owner.__qualname__}.{self.field}"


_known: dict[str, tuple[ModuleType, tuple[Declaration, ...]]] = {}


def declarations() -> Iterator[Declaration]:
    """Yield the declarations of all classes of modules that have been imported.

    Classes inside functions are left out, because they cannot be found by name.
    """
    for name, module in list(sys.modules.items()):
        known = _known.get(name)
        if known is None or known[0] is not module:
            known = _known[name] = module, tuple(_declared_in(module))
        yield from known[1]


def _declared_in(module: ModuleType) -> Iterator[Declaration]:
    if not _knows_guards(module):
        return
    try:
        tree = ast.parse(inspect.getsource(module))
    except (OSError, TypeError, SyntaxError):
        return
    for kind, body in _classes(module, tree):
        for field, annotation in _annotated(body):
            lock = _lock(annotation)
            if lock is not None:
                path = tuple(lock.split("."))
                named = all(part.isidentifier() for part in path)
                yield Declaration(kind, field, path if named else ())


def _knows_guards(module: ModuleType) -> bool:
    # An object in `sys.modules` may have no `__dict__`.
    names: dict[str, object] = getattr(module, "__dict__", {})
    return any(value is GuardedBy or value is sync for value in list(names.values()))


def _classes(where: object, tree: ast.AST) -> Iterator[tuple[type, ast.ClassDef]]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.ClassDef):
            kind: object = getattr(where, node.name, None)
            if isinstance(kind, type):
                yield kind, node
                yield from _classes(kind, node)


def _annotated(body: ast.ClassDef) -> Iterator[tuple[str, ast.expr]]:
    """Yield the annotated fields of a class and of `self` in its methods."""
    for statement in body.body:
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            yield statement.target.id, statement.annotation
        if isinstance(statement, ast.FunctionDef):
            for node in ast.walk(statement):
                if (
                    isinstance(node, ast.AnnAssign)
                    and isinstance(node.target, ast.Attribute)
                    and isinstance(node.target.value, ast.Name)
                    and node.target.value.id == "self"
                ):
                    yield node.target.attr, node.annotation


def _lock(annotation: ast.expr) -> str | None:
    """Return the declared lock; the source of the declaration if it is no string literal."""
    for node in ast.walk(annotation):
        if isinstance(node, ast.Call) and _is_guarded_by(node.func):
            match node.args:
                case [ast.Constant(value=str() as lock)]:
                    return lock
                case _:
                    return ast.unparse(node)
    return None


def _is_guarded_by(function: ast.expr) -> bool:
    match function:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name == GuardedBy.__name__
        case _:
            return False
