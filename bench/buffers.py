"""The pool's part of docs/sources/performance.md: pooled buffers compared with allocation."""

from collections.abc import Callable, Sequence
from functools import partial

from instruments.section import Section, medians, times
from instruments.stopwatch import microseconds_each
from wheelproof.producer import BufferPool, ByteBuffer
from wheelproof.producer.byte_buffer import allocate_byte_buffer

_BATCH_SIZE = 16_384


class _CountingAllocator:
    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, size: int) -> ByteBuffer:
        self.calls += 1
        return allocate_byte_buffer(size)


def _use(pool: BufferPool, sizes: Sequence[int]) -> None:
    for size in sizes:
        pool.deallocate(pool.allocate(size, 0))


def _make(sizes: Sequence[int]) -> None:
    for size in sizes:
        bytearray(size)


def pooled(pairs: int, rounds: int) -> Section:
    """Measure several buffer sizes with hits only, and one size with fewer hits."""
    rows: list[tuple[str, ...]] = []
    wins: int | None = None
    cases = [(size, 100) for size in (1_024, _BATCH_SIZE, 1 << 18, 1 << 20, 1 << 22)]
    cases += [(_BATCH_SIZE, percent) for percent in (90, 50, 0)]
    for poolable, percent in cases:
        number = max(pairs * 1_024 // max(poolable, 1_024), 50) if poolable > 1 << 16 else pairs
        sizes = [poolable if n % 100 < percent else poolable - 1 for n in range(number)]
        allocator = _CountingAllocator()
        pool = BufferPool(4 * poolable, poolable, allocator=allocator)
        works: list[Callable[[], None]] = [partial(_use, pool, sizes), partial(_make, sizes)]
        ours, bare = medians(rounds, *(partial(microseconds_each, work, number) for work in works))
        hits = 1 - allocator.calls / (rounds * number)
        if percent == 100 and ours < bare and wins is None:
            wins = poolable
        rows.append((f"{poolable:,}", f"{100 * hits:.0f} %", f"{ours:.2f}", times(ours / bare)))
    reached = (
        f"With hits alone the pool wins from {wins:,} bytes on, where clearing memory costs more"
        " than the steps of the pool."
        if wins
        else "The pool does not win at any of these sizes."
    )
    return Section(
        title="Pooled buffers against allocation",
        claim="The claim: buffers of the poolable size are used again, which saves allocating and"
        " clearing them.",
        head=("poolable size, bytes", "hits", "the pool, us", "the pool / bytearray"),
        rows=tuple(rows),
        notes=(
            reached,
            "What the pool is for is not speed but the limit on memory, and who gets it first;"
            " Java's collector, which the pool is to spare, is not measured here.",
        ),
    )
