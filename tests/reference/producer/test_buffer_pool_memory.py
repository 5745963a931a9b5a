"""The memory that a pool's buffers really take is bounded by its total (standard 3.9)."""

import gc
import weakref
from collections.abc import Generator, Sequence
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

from support import seeds
from wheelproof.producer import (
    BufferExhaustedError,
    BufferPool,
    BufferPoolUsage,
    ByteBuffer,
    IllegalStateError,
)

TOTAL = 64
POOLABLE = 16


class _Memory(bytearray):
    """Memory that can be watched."""


class _Watched:
    """An allocator that knows which of the memory that it has made is still there."""

    def __init__(self) -> None:
        self._made: list[weakref.ref[_Memory]] = []

    def allocate(self, size: int) -> ByteBuffer:
        """Make a buffer."""
        memory = _Memory(size)
        self._made.append(weakref.ref(memory))
        return ByteBuffer(memory)

    def alive(self) -> int:
        """Return how many bytes of what was made are still there."""
        return sum(len(memory) for made in self._made if (memory := made()) is not None)


@pytest.fixture(autouse=True)
def _without_collector() -> Generator[None]:
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


_sizes = st.sampled_from([1, POOLABLE, POOLABLE, 2 * POOLABLE, TOTAL])
_steps = st.lists(st.one_of(st.tuples(st.just("allocate"), _sizes), st.tuples(st.just("give"))))


@pytest.mark.campaign
@seed(seeds.seed(33_001))
@settings(
    max_examples=seeds.runs(100, hunted=2_000),
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(steps=_steps)
def test_memory_that_is_there_never_exceeds_the_total(
    steps: Sequence[tuple[str, int] | tuple[str]],
) -> None:
    watched = _Watched()
    pool = BufferPool(TOTAL, POOLABLE, allocator=watched.allocate)
    lent: list[ByteBuffer] = []
    for step in steps:
        match step:
            case ("allocate", int(size)):
                try:
                    lent.append(pool.allocate(size, 0))
                except BufferExhaustedError:
                    continue
            case _:
                if lent:
                    pool.deallocate(lent.pop(0))
        assert watched.alive() <= TOTAL
        usage = pool.usage()
        usage.check(TOTAL)
        assert watched.alive() == usage.pooled + usage.lent


def test_a_buffer_that_the_pool_drops_is_gone_at_once() -> None:
    watched = _Watched()
    pool = BufferPool(TOTAL, POOLABLE, allocator=watched.allocate)
    pool.deallocate(pool.allocate(POOLABLE, 0))
    pool.deallocate(pool.allocate(POOLABLE, 0))
    pool.deallocate(pool.allocate(TOTAL, 0))
    assert watched.alive() == 0


@pytest.mark.parametrize("wrong", [{"lent": 3}, {"non_pooled": -1, "lent": 5}], ids=str)
def test_a_usage_in_which_bytes_are_lost_or_made_is_refused(wrong: dict[str, int]) -> None:
    right = BufferPoolUsage(non_pooled=2, pooled=4, lent=2, accumulated=1, waiting=1)
    right.check(9)
    with pytest.raises(IllegalStateError, match="is not 9 bytes"):
        replace(right, **wrong).check(9)
