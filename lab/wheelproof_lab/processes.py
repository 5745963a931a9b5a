"""Pools of processes that share work."""

import signal
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from multiprocessing.pool import Pool


def pool_of(jobs: int, *, tasks: int | None = None) -> "Pool":
    """Return a pool of spawned processes: a process forked while threads run may hang.

    Each process ends after `tasks` tasks, if given, and another one takes its place. The processes
    ignore Ctrl-C, which the process that started them handles.
    """
    from multiprocessing import get_context

    return get_context("spawn").Pool(jobs, signal.signal, (signal.SIGINT, signal.SIG_IGN), tasks)
