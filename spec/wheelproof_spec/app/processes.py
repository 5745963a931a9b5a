"""Processes that share work."""

import signal
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from multiprocessing.pool import Pool


def pool_of(jobs: int) -> "Pool":
    """Return processes that are started anew: forked while threads run, one may stand still.

    Ctrl-C reaches them as well, and is for the process that started them to answer.
    """
    from multiprocessing import get_context

    return get_context("spawn").Pool(jobs, signal.signal, (signal.SIGINT, signal.SIG_IGN))
