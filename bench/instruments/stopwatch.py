"""The measurement of time, the same for every contestant."""

import gc
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager


def microseconds_each(work: Callable[[], None], count: int) -> float:
    """Run `work`, which does `count` operations, and return the processor time of one of them.

    Processor time leaves out the other programs on the machine; wall time does not.
    """
    started = time.process_time_ns()
    work()
    return (time.process_time_ns() - started) / count / 1_000


@contextmanager
def garbage_collector(*, enabled: bool) -> Generator[None]:
    """Collect all garbage first; keep the collector on, or switch it off during the block."""
    gc.collect()
    if not enabled:
        gc.disable()
    try:
        yield
    finally:
        gc.enable()
