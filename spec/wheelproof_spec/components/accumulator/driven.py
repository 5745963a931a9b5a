"""The driven cases of an accumulator: steps of its work, turned into calls.

The sender's responses depend on the batches that were drained, so a case first waits for answers.
"""

from collections.abc import Iterable, Iterator

from wheelproof_spec.base.calls import Advance, Close, Interrupt, Reset
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
from wheelproof_spec.components.accumulator.component import AccumulatorCall, AccumulatorConfig
from wheelproof_spec.components.accumulator.oracle.ledger import BatchLedger
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
from wheelproof_spec.drive.work import AdvanceBy, DrivenWork, InterruptThread


def driven_work(
    work: AccumulatorWork, judge: BatchLedger
) -> DrivenWork[AccumulatorSetup, AccumulatorStep, AccumulatorCall]:
    """Return the driven cases: each record gets an outcome. `judge` knows the answers."""
    asks_ready = work.asks_ready
    return DrivenWork(
        work, lambda setup, steps: _Walk(setup.config, judge, asks_ready=asks_ready).through(steps)
    )


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
