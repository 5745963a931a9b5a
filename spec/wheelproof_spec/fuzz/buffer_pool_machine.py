"""The machine `buffer_pool` of `wheelproof fuzz`."""

from collections.abc import Iterator

from wheelproof.producer import BufferPool
from wheelproof_spec.conformance.reference_buffer_pool import ReferencePoolPort
from wheelproof_spec.fuzz.buffer_pool_sequential import run_pool_fuzz
from wheelproof_spec.fuzz.buffer_pool_threads import run_threaded_pool_fuzz
from wheelproof_spec.fuzz.order import FuzzOrder
from wheelproof_spec.fuzz.report import FuzzReport
from wheelproof_spec.known_bugs import BUFFER_POOL_BUGS, find_bug
from wheelproof_spec.oracle.buffer_pool import LONGEST_WAITING_FIRST


def reports(order: FuzzOrder) -> Iterator[FuzzReport]:
    """Fuzz the buffer pool; raises UsageError if it has no such bug."""
    bug = None if order.bug is None else find_bug(BUFFER_POOL_BUGS, order.bug)
    pool_class = BufferPool if bug is None else bug.pool_class
    if order.threads == "none":
        yield run_pool_fuzz(
            ReferencePoolPort(pool_class),
            contract=LONGEST_WAITING_FIRST,
            cases=order.cases,
            seed=order.seed,
            seconds=order.seconds,
            repeat=order.repeat,
            progress=order.progress,
        )
        return
    yield run_threaded_pool_fuzz(
        pool_class,
        cases=order.cases,
        seed=order.seed,
        seconds=order.seconds,
        repeat=order.repeat,
        progress=order.progress,
    )
