"""What is drawn for a buffer pool: totals, sizes, time-outs, faults."""

from dataclasses import dataclass

from hypothesis import strategies as st

from wheelproof_spec.components.buffer_pool.component import PoolConfig, PoolFault

_GIB = 2**30


@dataclass(frozen=True, slots=True)
class Amount:
    """A number of bytes in the pool's own measure, so that it lands near the boundaries.

    Some poolable buffers, or the total if `of_total`, and a rest.
    """

    buffers: int
    of_total: bool
    rest: int

    def size(self, config: PoolConfig) -> int:
        """Return the size in bytes under `config`, within what the pool can lend."""
        whole = config.total_memory if self.of_total else self.buffers * config.poolable_size
        return max(whole + self.rest, 0) % (config.total_memory + 1)


def pool_configs() -> st.SearchStrategy[PoolConfig]:
    """Draw a configuration: room for some poolable buffers, and a rest."""
    poolable = st.integers(1, 4) | st.sampled_from((16, 1_000, 16_384))
    poolable |= st.sampled_from((_GIB, 7 * _GIB))
    buffers = st.sampled_from((1, 2, 3, 0))
    rests = st.integers(0, 3)
    return st.builds(_config, poolable, buffers, rests, st.integers(0, 2))


def _config(poolable: int, buffers: int, rest: int, start_ms: int) -> PoolConfig:
    return PoolConfig(
        total_memory=poolable * buffers + min(rest, poolable - 1),
        poolable_size=poolable,
        start_ms=start_ms,
    )


def amounts() -> st.SearchStrategy[Amount]:
    """Draw a size: 0, 1, around the poolable size, several times it, the total."""
    return st.builds(
        Amount,
        buffers=st.sampled_from((1, 1, 0, 2, 3)),
        of_total=st.sampled_from((False, False, False, True)),
        rest=st.sampled_from((0, 0, 0, -1, 1, -2, 2)),
    )


def beyond() -> st.SearchStrategy[int]:
    """Draw by how much a size lies outside: above the total, or below 0."""
    return st.sampled_from((1, 2**31, -1, -(2**31)))


def timeouts() -> st.SearchStrategy[int]:
    """Draw how long an allocation may wait, in milliseconds."""
    return st.sampled_from((0, 5, 1_000, 1_000))


def faults() -> st.SearchStrategy[PoolFault | None]:
    """Draw what goes wrong; mostly nothing."""
    return st.sampled_from((*(None,) * 4 * len(PoolFault), *PoolFault))
