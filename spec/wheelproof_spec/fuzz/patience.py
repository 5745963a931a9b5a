"""How long a failure is shrunk, and whether the user wants the run to end."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

SHRINK_SECONDS = 60.0
"""The default limit for shrinking a failure, in seconds."""


def _never() -> bool:
    return False


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """`shrink_seconds` limits the shrinking; `stopped` tells whether the user wants to stop."""

    shrink_seconds: float = SHRINK_SECONDS
    stopped: Callable[[], bool] = _never


class EnoughError(BaseException):
    """Ends a batch between two cases; no defect, so Hypothesis and the machines let it through."""


_current: ContextVar[Patience] = ContextVar("patience")
_USUAL = Patience()


def current_patience() -> Patience:
    """Return the patience of the innermost `with_patience`, or the usual one."""
    return _current.get(_USUAL)


@contextmanager
def with_patience(patience: Patience) -> Generator[None]:
    """Let every machine that runs inside the block have this patience."""
    token = _current.set(patience)
    try:
        yield
    finally:
        _current.reset(token)
