"""How time is measured: the same way for every contestant."""

import gc
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager


def microseconds_each(work: Callable[[], None], count: int) -> float:
    """Run `work`, which does `count` things, and return the processor time of one of them.

    Processor time, not wall time: what other programs on the machine take is not counted.
    """
    started = time.process_time_ns()
    work()
    return (time.process_time_ns() - started) / count / 1_000


@contextmanager
def garbage_collector(*, enabled: bool) -> Generator[None]:
    """Start with nothing to collect, and leave the collector as it is or switch it off."""
    gc.collect()
    if not enabled:
        gc.disable()
    try:
        yield
    finally:
        gc.enable()
