"""The comparisons of the buffer pool, the small ones first."""

from wheelproof_lab.graph.buffer_pool.abstract import label_of_effect, model_graph
from wheelproof_lab.graph.buffer_pool.buffer_pool import Borrowers, buffer_pool
from wheelproof_lab.graph.buffer_pool.ledger import (
    Askers,
    fifo_allocator_under_way,
    label_of_fifo_allocator,
    ledger_graph,
)
from wheelproof_lab.graph.buffer_pool.view import (
    label_of_buffer_pool,
    project_buffer_pool,
)
from wheelproof_lab.graph.comparing.comparisons import Compared

BUFFER_POOL = Compared(
    module="MCBufferPool",
    code=buffer_pool,
    label=label_of_buffer_pool,
    project=project_buffer_pool,
    overrides={"Later": "MCLater"},
)
LEDGER = Compared(
    module="FifoAllocator",
    code=ledger_graph,
    label=label_of_fifo_allocator,
    under_way=fifo_allocator_under_way,
)
MODEL = Compared(module="FifoAllocator", code=model_graph, label=label_of_effect)

_THREE = Askers(total=3, sizes={"a": (3,), "b": (1, 2), "d": (2,)})

COMPARISONS = (
    MODEL.model(
        _THREE,
        name="pool-model-three-threads",
        summary="the effects of the model against the abstract pool: three threads",
    ),
    LEDGER.model(
        _THREE,
        name="ledger-three-threads",
        summary=(
            "the judge's ledger against the abstract pool: three threads, one of them asks for all"
        ),
    ),
    BUFFER_POOL.model(
        Borrowers(total=2, poolable_size=1, programs={"a": (1, 2), "b": (2, 1)}),
        name="pool-two-clients",
        summary="two threads: two sizes each, so that buffers are reused and broken up",
    ),
    BUFFER_POOL.model(
        Borrowers(
            total=3,
            poolable_size=1,
            programs={"a": (1,), "l": (3, 2)},
            limits_ms={"l": 1},
            max_time_ms=1,
        ),
        name="pool-time-out",
        summary="two threads: one is out of time with part of its memory, and time",
    ),
    BUFFER_POOL.model(
        Borrowers(total=3, poolable_size=2, programs={"a": (1,), "b": (2,), "d": (2,)}),
        name="pool-part-and-buffer",
        summary=(
            "three threads: one has a part of what it wants when a buffer of that size comes back"
        ),
    ),
    BUFFER_POOL.model(
        Borrowers(total=2, poolable_size=1, programs={"a": (2,), "b": (2,)}, unlucky=("a",)),
        name="pool-failing-allocation",
        summary="two threads: the memory that one has reserved cannot be allocated",
    ),
    BUFFER_POOL.model(
        Borrowers(total=2, poolable_size=1, programs={"a": (1,), "b": (2, 1)}, victims={"i": "b"}),
        name="pool-interruption",
        summary="three threads: one that waits is interrupted",
    ),
    BUFFER_POOL.model(
        Borrowers(
            total=2,
            poolable_size=1,
            programs={"a": (1, 1), "p": (2,)},
            limits_ms={"p": 0},
            closers=("c",),
        ),
        name="pool-close",
        summary="three threads: the pool is closed under two, one of whom has no time",
    ),
    BUFFER_POOL.model(
        Borrowers(
            total=3,
            poolable_size=1,
            programs={"a": (1,), "b": (2,), "l": (3,)},
            limits_ms={"l": 1},
            max_time_ms=1,
        ),
        name="pool-three-clients",
        summary="three threads with three sizes, one is out of time, and time",
    ),
    BUFFER_POOL.model(
        Borrowers(
            total=2, poolable_size=2, programs={"a": (2,), "b": (2,), "d": (2,)}, victims={"i": "a"}
        ),
        name="pool-three-clients-interruption",
        summary="four threads: three want everything, and one of them is interrupted",
    ),
)
