"""The suite of `wheelproof conform`: named cases, random cases, and their judge."""

from collections.abc import Iterator, Sequence
from functools import partial

from wheelproof_spec.base.calls import Close, Interrupt, Reset
from wheelproof_spec.base.results.tally import Tally
from wheelproof_spec.base.suite import CaseSpace, Suite, any_suite
from wheelproof_spec.components.accumulator.calls import (
    Abort,
    Append,
    Drain,
    Expire,
    Flush,
    Ready,
    Reenqueue,
    Split,
)
from wheelproof_spec.components.accumulator.component import (
    DEFINITION,
    AccumulatorCall,
    AccumulatorCapability,
    AccumulatorLimit,
)
from wheelproof_spec.components.accumulator.oracle.ledger import CLOSE_TO_NOTHING, BatchLedger
from wheelproof_spec.components.accumulator.oracle.records import upper_bound
from wheelproof_spec.drive.case_table import read_cases


def _asks_for(calls: Sequence[AccumulatorCall]) -> Iterator[str]:
    config, most = CLOSE_TO_NOTHING, 0
    for call in calls:
        match call:
            case Reset():
                config = call.config
            case Append(size=size, fault=fault):
                if fault is not None:
                    yield AccumulatorCapability.FAULTS
                most += max(config.batch_size, upper_bound(size))
                if most > config.total_memory:
                    yield AccumulatorCapability.MEMORY
                if config.batch_size < upper_bound(size) and size <= config.total_memory:
                    yield AccumulatorCapability.KAFKA_SIZES
            case Drain(max_size=max_size) if max_size < most:
                yield AccumulatorCapability.MAX_SIZE
            case Split():
                yield AccumulatorCapability.SPLIT
                yield AccumulatorCapability.KAFKA_SIZES
            case Ready():
                yield AccumulatorCapability.READY
            case Expire():
                yield AccumulatorCapability.EXPIRE
            case Reenqueue():
                yield AccumulatorCapability.REENQUEUE
            case Flush():
                yield AccumulatorCapability.FLUSH
            case Interrupt():
                yield AccumulatorCapability.INTERRUPTION
            case Close() | Abort():
                yield AccumulatorCapability.CLOSE
            case _:
                pass


def _drawn(profile: str, tally: Tally) -> tuple[CaseSpace[AccumulatorCall], BatchLedger]:
    from wheelproof_spec.components.accumulator.driven import driven_work
    from wheelproof_spec.components.accumulator.work import AccumulatorWork

    work = AccumulatorWork(
        faults=not any(
            map(tally.skips, (AccumulatorLimit.MEMORY_FAULTS, AccumulatorCapability.FAULTS))
        ),
        splits=not any(
            map(
                tally.skips,
                (
                    AccumulatorLimit.SPLIT,
                    AccumulatorCapability.SPLIT,
                    AccumulatorCapability.KAFKA_SIZES,
                ),
            )
        ),
        growing_backoff=not tally.skips(AccumulatorLimit.GROWING_BACKOFF),
        interruption=not tally.skips(AccumulatorCapability.INTERRUPTION),
        closes=not tally.skips(AccumulatorCapability.CLOSE),
        flushes=not tally.skips(AccumulatorCapability.FLUSH),
        memory=not tally.skips(AccumulatorCapability.MEMORY),
        exact_time=not tally.skips(AccumulatorCapability.EXACT_TIME),
        kafka_sizes=not tally.skips(AccumulatorCapability.KAFKA_SIZES),
        asks_ready=not tally.skips(AccumulatorCapability.READY),
        bounds_drains=not tally.skips(AccumulatorCapability.MAX_SIZE),
        expires=not tally.skips(AccumulatorCapability.EXPIRE),
        retries=not tally.skips(AccumulatorCapability.REENQUEUE),
    )
    judge = BatchLedger(profile, tally)
    return driven_work(work, judge), judge


ACCUMULATOR = Suite(
    definition=DEFINITION,
    judge=BatchLedger,
    scenarios=partial(read_cases, __file__, DEFINITION),
    drawn=_drawn,
    asks_for=lambda calls: frozenset(_asks_for(calls)),
)
SUITE = any_suite(ACCUMULATOR)
