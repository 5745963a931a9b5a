"""Faults inside of the shared session of Spark: no test needs a Java of its own for them."""

import resource
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from unittest.mock import patch

import pyarrow as pa

from wheelproof_spark.check import bronze
from wheelproof_spark.check.judging.in_place import Stage, reader
from wheelproof_spec.history.checkers import CheckOptions


@contextmanager
def when_read(fault: Callable[[], object]) -> Generator[None]:
    """Let a worker that has read its first lines call `fault`, a function without a name outside.

    Spark sends such a function by its code, so that a worker need not find this module.
    """

    def faulty(options: CheckOptions) -> Stage:
        stage = reader(options)

        def reading(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for batch in stage(batches):
                yield batch
                fault()

        return reading

    with patch.object(bronze, "reader", faulty):
        yield


@contextmanager
def disk_that_fills(process: int) -> Generator[Callable[[], object]]:
    """Yield what lets no file of a process grow any more, as a full disk does; undo it at the end.

    0 is this process. What is yielded may be called by a worker.
    """
    kind, before = resource.RLIMIT_FSIZE, resource.prlimit(process, resource.RLIMIT_FSIZE)
    try:
        yield lambda: resource.prlimit(process, kind, (0, before[1]))
    finally:
        resource.prlimit(process, kind, before)
