"""How long a failure is made smaller, and whether the user wants the run to end."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

SHRINK_SECONDS = 60.0
"""How long a failure is made smaller at most, unless the user says otherwise."""


def _never() -> bool:
    return False


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """`shrink_seconds` bounds the shrinking; `stopped` tells whether the user has had enough."""

    shrink_seconds: float = SHRINK_SECONDS
    stopped: Callable[[], bool] = _never


class EnoughError(BaseException):
    """Ends a batch between two cases. No defect: Hypothesis and the machines let it through."""


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
