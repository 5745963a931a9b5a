"""The nodes that rewriting makes: calls of the functions that report, and what these are given."""

import ast

MARK = 1_000_000
"""The line number of code that is not in the source."""


def called(function: str, *given: ast.expr) -> ast.Call:
    """Return a call of a function that reports, by its name without the prefix."""
    return ast.Call(named(f"_wp_{function}"), list(given), [])


def named(name: str) -> ast.Name:
    """Return a name that is read."""
    return ast.Name(name, ast.Load())


def module_names() -> ast.expr:
    """Return a call that gives the variables of the module."""
    return ast.Call(named("_wp_globals"), [], [])


def cell_reader(name: str) -> ast.expr:
    """Return a function that has the variable in its closure."""
    nothing = ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])
    made = ast.Lambda(nothing, named(name))
    for node in (made, made.body):
        node.lineno = node.end_lineno = MARK
        node.col_offset = node.end_col_offset = 0
    return made


def loading(target: ast.expr) -> ast.expr:
    """Return the expression that reads a target."""
    match target:
        case ast.Attribute():
            return ast.Attribute(target.value, target.attr, ast.Load())
        case ast.Subscript():
            return ast.Subscript(target.value, target.slice, ast.Load())
        case ast.Name():
            return ast.Name(target.id, ast.Load())
        case _:
            raise AssertionError(target)
