"""Processes that share work."""

import signal
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from multiprocessing.pool import Pool


def pool_of(jobs: int, *, tasks: int | None = None) -> "Pool":
    """Return processes that are started anew: forked while threads run, one may stand still.

    Each ends after so many `tasks`, if that is given, and another one takes its place. Ctrl-C
    reaches them as well, and is for the process that started them to answer.
    """
    from multiprocessing import get_context

    return get_context("spawn").Pool(jobs, signal.signal, (signal.SIGINT, signal.SIG_IGN), tasks)
