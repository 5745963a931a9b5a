"""Functions that the modules of programs share."""

import logging
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager

from wheelproof_explore.fields.plain_fields import PlainField
from wheelproof_explore.program import (
    DEFAULT_SETTINGS,
    Action,
    Program,
    Scenario,
    Settings,
)


def program(
    name: str,
    build: Callable[[], Scenario],
    settings: Settings = DEFAULT_SETTINGS,
    plain_fields: Sequence[PlainField] = (),
    shares: Sequence[type | PlainField] = (),
) -> Program:
    """Return a program whose summary is the first line of the builder's docstring."""
    documented: object = getattr(build, "func", build)
    summary = (documented.__doc__ or "").partition("\n")[0]
    return Program(
        name=name,
        summary=summary,
        build=build,
        settings=settings,
        plain_fields=plain_fields,
        shares=shares,
    )


def discarding(function: Callable[[], object]) -> Action:
    """Return an action that calls `function` and drops what it returns."""

    def call() -> None:
        function()

    return call


class _Keeper(logging.Handler):
    """Keeps what is logged."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.kept: list[logging.LogRecord] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep a record."""
        self.kept.append(record)


@contextmanager
def logged(name: str) -> Generator[Sequence[logging.LogRecord]]:
    """Yield what the logger of this name logs as an error in the block, and print none of it."""
    logger, keeper = logging.getLogger(name), _Keeper()
    logger.addHandler(keeper)
    try:
        yield keeper.kept
    finally:
        logger.removeHandler(keeper)
