"""The cases of the buffer pool: what Kafka's own tests ask (semantics.md 5), and drawn ones."""

from collections.abc import Iterable, Iterator, Sequence

from wheelproof_spec.base.calls import Advance, Close, Interrupt, Reset
from wheelproof_spec.base.port import SendingPort
from wheelproof_spec.base.results.fuzz_report import FuzzReport
from wheelproof_spec.base.results.tally import Tally
from wheelproof_spec.base.suite import FuzzPlan, Scenario, Suite, any_suite
from wheelproof_spec.components.buffer_pool.component import (
    DEFINITION,
    Allocate,
    CallId,
    Deallocate,
    PoolCall,
    PoolCapability,
    PoolConfig,
    PoolFault,
    PoolLimit,
    PoolObservation,
)
from wheelproof_spec.components.buffer_pool.oracle import LedgerPool

_GIB = 2**30
_LONG_MS = 60_000


def pool_scenarios() -> tuple[Scenario[PoolCall], ...]:
    """Return all named cases of the buffer pool."""
    return (*_ordinary(), *_unusual())


def _ordinary() -> Iterable[Scenario[PoolCall]]:
    yield Scenario(
        name="a buffer of the poolable size is kept, others are not",
        calls=(
            _reset(64, 16),
            _allocate("a", 16),
            Deallocate(buffer="a"),
            _allocate("b", 16),
            _allocate("c", 8),
            Deallocate(buffer="c"),
            Deallocate(buffer="b"),
        ),
    )
    yield Scenario(
        name="more than the total is refused, the total is not",
        calls=(_reset(64, 16), _allocate("a", 65), _allocate("b", 64), Deallocate(buffer="b")),
    )
    yield Scenario(
        name="a delayed allocation wakes up",
        calls=(_reset(16, 16), _allocate("a", 16), _allocate("b", 16), Deallocate(buffer="a")),
    )
    yield Scenario(
        name="a time-out lasts its limit, and the thread leaves the queue",
        calls=(
            _reset(10, 1),
            _allocate("a", 5),
            Allocate(buffer="b", size=10, max_time_to_block_ms=10),
            Advance(to_ms=9),
            Advance(to_ms=10),
            Deallocate(buffer="a"),
        ),
    )
    yield Scenario(
        name="waits are counted, however they end, and the share of the last time",
        calls=(
            _reset(10, 1),
            _allocate("a", 10),
            Allocate(buffer="b", size=5, max_time_to_block_ms=10),
            _allocate("c", 5),
            Advance(to_ms=4),
            Advance(to_ms=10),
            Advance(to_ms=1_000),
            Interrupt(name="c"),
            _allocate("d", 5),
            Advance(to_ms=31_000),
            Deallocate(buffer="a"),
            Advance(to_ms=80_000),
            Advance(to_ms=200_000),
        ),
    )
    yield Scenario(
        name="an interrupted thread leaves the queue",
        calls=(
            _reset(10, 1),
            _allocate("a", 10),
            _allocate("b", 5),
            _allocate("c", 5),
            Interrupt(name="b"),
            Deallocate(buffer="a"),
        ),
    )
    yield Scenario(
        name="close wakes everyone; buffers still come back",
        calls=(
            _reset(10, 5),
            _allocate("a", 10),
            _allocate("b", 5),
            _allocate("c", 1),
            Close(),
            _allocate("d", 1),
            Deallocate(buffer="a"),
        ),
    )
    yield Scenario(
        name="an allocation that fails restores the memory",
        calls=(
            _reset(16, 16),
            Allocate(buffer="a", size=16, max_time_to_block_ms=0, fault=PoolFault.ALLOCATOR),
            _allocate("b", 16),
        ),
    )


def _unusual() -> Iterable[Scenario[PoolCall]]:
    yield Scenario(
        name="KAFKA-4840: a thread that gives up with a part passes it on",
        calls=(
            _reset(10, 1),
            _allocate("a", 4),
            _allocate("b", 6),
            Allocate(buffer="c", size=10, max_time_to_block_ms=10),
            _allocate("d", 4),
            Deallocate(buffer="a"),
            Advance(to_ms=10),
            Deallocate(buffer="b"),
        ),
    )
    yield Scenario(
        name="KAFKA-4840: a metric that fails does not lose the signal",
        calls=(
            _reset(10, 1),
            _allocate("a", 10),
            Allocate(buffer="b", size=5, max_time_to_block_ms=_LONG_MS, fault=PoolFault.METRIC),
            _allocate("c", 5),
            Deallocate(buffer="a"),
        ),
    )
    yield Scenario(
        name="a newcomer and a thread that waits for more than there is",
        calls=(
            _reset(2, 1),
            _allocate("a", 1),
            _allocate("b", 2),
            Allocate(buffer="c", size=1, max_time_to_block_ms=5),
            Advance(to_ms=5),
        ),
    )
    yield Scenario(
        name="2 GiB of pooled buffers serve another size",
        limit=PoolLimit.TWO_GIB,
        calls=(
            _reset(2 * _GIB, _GIB),
            _allocate("a", _GIB),
            _allocate("b", _GIB),
            Deallocate(buffer="a"),
            Deallocate(buffer="b"),
            _allocate("c", 1),
        ),
    )
    yield Scenario(
        name="a buffer that is given back twice is refused",
        limit=PoolLimit.GIVEN_BACK_TWICE,
        calls=(_reset(16, 16), _allocate("a", 16), Deallocate(buffer="a"), Deallocate(buffer="a")),
    )
    yield Scenario(
        name="sizes that a pool can never lend are refused",
        limit=PoolLimit.NEGATIVE_SIZE,
        calls=(_reset(16, 4), _allocate("more", 17), _allocate("less", -1), _allocate("all", 16)),
    )


def _reset(total_memory: int, poolable_size: int) -> Reset[PoolConfig]:
    return Reset(config=PoolConfig(total_memory=total_memory, poolable_size=poolable_size))


def _allocate(call: CallId, size: int) -> Allocate:
    return Allocate(buffer=call, size=size, max_time_to_block_ms=_LONG_MS)


def _asks_for(calls: Sequence[PoolCall]) -> Iterator[str]:
    total_memory = poolable_size = 0
    for call in calls:
        match call:
            case Reset(config=config):
                total_memory, poolable_size = config.total_memory, config.poolable_size
                if total_memory % poolable_size:
                    yield PoolCapability.ANY_SIZE
            case Allocate(size=size, fault=fault):
                if size != poolable_size:
                    yield PoolCapability.ANY_SIZE
                if not 0 <= size <= total_memory:
                    yield PoolLimit.SIZE_OUTSIDE
                if size < 0:
                    yield PoolLimit.NEGATIVE_SIZE
                if fault is PoolFault.INTERRUPTED_BEFORE:
                    yield PoolCapability.INTERRUPTION
                if fault is not None:
                    yield PoolCapability.FAULTS
            case Interrupt():
                yield PoolCapability.INTERRUPTION
            case Close():
                yield PoolCapability.CLOSE
            case Deallocate() | Advance():
                pass


def _fuzz(
    port: SendingPort[PoolCall, PoolObservation], profile: str, tally: Tally, plan: FuzzPlan
) -> FuzzReport:
    from wheelproof_spec.components.buffer_pool.fuzz.domain import PoolDomain
    from wheelproof_spec.components.buffer_pool.fuzz.sequential import run_pool_fuzz

    return run_pool_fuzz(
        port,
        profile=profile,
        tally=tally,
        cases=plan.cases,
        seed=plan.seed,
        limits=PoolDomain(
            wide=not tally.skips(PoolLimit.TWO_GIB),
            outside=not tally.skips(PoolLimit.SIZE_OUTSIDE),
            negative=not tally.skips(PoolLimit.NEGATIVE_SIZE),
            twice=not tally.skips(PoolLimit.GIVEN_BACK_TWICE),
            any_size=not tally.skips(PoolCapability.ANY_SIZE),
            interruption=not tally.skips(PoolCapability.INTERRUPTION),
            closes=not tally.skips(PoolCapability.CLOSE),
            faults=() if tally.skips(PoolCapability.FAULTS) else tuple(PoolFault),
        ),
        repeat=plan.repeat,
    )


SUITE = any_suite(
    Suite(
        definition=DEFINITION,
        judge=LedgerPool,
        scenarios=pool_scenarios,
        fuzz=_fuzz,
        asks_for=lambda calls: frozenset(_asks_for(calls)),
    )
)
