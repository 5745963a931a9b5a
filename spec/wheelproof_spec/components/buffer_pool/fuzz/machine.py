"""The machine `buffer_pool` of `wheelproof fuzz`."""

from collections.abc import Iterator

from wheelproof.producer import BufferPool
from wheelproof_spec.base.known_bug import find_bug
from wheelproof_spec.base.results.fuzz_report import FuzzReport
from wheelproof_spec.components.buffer_pool.bugs import BUGS
from wheelproof_spec.components.buffer_pool.cases import BUFFER_POOL
from wheelproof_spec.components.buffer_pool.component import LONGEST_WAITING_FIRST
from wheelproof_spec.components.buffer_pool.fuzz.threads import run_threaded_pool_fuzz
from wheelproof_spec.components.buffer_pool.reference import ReferencePoolPort
from wheelproof_spec.engines.fuzz.one_thread import fuzz_with_one_thread
from wheelproof_spec.engines.fuzz.order import FuzzOrder, Machine


def reports(order: FuzzOrder) -> Iterator[FuzzReport]:
    """Fuzz the buffer pool; raises UsageError if it has no such bug."""
    bug = None if order.bug is None else find_bug(BUGS, order.bug)
    pool_class = BufferPool if bug is None else bug.pool_class
    if order.threads == "none":
        yield fuzz_with_one_thread(
            BUFFER_POOL, ReferencePoolPort(pool_class), LONGEST_WAITING_FIRST, **order.batch()
        )
        return
    yield run_threaded_pool_fuzz(pool_class, **order.batch())


MACHINE = Machine(name="buffer_pool", threads=("none", "real"), reports=reports)
