"""What the patterns of `match` read, as the expression that the function `match` is called with."""

import ast
from collections.abc import Iterable


def read_by(pattern: ast.pattern) -> list[ast.expr]:
    """Return what `match` of accesses is to read, one entry for each alternative."""
    match pattern:
        case ast.MatchClass():
            names = *range(len(pattern.patterns)), *pattern.kwd_attrs
            parts = *pattern.patterns, *pattern.kwd_patterns
            return [_parts(pattern.cls, zip(names, parts, strict=True))]
        case ast.MatchSequence(patterns=parts) if not any(map(_is_star, parts)):
            return [_parts(ast.Constant(None), enumerate(parts))]
        case ast.MatchSequence() | ast.MatchMapping():
            return [_parts(ast.Constant(None), ())]
        case ast.MatchAs(pattern=ast.pattern() as part):
            return read_by(part)
        case ast.MatchOr():
            return [reads for part in pattern.patterns for reads in read_by(part)]
        case _:
            return []


def _is_star(pattern: ast.pattern) -> bool:
    return isinstance(pattern, ast.MatchStar)


def _parts(kind: ast.expr, parts: Iterable[tuple[int | str, ast.pattern]]) -> ast.expr:
    inner = [(ast.Constant(name), ast.List(read_by(part), ast.Load())) for name, part in parts]
    given = ast.Dict([name for name, _ in inner], [reads for _, reads in inner])
    return ast.Tuple([kind, given], ast.Load())
