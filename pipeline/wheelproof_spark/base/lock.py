"""One pipeline at a time works in an output."""

import fcntl
import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from wheelproof_spec.base.errors import UsageError

_LOCK = ".lock"


def outside(output: Path, source: Path) -> Path:
    """Return the real input; raises UsageError if the real output is in it."""
    source = source.resolve()
    if output.is_relative_to(source):
        raise UsageError(f"{output} is inside of the input; name another output")
    return source


@contextmanager
def locked(output: Path) -> Generator[None]:
    """Hold the output; raises UsageError if another process does, or if it is no folder."""
    try:
        output.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(output / _LOCK, os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise UsageError(f"{output} cannot be written: {error.strerror}") from error
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise UsageError(f"{output} is in use by another pipeline; wait for it") from error
        yield
    finally:
        os.close(descriptor)
