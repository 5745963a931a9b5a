"""The variables of a function: which ones it assigns, and which ones inner functions share."""

import ast
from collections import Counter
from collections.abc import Iterator

SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
Scope = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


def _in_scope(node: Scope) -> Iterator[ast.AST]:
    """Yield the nodes of a function, without the bodies of functions and classes inside it."""
    left: list[ast.AST] = [node.body] if isinstance(node, ast.Lambda) else [*node.body]
    while left:
        here = left.pop()
        yield here
        if not isinstance(here, (*SCOPES, ast.ClassDef)):
            left.extend(ast.iter_child_nodes(here))


def bound(node: ast.AST) -> str | None:
    """Return the variable that a node binds itself, if there is one."""
    match node:
        case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
            return name
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            return node.name
        case ast.ExceptHandler() | ast.MatchAs() | ast.MatchStar():
            return node.name
        case ast.MatchMapping():
            return node.rest
        case ast.alias():
            return (node.asname or node.name).partition(".")[0]
        case _:
            return None


def _stored(node: Scope) -> Counter[str]:
    """Count the places at which a function assigns each of its variables."""
    found = Counter(name for here in _in_scope(node) if (name := bound(here)) is not None)
    given = node.args
    found.update(part.arg for part in (*given.posonlyargs, *given.args, *given.kwonlyargs))
    found.update(part.arg for part in (given.vararg, given.kwarg) if part is not None)
    return found


def own_names(node: Scope) -> frozenset[str]:
    """Return the variables that a function assigns and that are its own."""
    others = {
        name
        for here in _in_scope(node)
        if isinstance(here, ast.Global | ast.Nonlocal)
        for name in here.names
    }
    return frozenset(set(_stored(node)) - others)


def shared_variables(node: Scope, own: frozenset[str]) -> frozenset[str]:
    """Return the function's variables that an inner function uses and that change."""
    stored = _stored(node)
    inner = [here for here in _in_scope(node) if isinstance(here, (*SCOPES, ast.ClassDef))]
    used: set[str] = set()
    written: set[str] = set()
    for function in inner:
        for here in ast.walk(function):
            if isinstance(here, ast.Name):
                used.add(here.id)
            elif isinstance(here, ast.Nonlocal):
                written.update(here.names)
    return frozenset(name for name in own & used if name in written or stored[name] > 1)
