"""What stands for the text of packages: an outcome is of this text and no other."""

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
