"""The lock of an output: only one pipeline at a time works in it."""

import fcntl
import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from wheelproof_spec.base.errors import UsageError

_LOCK = ".lock"


@contextmanager
def locked(output: Path) -> Generator[None]:
    """Lock the output; raise UsageError if another process holds it, or if it is not writable."""
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
