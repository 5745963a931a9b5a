"""What the patterns of `match` read: an expression that the function `match` is called with."""

import ast
from collections.abc import Iterable, Iterator, Sequence

_READING = (ast.MatchClass, ast.MatchSequence, ast.MatchMapping)


def read_by(pattern: ast.pattern) -> list[ast.expr]:
    """Return the alternatives of a pattern; none if it reads nothing of an object."""
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
