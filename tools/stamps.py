"""Records of the finished set-up: fingerprints, their stamp files, and the set-up's lock."""

import fcntl
import hashlib
import sys
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from pathlib import Path


def fingerprint(*parts: str | bytes) -> str:
    """Return a digest of `parts`; the boundaries between the parts count."""
    digest = hashlib.sha256()
    for part in parts:
        content = part.encode() if isinstance(part, str) else part
        digest.update(b"%d:" % len(content))
        digest.update(content)
    return digest.hexdigest()


def fingerprint_of_files(directory: Path, names: Iterable[str]) -> str:
    """Return a digest of the names and contents of the files that `names` stand for.

    A name is a file in `directory`, or a directory in it, which stands for all files below it.
    """
    entries = [directory / name for name in names]
    files = sorted(
        path for entry in entries for path in (entry, *entry.rglob("*")) if path.is_file()
    )
    parts = ((str(path.relative_to(directory)), path.read_bytes()) for path in files)
    return fingerprint(*(part for pair in parts for part in pair))


def is_stamped(stamp: Path, expected: str) -> bool:
    """Tell whether `stamp` says that the work with the fingerprint `expected` was finished."""
    try:
        return stamp.read_text() == expected
    except (FileNotFoundError, NotADirectoryError):
        return False


def write_stamp(stamp: Path, content: str) -> None:
    """Write `stamp` in one step: a reader sees the old content or the new one, never a part."""
    stamp.parent.mkdir(parents=True, exist_ok=True)
    unfinished = stamp.with_name(stamp.name + ".new")
    unfinished.write_text(content)
    unfinished.replace(stamp)


@contextmanager
def exclusive(path: Path) -> Generator[None]:
    """Hold the lock file `path`; if another process holds it, print that and wait.

    The operating system releases it when the holder dies, for whatever reason.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as holder:
        try:
            fcntl.flock(holder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print("another set-up of this checkout is running; waiting for it", file=sys.stderr)
            fcntl.flock(holder, fcntl.LOCK_EX)
        yield
