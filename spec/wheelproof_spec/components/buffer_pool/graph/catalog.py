"""The comparisons of the buffer pool, the small ones first."""

from wheelproof_spec.components.buffer_pool.graph.buffer_pool import Borrowers, buffer_pool
from wheelproof_spec.components.buffer_pool.graph.module import (
    label_of_buffer_pool,
    project_buffer_pool,
)
from wheelproof_spec.engines.graph.comparing.comparisons import GraphModel, program_side
from wheelproof_spec.engines.graph.comparing.tlc_side import TlcConfiguration


def buffer_pool_model(name: str, summary: str, borrowers: Borrowers) -> GraphModel:
    """Return the comparison of the reference's pool with BufferPool."""
    return GraphModel(
        name=name,
        summary=summary,
        code=program_side(buffer_pool(borrowers)),
        configuration=TlcConfiguration(
            module="MCBufferPool",
            constants=borrowers.constants(),
            overrides={"Later": "MCLater"},
        ),
        project=project_buffer_pool,
        label=label_of_buffer_pool,
    )


COMPARISONS: tuple[GraphModel, ...] = (
    buffer_pool_model(
        "pool-two-clients",
        "two threads: two sizes each, so that buffers are reused and broken up",
        Borrowers(total=2, poolable_size=1, programs={"a": (1, 2), "b": (2, 1)}),
    ),
    buffer_pool_model(
        "pool-time-out",
        "two threads: one is out of time with part of its memory, and time",
        Borrowers(
            total=3,
            poolable_size=1,
            programs={"a": (1,), "l": (3, 2)},
            limits_ms={"l": 1},
            max_time_ms=1,
        ),
    ),
    buffer_pool_model(
        "pool-failing-allocation",
        "two threads: the memory that one has reserved cannot be allocated",
        Borrowers(
            total=2, poolable_size=1, programs={"a": (2,), "b": (2,)}, unlucky=frozenset({"a"})
        ),
    ),
    buffer_pool_model(
        "pool-interruption",
        "three threads: one that waits is interrupted",
        Borrowers(total=2, poolable_size=1, programs={"a": (1,), "b": (2, 1)}, victims={"i": "b"}),
    ),
    buffer_pool_model(
        "pool-close",
        "three threads: the pool is closed under two, one of whom has no time",
        Borrowers(
            total=2,
            poolable_size=1,
            programs={"a": (1, 1), "p": (2,)},
            limits_ms={"p": 0},
            closers=("c",),
        ),
    ),
    buffer_pool_model(
        "pool-three-clients",
        "three threads with three sizes, one is out of time, and time",
        Borrowers(
            total=3,
            poolable_size=1,
            programs={"a": (1,), "b": (2,), "l": (3,)},
            limits_ms={"l": 1},
            max_time_ms=1,
        ),
    ),
    buffer_pool_model(
        "pool-three-clients-interruption",
        "four threads: three want everything, and one of them is interrupted",
        Borrowers(
            total=2,
            poolable_size=2,
            programs={"a": (2,), "b": (2,), "d": (2,)},
            victims={"i": "a"},
        ),
    ),
)
