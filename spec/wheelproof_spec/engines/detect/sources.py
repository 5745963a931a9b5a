"""The digest of the sources of packages, and the source text of one function."""

import ast
import hashlib
from collections.abc import Iterable
from pathlib import Path

_TEXTS = frozenset({".py", ".toml", ".tla", ".cfg"})


def digest_of(folders: Iterable[Path]) -> str:
    """Return a digest of all sources below the folders."""
    digest = hashlib.blake2b(digest_size=8)
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            if path.suffix in _TEXTS:
                digest.update(str(path.relative_to(folder)).encode())
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
