"""The work of a record accumulator: what is asked of it, by one thread or by several.

The sender's responses depend on the batches that were drained, so a driven case first waits for
answers. In a burst threads append, flush and close, while a sender of its own drains and answers.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from wheelproof_spec.base.calls import AvailableMemory
from wheelproof_spec.base.codec.vocabulary import ABSENT, Absent
from wheelproof_spec.base.component import Call
from wheelproof_spec.components.accumulator.calls import (
    AppendFault,
    CallbackFault,
    Expire,
    FlushInProgress,
    HasIncomplete,
    Ready,
)
from wheelproof_spec.components.accumulator.component import AccumulatorConfig
from wheelproof_spec.components.accumulator.oracle.records import upper_bound
from wheelproof_spec.drive.work import (
    AdvanceBy,
    Alphabet,
    Draw,
    InterruptThread,
    Kind,
    always,
)

LARGE = 2**20
"""More than all batches of a drain have."""
LONG_MS = 10_000
"""More than any wait takes."""

PARTITIONS = (0, 1, 2)
"""The partitions of a case; the last one has no leader now and then."""

_PATIENTLY_MS = 600_000
"""Longer than a burst may take: if no memory comes, the burst is stuck."""
_BURST_BATCH_SIZE = 100
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
_TOPICS: Sequence[Mapping[int, str] | Absent] = (ABSENT, {2: "other"}, {0: "other", 2: "third"})
_TIMEOUTS_MS = (0, 5, LONG_MS)
_CALLBACKS = (None, None, None, None, *CallbackFault)
_FAULTS = (None,) * 8 + tuple(AppendFault)
_FIRST = (0, 0, None)
_SECOND = (1, 1, 0)
_LAST = (0, 1, 2, None)
_NODES = (0, 1)
_MOST_DRAINED = (0, 100, 200, LARGE)
_BELOW_BOTH = (1, 0)
_ANSWERS: Sequence["_Answer"] = ("stored", "failed", "again")
_MANY_ANSWERS: Sequence[tuple["_Answer", ...]] = (
    ("stored",),
    ("failed",),
    ("again", "stored"),
    ("again", "failed"),
)
_SPLITS = (1, 75, 90)
_JUMPS_MS = (0, 1, 5, 20)


_Answer = Literal["stored", "failed", "again"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AppendRecord(Call):
    """Append a record."""

    partition: int
    size: int
    max_time_to_block_ms: int = 0
    fault: AppendFault | None = None
    callback: CallbackFault | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DrainUpTo(Call):
    """Drain a node's partitions.

    With `below_both` the size limit is so much less than the first two batches have together.
    """

    node: int
    partitions: tuple[int, ...]
    max_size: int = LARGE
    below_both: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RespondToOne(Call):
    """Answer one of the batches that are in flight then, counted round."""

    batch: int
    answer: _Answer


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitOne(Call):
    """Split one of the batches that can be split then, counted round."""

    batch: int
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FlushAll(Call):
    """Flush, on a thread of its own when driven."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CloseAll(Call):
    """Close; by force, what is left is aborted."""

    by_force: bool


AccumulatorStep = (
    AppendRecord
    | AvailableMemory
    | HasIncomplete
    | FlushInProgress
    | Ready
    | DrainUpTo
    | RespondToOne
    | SplitOne
    | Expire
    | FlushAll
    | InterruptThread
    | AdvanceBy
    | CloseAll
)


@dataclass(frozen=True, slots=True, kw_only=True)
class AccumulatorSetup:
    """An accumulator; in a burst the sender splits one in so many batches.

    Those of `answers` are its answers to the batches that it does not split, again and again. It
    asks `ready` first, and expires what is overdue, if `asks_ready`.
    """

    config: AccumulatorConfig
    split_one_in: int = 1
    answers: tuple[_Answer, ...] = ("stored",)
    asks_ready: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class AccumulatorWork:
    """Steps that append, drain and answer, within bounds.

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
    def least_batch_size(self) -> int:
        """The smallest size of a batch."""
        return 90 if self.kafka_sizes else upper_bound(20)

    def setup(self, draw: Draw) -> AccumulatorSetup:
        """Return an accumulator with memory for a few batches."""
        size = self.least_batch_size + draw.below(_MOST_BATCH_SIZE + 1 - self.least_batch_size)
        size += draw.among(_LARGER if self.kafka_sizes else _LARGER[:1])
        batches, linger_ms = draw.among(_BATCHES), draw.among(_LINGERS_MS)
        backoff_ms = draw.among(_BACKOFFS_MS)
        doublings = draw.among(_DOUBLINGS if self.growing_backoff else _DOUBLINGS[:1])
        return AccumulatorSetup(
            config=AccumulatorConfig(
                total_memory=size * (batches if self.memory else _MORE_THAN_ENOUGH),
                batch_size=size,
                linger_ms=linger_ms,
                retry_backoff_ms=backoff_ms,
                retry_backoff_max_ms=backoff_ms * doublings,
                delivery_timeout_ms=draw.among(
                    _DELIVERY_MS if self.exact_time else _DELIVERY_MS[:-1]
                ),
                start_ms=draw.among(_STARTS_MS),
                topics=draw.among(_TOPICS),
            )
        )

    def kinds(self) -> Alphabet[AccumulatorSetup, AccumulatorStep]:
        """Return the alphabet; see `Work.kinds`."""
        kinds: dict[str, Kind[AccumulatorSetup, AccumulatorStep]] = {
            # Without plain small records few batches would wait.
            "append_plainly": Kind(
                draw=lambda draw, _: AppendRecord(partition=draw.among(PARTITIONS), size=3)
            ),
            "append": Kind(draw=self._append),
            "ready": Kind(draw=_ready),
            "drain": Kind(draw=self._drain),
            "respond": Kind(
                draw=lambda draw, _: RespondToOne(
                    batch=draw.below(_MANY),
                    answer=draw.among(_ANSWERS if self.retries else _ANSWERS[:-1]),
                )
            ),
            "expire": Kind(draw=always(Expire())),
            "advance": Kind(draw=lambda draw, _: AdvanceBy(jump_ms=draw.among(_JUMPS_MS))),
        }
        if not self.asks_ready:
            del kinds["ready"]
        if not self.expires:
            del kinds["expire"]
        if self.splits:
            kinds["split"] = Kind(
                draw=lambda draw, _: SplitOne(batch=draw.below(_MANY), size=draw.among(_SPLITS))
            )
        if self.flushes:
            kinds["flush"] = Kind(draw=always(FlushAll()))
        if self.interruption:
            kinds["interrupt"] = Kind(
                draw=lambda draw, _: InterruptThread(victim=draw.below(_MANY))
            )
        if self.closes:
            kinds["close"] = Kind(draw=_close)
        return kinds

    def _append(self, draw: Draw, setup: AccumulatorSetup) -> AccumulatorStep:
        return AppendRecord(
            partition=draw.among(PARTITIONS),
            size=draw.among(self.sizes(setup.config.batch_size)),
            max_time_to_block_ms=draw.among(_TIMEOUTS_MS),
            fault=draw.among(_FAULTS if self.faults else _FAULTS[:1]),
            callback=draw.among(_CALLBACKS),
        )

    def _drain(self, draw: Draw, setup: AccumulatorSetup) -> AccumulatorStep:
        del setup
        node = draw.among(_NODES)
        # The node's partition, the last one as well, or all.
        partitions = draw.among(((node,), (node, PARTITIONS[-1]), PARTITIONS))
        if not self.bounds_drains:
            return DrainUpTo(node=node, partitions=partitions)
        most = draw.below(len(_MOST_DRAINED) + len(_BELOW_BOTH))
        if most < len(_MOST_DRAINED):
            return DrainUpTo(node=node, partitions=partitions, max_size=_MOST_DRAINED[most])
        below = _BELOW_BOTH[most - len(_MOST_DRAINED)]
        return DrainUpTo(node=node, partitions=partitions, below_both=below)


@dataclass(frozen=True, slots=True, kw_only=True)
class BurstWork:
    """Steps of threads that append, flush, interrupt each other and close, beside a sender.

    With `programs` threads ask as well, and nobody interrupts; the sender has more answers.
    """

    programs: bool = False

    def setup(self, draw: Draw) -> AccumulatorSetup:
        """Return an accumulator with memory for one to three batches."""
        batches, split_one_in = draw.between(1, 3), draw.among((2, 1_000))
        config = AccumulatorConfig(
            total_memory=_BURST_BATCH_SIZE * batches, batch_size=_BURST_BATCH_SIZE
        )
        setup = AccumulatorSetup(config=config, split_one_in=split_one_in)
        if not self.programs:
            return setup
        return replace(
            setup,
            config=replace(config, linger_ms=0, retry_backoff_ms=0, retry_backoff_max_ms=0),
            answers=draw.among(_MANY_ANSWERS),
            asks_ready=draw.among((False, True)),
        )

    def kinds(self) -> Alphabet[AccumulatorSetup, AccumulatorStep]:
        """Return the alphabet; see `Work.kinds`."""
        kinds: dict[str, Kind[AccumulatorSetup, AccumulatorStep]] = {
            "append": Kind(
                draw=lambda draw, _: AppendRecord(
                    partition=draw.among(PARTITIONS[:2]),
                    size=draw.among((0, 3, 10)),
                    max_time_to_block_ms=_PATIENTLY_MS,
                ),
                weight=40,
            ),
            "flush": Kind(draw=always(FlushAll()), weight=14),
            "interrupt": Kind(draw=lambda draw, _: InterruptThread(victim=draw.below(4)), weight=8),
            "close": Kind(
                draw=lambda draw, _: CloseAll(by_force=draw.among((False, True))), weight=2
            ),
        }
        if self.programs:
            del kinds["interrupt"]
            kinds["close"] = Kind(draw=always(CloseAll(by_force=False)), weight=1)
            kinds["close_by_force"] = Kind(draw=always(CloseAll(by_force=True)), weight=1)
            kinds["ask_memory"] = Kind(draw=always(AvailableMemory()), weight=1)
            kinds["ask_incomplete"] = Kind(draw=always(HasIncomplete()), weight=1)
            kinds["ask_flushes"] = Kind(draw=always(FlushInProgress()), weight=1)
        return kinds


BURSTS = BurstWork()
PROGRAMS = BurstWork(programs=True)
"""The work of programs, which a model checker explores."""


def _close(draw: Draw, setup: AccumulatorSetup) -> AccumulatorStep | None:
    del setup
    rare, by_force = draw.once_in(_RARELY), draw.among((False, True))
    return CloseAll(by_force=by_force) if rare else None


def _ready(draw: Draw, setup: AccumulatorSetup) -> AccumulatorStep:
    del setup
    leaders = draw.among(_FIRST), draw.among(_SECOND), draw.among(_LAST)
    nodes = zip(PARTITIONS, leaders, strict=True)
    return Ready(leaders={place: node for place, node in nodes if node is not None})
