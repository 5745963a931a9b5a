"""The digest of the sources of packages, and the source text of one function."""

import ast
import hashlib
from collections.abc import Iterable
from pathlib import Path

_TEXTS = frozenset({".py", ".toml", ".tla", ".cfg"})


def digest_of(places: Iterable[Path]) -> str:
    """Return a digest of the sources: of files, and of all that is below folders."""
    digest = hashlib.blake2b(digest_size=8)
    for place in places:
        for path in sorted(place.rglob("*")) if place.is_dir() else (place,):
            if path.suffix in _TEXTS:
                digest.update(str(path.relative_to(place.parent)).encode())
                digest.update(path.read_bytes())
    return digest.hexdigest()


def source_of(text: str, path: str) -> str:
    """Return the text of `function`, or of `Class.method` followed by that of its class."""
    found, body = list[str](), ast.parse(text).body
    for name in path.split("."):
        for node in body:
            if isinstance(node, ast.ClassDef | ast.FunctionDef) and node.name == name:
                found.append(ast.get_source_segment(text, node) or "")
                body = node.body
                break
    return "\n".join(reversed(found))
