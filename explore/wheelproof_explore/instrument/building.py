"""The nodes that rewriting makes: calls of the functions that report, and what these are given."""

import ast
from collections.abc import Iterable, Iterator, Sequence

MARK = 1_000_000
"""The line number of code that is not in the source."""
_READING = (ast.MatchClass, ast.MatchSequence, ast.MatchMapping)


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


def compares(pattern: ast.pattern) -> bool:
    """Tell whether a pattern compares what it is matched with, not only parts of it."""
    match pattern:
        case ast.MatchValue():
            return True
        case ast.MatchAs(pattern=ast.pattern() as part):
            return compares(part)
        case ast.MatchOr():
            return any(map(compares, pattern.patterns))
        case _:
            return False


def read_by_pattern(pattern: ast.pattern) -> list[ast.expr]:
    """Return what the function `match` is told of a pattern: its alternatives, if it reads any."""
    reads = any(
        isinstance(part, _READING)
        or (isinstance(part, ast.MatchValue) and isinstance(part.value, ast.Attribute))
        for part in ast.walk(pattern)
    )
    return _alternatives(pattern) if reads else []


def _alternatives(pattern: ast.pattern) -> list[ast.expr]:
    match pattern:
        case ast.MatchClass():
            names = *range(len(pattern.patterns)), *pattern.kwd_attrs
            parts = *pattern.patterns, *pattern.kwd_patterns
            return [_alternative("class", pattern.cls, zip(names, parts, strict=True))]
        case ast.MatchSequence(patterns=parts):
            starred = any(isinstance(part, ast.MatchStar) for part in parts)
            return [_alternative("items", ast.Constant(starred), _items(parts))]
        case ast.MatchMapping():
            return [_alternative("whole", ast.Constant(None), ())]
        case ast.MatchValue(value=value):
            return [_alternative("equal", value, ())]
        case ast.MatchSingleton(value=value):
            return [_alternative("same", ast.Constant(value), ())]
        case ast.MatchAs(pattern=ast.pattern() as part):
            return _alternatives(part)
        case ast.MatchOr():
            return [one for part in pattern.patterns for one in _alternatives(part)]
        case _:
            return []


def _items(parts: Sequence[ast.pattern]) -> Iterator[tuple[int, ast.pattern]]:
    """Yield the parts of a sequence with their places, which count from the end behind a star."""
    behind = False
    for place, part in enumerate(parts):
        if isinstance(part, ast.MatchStar):
            behind = True
        else:
            yield place - len(parts) if behind else place, part


def _alternative(
    sort: str, test: ast.expr, parts: Iterable[tuple[int | str, ast.pattern]]
) -> ast.expr:
    inner = [
        (ast.Constant(name), ast.List(_alternatives(part), ast.Load())) for name, part in parts
    ]
    given = ast.Dict([name for name, _ in inner], [one for _, one in inner])
    return ast.Tuple([ast.Constant(sort), test, given], ast.Load())
