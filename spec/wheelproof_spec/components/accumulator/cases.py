"""The suite of `wheelproof conform`: named cases, driven cases from the work, and their judge.

The sender's responses depend on the batches that were drained, so a case first waits for answers.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial

from wheelproof_spec.base.calls import Advance, Close, Interrupt, Reset
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
    Respond,
    Split,
)
from wheelproof_spec.components.accumulator.component import (
    DEFINITION,
    AccumulatorCall,
    AccumulatorCapability,
    AccumulatorConfig,
    AccumulatorLimit,
)
from wheelproof_spec.components.accumulator.oracle.ledger import CLOSE_TO_NOTHING, BatchLedger
from wheelproof_spec.components.accumulator.oracle.records import upper_bound
from wheelproof_spec.components.accumulator.work import (
    LARGE,
    LONG_MS,
    AccumulatorSetup,
    AccumulatorStep,
    AccumulatorWork,
    AppendRecord,
    CloseAll,
    DrainUpTo,
    FlushAll,
    RespondToOne,
    SplitOne,
)
from wheelproof_spec.drive.case_table import read_cases
from wheelproof_spec.drive.work import AdvanceBy, DrivenWork, InterruptThread


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
    asks_ready = work.asks_ready
    cases: DrivenWork[AccumulatorSetup, AccumulatorStep, AccumulatorCall] = DrivenWork(
        work, lambda setup, steps: _Walk(setup.config, judge, asks_ready=asks_ready).through(steps)
    )
    return cases, judge


class _Walk:
    """Turns steps into calls: it names records and flushes, and keeps the time and the offset."""

    def __init__(self, config: AccumulatorConfig, judge: BatchLedger, *, asks_ready: bool) -> None:
        self._asks_ready = asks_ready
        self._config = config
        self._judge = judge
        self._now_ms = config.start_ms
        self._named = 0
        self._offset = 0
        self._closed = False

    def through(self, steps: Iterable[AccumulatorStep]) -> Iterator[AccumulatorCall | None]:
        """Yield the calls; after them each record has its outcome, and all memory is back."""
        yield Reset(config=self._config)
        for step in steps:
            yield from self._take(step)
        yield from self._send_everything()

    def _take(self, step: AccumulatorStep) -> Iterator[AccumulatorCall | None]:
        match step:
            case AppendRecord():
                yield Append(
                    record=self._name("r"),
                    partition=step.partition,
                    size=step.size,
                    max_time_to_block_ms=step.max_time_to_block_ms,
                    fault=step.fault,
                    callback=step.callback,
                )
            case Ready() | Expire():
                yield step
            case DrainUpTo() | RespondToOne() | SplitOne() | InterruptThread():
                yield None
                yield from self._react(step)
            case FlushAll():
                yield Flush(flush=self._name("f"))
            case AdvanceBy(jump_ms=jump_ms):
                yield self._advance(jump_ms)
            case CloseAll(by_force=by_force):
                if not self._closed:
                    self._closed = True
                    yield Close()
                    if by_force:
                        yield Abort()
            case _:
                # A gauge: the driver tells each of them with every answer.
                raise AssertionError(step)

    def _send_everything(self) -> Iterator[AccumulatorCall | None]:
        """Yield the calls after which each record has its outcome, and all memory is back."""
        yield self._advance(LONG_MS)
        yield None
        queues = self._judge.queues
        while queues.unfinished():
            yield from map(self._store, tuple(queues.in_flight))
            if not self._asks_ready:
                # A callback may have appended what a drain leaves to linger.
                yield self._advance(LONG_MS)
            for node, partition in ((0, 0), (1, 1), (0, 2)):
                yield Drain(node=node, partitions=(partition,), max_size=LARGE)
            yield None
            queues = self._judge.queues
        if self._asks_ready:
            yield Ready(leaders={0: 0, 1: 1, 2: 0})

    def _react(
        self, step: DrainUpTo | RespondToOne | SplitOne | InterruptThread
    ) -> Iterator[AccumulatorCall]:
        """Yield the call that depends on the answers so far."""
        queues = self._judge.queues
        match step:
            case DrainUpTo(partitions=partitions, max_size=most, below_both=below):
                if below is not None:
                    most = max(0, sum(queues.head_sizes(partitions)[:2]) - below)
                yield Drain(node=step.node, partitions=partitions, max_size=most)
            case RespondToOne(batch=number, answer=answer):
                if in_flight := queues.in_flight:
                    batch = sorted(in_flight)[number % len(in_flight)]
                    if answer == "again" and not in_flight[batch].ended:
                        yield Reenqueue(batch=batch)
                    elif answer == "failed":
                        yield Respond(batch=batch)
                    else:
                        yield self._store(batch)
            case SplitOne(batch=number, size=size):
                if splittable := queues.splittable():
                    yield Split(batch=splittable[number % len(splittable)], size=size)
            case InterruptThread(victim=number):
                if waiting := self._judge.waiting():
                    yield Interrupt(name=waiting[number % len(waiting)])

    def _store(self, batch: str) -> AccumulatorCall:
        offset = self._offset
        self._offset += len(self._judge.queues.in_flight[batch].records)
        return Respond(batch=batch, offset=offset)

    def _advance(self, jump_ms: int) -> AccumulatorCall:
        self._now_ms += jump_ms
        return Advance(to_ms=self._now_ms)

    def _name(self, letter: str) -> str:
        self._named += 1
        return f"{letter}{self._named}"


ACCUMULATOR = Suite(
    definition=DEFINITION,
    judge=BatchLedger,
    scenarios=partial(read_cases, __file__, DEFINITION),
    drawn=_drawn,
    asks_for=lambda calls: frozenset(_asks_for(calls)),
)
SUITE = any_suite(ACCUMULATOR)
