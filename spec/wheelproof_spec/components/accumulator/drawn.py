"""Random cases of a record accumulator, and the domain that they come from.

The sender's responses depend on the batches that were drained, so a case first waits for answers.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass

from wheelproof_spec.base.calls import Advance, Close, Interrupt, Reset
from wheelproof_spec.base.codec.vocabulary import ABSENT
from wheelproof_spec.base.suite import CaseSpace, DrawnCase, DrawnStep
from wheelproof_spec.components.accumulator.calls import (
    Abort,
    Append,
    AppendFault,
    CallbackFault,
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
from wheelproof_spec.components.accumulator.oracle.sizes import upper_bound
from wheelproof_spec.drive.drawn_cases import draw_case

PARTITIONS = (0, 1, 2)
"""The partitions of a case; the last one has no leader now and then."""

_LARGE = 2**20
_LONG_MS = 10_000
_MANY = 60
_RARELY = 25
"""A drawn close takes effect once in so many times: little happens after a close."""
_MOST_BATCH_SIZE = 130
_LARGER = (0, 0, 0, 8_200)
"""Bytes added to the batch size; the last value fits records with a three-byte length."""
_BATCHES = (1, 2, 4)
_MORE_THAN_ENOUGH = 1_000
_LINGERS_MS = (0, 5, 20)
_BACKOFFS_MS = (0, 3)
_DOUBLINGS = (1, 4)
_DELIVERY_MS = (20, 20, 1_000, 1_000, 0)
"""The last one needs exact time: in floats it may be over at once or a moment later."""
_STARTS_MS = (0, 7)
_TOPICS = (ABSENT, {2: "other"}, {0: "other", 2: "third"})
_TIMEOUTS_MS = (0, 5, _LONG_MS)
_CALLBACKS = (None, None, None, None, *CallbackFault)
_FAULTS = (None,) * 8 + tuple(AppendFault)
_FIRST = (0, 0, None)
_SECOND = (1, 1, 0)
_LAST = (0, 1, 2, None)
_NODES = (0, 1)
_DRAINED = 3
"""The choices of what is drained: the node's partition, the last one as well, or all."""
_MOST_DRAINED = (0, 100, 200, _LARGE)
_BELOW_BOTH = (1, 0)
"""By how many bytes the first two heads exceed the size limit of a drain."""
_ANSWERS = ("stored", "failed", "again")
_SPLITS = (1, 75, 90)
_JUMPS_MS = (0, 1, 5, 20)


@dataclass(frozen=True, slots=True, kw_only=True)
class AccumulatorDomain:
    """The bounds within which cases are drawn.

    With `faults` memory sometimes fails, with `splits` batches are too large, and with
    `growing_backoff` the backoff doubles. Without `exact_time` no delivery timeout is 0. Without
    `memory` there is more than enough of it. Without `kafka_sizes` each record fits in a batch.
    The last four say which calls of the sender there are; a drain always has a size, which is more
    than enough without `bounds_drains`.
    """

    faults: bool = True
    splits: bool = True
    growing_backoff: bool = True
    interruption: bool = True
    closes: bool = True
    flushes: bool = True
    kafka_sizes: bool = True
    memory: bool = True
    exact_time: bool = True
    asks_ready: bool = True
    bounds_drains: bool = True
    expires: bool = True
    retries: bool = True

    def sizes(self, batch_size: int) -> tuple[int, ...]:
        """Return the sizes of records, some just below and above a longer length field."""
        small = (0, 1, 3, 3, 20)
        if not self.kafka_sizes:
            return small
        return (*small, 63, 64, 200) if batch_size < _LARGER[-1] else (*small, 8_184, 8_191, 8_192)

    @property
    def most_drained(self) -> tuple[int, ...]:
        """The sizes of a drain that do not depend on what is queued."""
        return _MOST_DRAINED if self.bounds_drains else (_LARGE,)

    @property
    def below_both(self) -> tuple[int, ...]:
        """By how many bytes the first two heads exceed other sizes of a drain."""
        return _BELOW_BOTH if self.bounds_drains else ()

    @property
    def answers(self) -> tuple[str, ...]:
        """The responses to a batch."""
        return _ANSWERS if self.retries else _ANSWERS[:-1]

    @property
    def least_batch_size(self) -> int:
        """The smallest size of a batch."""
        return 90 if self.kafka_sizes else upper_bound(20)


class AccumulatorCases(CaseSpace[AccumulatorCall]):
    """Cases in which records are appended, drained and answered; each gets an outcome."""

    def __init__(self, domain: AccumulatorDomain, judge: BatchLedger) -> None:
        """Draw within `domain`; `judge` knows the answers."""
        self._domain = domain
        self._judge = judge
        faults = len(_FAULTS) if domain.faults else 1
        kinds = {
            "append_plainly": (len(PARTITIONS),),
            "append": (
                len(PARTITIONS),
                len(domain.sizes(0)),
                len(_TIMEOUTS_MS),
                faults,
                len(_CALLBACKS),
            ),
            "ready": (len(_FIRST), len(_SECOND), len(_LAST)),
            "drain": (
                len(_NODES),
                _DRAINED,
                len(domain.most_drained) + len(domain.below_both),
            ),
            "respond": (_MANY, len(domain.answers)),
            "expire": (),
            "advance": (len(_JUMPS_MS),),
        }
        if not domain.asks_ready:
            del kinds["ready"]
        if not domain.expires:
            del kinds["expire"]
        if domain.splits:
            kinds["split"] = (_MANY, len(_SPLITS))
        if domain.flushes:
            kinds["flush"] = ()
        if domain.interruption:
            kinds["interrupt"] = (_MANY,)
        if domain.closes:
            kinds["close"] = (_RARELY, 2)
        self._kinds = kinds

    def draw(self, chance: random.Random) -> DrawnCase:
        """Return a random case; see `CaseSpace.draw`."""
        domain = self._domain
        config = (
            _MOST_BATCH_SIZE + 1 - domain.least_batch_size,
            len(_LARGER) if domain.kafka_sizes else 1,
            len(_BATCHES),
            len(_LINGERS_MS),
            len(_BACKOFFS_MS),
            len(_DOUBLINGS) if domain.growing_backoff else 1,
            len(_DELIVERY_MS) if domain.exact_time else len(_DELIVERY_MS) - 1,
            len(_STARTS_MS),
            len(_TOPICS),
        )
        return draw_case(chance, config, self._kinds)

    def calls(self, case: DrawnCase) -> Iterator[AccumulatorCall | None]:
        """Yield the calls of a case; see `CaseSpace.calls`."""
        size, larger, batches, linger, backoff, doublings, delivery, start, topics = case.config
        batch_size = self._domain.least_batch_size + size + _LARGER[larger]
        room = _BATCHES[batches] if self._domain.memory else _MORE_THAN_ENOUGH
        config = AccumulatorConfig(
            total_memory=room * batch_size,
            batch_size=batch_size,
            linger_ms=_LINGERS_MS[linger],
            retry_backoff_ms=_BACKOFFS_MS[backoff],
            retry_backoff_max_ms=_BACKOFFS_MS[backoff] * _DOUBLINGS[doublings],
            delivery_timeout_ms=_DELIVERY_MS[delivery],
            start_ms=_STARTS_MS[start],
            topics=_TOPICS[topics],
        )
        walk = _Walk(config, self._domain, self._judge)
        yield Reset(config=config)
        for step in case.steps:
            yield from walk.take(step)
        yield from walk.send_everything()


class _Walk:
    def __init__(
        self, config: AccumulatorConfig, domain: AccumulatorDomain, judge: BatchLedger
    ) -> None:
        self._domain = domain
        self._sizes = domain.sizes(config.batch_size)
        self._judge = judge
        self._now_ms = config.start_ms
        self._named = 0
        self._offset = 0
        self._closed = False

    def take(self, step: DrawnStep) -> Iterator[AccumulatorCall | None]:
        match step:
            case "append_plainly", (partition,):
                # Without plain small records few batches would wait.
                yield self._append(partition, 3)
            case "append", (partition, size, timeout, fault, callback):
                yield self._append(
                    partition,
                    self._sizes[size],
                    _TIMEOUTS_MS[timeout],
                    _FAULTS[fault],
                    _CALLBACKS[callback],
                )
            case "ready", (first, second, last):
                leaders = _FIRST[first], _SECOND[second], _LAST[last]
                nodes = zip(PARTITIONS, leaders, strict=True)
                yield Ready(leaders={place: node for place, node in nodes if node is not None})
            case "drain" | "respond" | "split" | "interrupt", _:
                yield None
                yield from self._react(step)
            case "expire", ():
                yield Expire()
            case "flush", ():
                yield Flush(flush=self._name("f"))
            case "advance", (jump,):
                yield self._advance(_JUMPS_MS[jump])
            case "close", (0, by_force) if not self._closed:
                self._closed = True
                yield Close()
                if by_force:
                    yield Abort()
            case _:
                pass

    def send_everything(self) -> Iterator[AccumulatorCall | None]:
        """Yield the calls after which each record has its outcome, and all memory is back."""
        yield self._advance(_LONG_MS)
        yield None
        queues = self._judge.queues
        while queues.unfinished():
            yield from map(self._store, tuple(queues.in_flight))
            if not self._domain.asks_ready:
                # A callback may have appended what a drain leaves to linger.
                yield self._advance(_LONG_MS)
            for node, partition in ((0, 0), (1, 1), (0, 2)):
                yield Drain(node=node, partitions=(partition,), max_size=_LARGE)
            yield None
            queues = self._judge.queues
        if self._domain.asks_ready:
            yield Ready(leaders={0: 0, 1: 1, 2: 0})

    def _react(self, step: DrawnStep) -> Iterator[AccumulatorCall]:
        """Yield the calls that depend on the answers so far."""
        queues = self._judge.queues
        in_flight = queues.in_flight
        match step:
            case "drain", (node, drained, most):
                partitions = ((node,), (node, PARTITIONS[-1]), PARTITIONS)[drained]
                both = sum(queues.head_sizes(partitions)[:2])
                below_both = (max(0, both - below) for below in self._domain.below_both)
                sizes = (*self._domain.most_drained, *below_both)
                yield Drain(node=node, partitions=partitions, max_size=sizes[most])
            case "respond", (number, answer) if in_flight:
                batch = sorted(in_flight)[number % len(in_flight)]
                if self._domain.answers[answer] == "again" and not in_flight[batch].ended:
                    yield Reenqueue(batch=batch)
                elif self._domain.answers[answer] == "failed":
                    yield Respond(batch=batch)
                else:
                    yield self._store(batch)
            case "split", (number, size):
                if splittable := queues.splittable():
                    yield Split(batch=splittable[number % len(splittable)], size=_SPLITS[size])
            case "interrupt", (number,):
                if waiting := self._judge.waiting():
                    yield Interrupt(name=waiting[number % len(waiting)])
            case _:
                pass

    def _append(
        self,
        partition: int,
        size: int,
        timeout_ms: int = 0,
        fault: AppendFault | None = None,
        callback: CallbackFault | None = None,
    ) -> AccumulatorCall:
        return Append(
            record=self._name("r"),
            partition=partition,
            size=size,
            max_time_to_block_ms=timeout_ms,
            fault=fault,
            callback=callback,
        )

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
