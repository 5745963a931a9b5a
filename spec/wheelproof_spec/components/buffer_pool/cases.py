"""The suite of `wheelproof conform`: named cases, random cases, and their judge.

The named cases, in `cases.toml`, are from Kafka's own tests (standard 7) and from the rules (3).
"""

from collections.abc import Iterator, Sequence
from functools import partial

from wheelproof_spec.base.calls import Advance, Close, Interrupt, Reset
from wheelproof_spec.base.results.tally import Tally
from wheelproof_spec.base.suite import BurstCases, CaseSpace, Suite, any_suite
from wheelproof_spec.components.buffer_pool.component import (
    DEFINITION,
    Allocate,
    Deallocate,
    PoolCall,
    PoolCapability,
    PoolFault,
    PoolLimit,
    PoolObservation,
)
from wheelproof_spec.components.buffer_pool.oracle import PoolOracle
from wheelproof_spec.drive.case_table import read_cases


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


def _drawn(profile: str, tally: Tally) -> tuple[CaseSpace[PoolCall], PoolOracle]:
    from wheelproof_spec.components.buffer_pool.work import PoolWork, driven_work

    work = PoolWork(
        wide=not tally.skips(PoolLimit.TWO_GIB),
        outside=not tally.skips(PoolLimit.SIZE_OUTSIDE),
        negative=not tally.skips(PoolLimit.NEGATIVE_SIZE),
        twice=not tally.skips(PoolLimit.GIVEN_BACK_TWICE),
        any_size=not tally.skips(PoolCapability.ANY_SIZE),
        interruption=not tally.skips(PoolCapability.INTERRUPTION),
        closes=not tally.skips(PoolCapability.CLOSE),
        faults=() if tally.skips(PoolCapability.FAULTS) else tuple(PoolFault),
    )
    judge = PoolOracle(profile, tally)
    return driven_work(work, judge), judge


def _bursts(profile: str, tally: Tally) -> BurstCases[PoolCall, PoolObservation]:
    from wheelproof_spec.components.buffer_pool.bursts import bursts

    return bursts(profile, tally)


BUFFER_POOL = Suite(
    definition=DEFINITION,
    judge=PoolOracle,
    scenarios=partial(read_cases, __file__, DEFINITION),
    drawn=_drawn,
    asks_for=lambda calls: frozenset(_asks_for(calls)),
    bursts=_bursts,
)
SUITE = any_suite(BUFFER_POOL)
