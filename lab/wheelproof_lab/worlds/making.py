"""Functions that the modules of programs share."""

import logging
import sys
import threading
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from logging.handlers import BufferingHandler

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


@contextmanager
def logged(name: str) -> Generator[Sequence[logging.LogRecord]]:
    """Yield what this thread logs as an error to this logger in the block, and print none of it."""
    logger, mine = logging.getLogger(name), threading.get_ident()
    keeper = BufferingHandler(sys.maxsize)
    keeper.setLevel(logging.ERROR)
    # What another thread logs goes to its own keeper: two threads share nothing here.
    keeper.addFilter(lambda record: record.thread == mine)
    logger.addHandler(keeper)
    try:
        yield keeper.buffer
    finally:
        logger.removeHandler(keeper)
