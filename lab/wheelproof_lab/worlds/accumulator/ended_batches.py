"""One batch that two threads end: the first decides, and the other is refused or told so.

The accumulator lets only its sender end a batch, so a second end is misuse, or a forced close that
comes in between. What a callback raises is logged (standard 4.7, 6.5).
"""

from collections.abc import Callable, Mapping
from functools import partial

from wheelproof import sync
from wheelproof.producer import (
    FinalState,
    IllegalStateError,
    ProducerAbortedError,
    ProducerBatch,
    Record,
    RecordMetadata,
    TopicPartition,
)
from wheelproof.producer.accumulator import producer_batch
from wheelproof.producer.byte_buffer import allocate_byte_buffer
from wheelproof_explore.program import Program, Scenario
from wheelproof_lab.worlds.making import logged
from wheelproof_lab.worlds.tables import Bench, Pairs, ProgramRow, act, pairs_of, scenario_of
from wheelproof_lab.worlds.timer.system_timer import StandingClock

_PARTITION = TopicPartition("topic", 0)
_RECORD = Record(timestamp_ms=0, value=bytes(50))
_ROOM = 300
_SPLIT_SIZE = 1
"""Less than a record takes: each gets a batch of its own, in which two have no room."""


class _NotCopiedError(ProducerAbortedError):
    """An error that cannot be made again from its arguments: each waiter gets this very object."""

    def __init__(self, what: str, why: str) -> None:
        super().__init__(f"{what}: {why}")


_ERROR = _NotCopiedError("not stored", "the broker said so")


class EndedBatch(Bench):
    """A batch of records, and how it was ended; one callback raises, and one record has none."""

    def __init__(self, batch_class: type[ProducerBatch], records: int = 3) -> None:
        super().__init__()
        self._batch = batch_class(
            _PARTITION,
            allocate_byte_buffer(_ROOM),
            created_ms=0,
            clock=StandingClock(),
            monitor=sync.monitor("queue"),
            place=(1,),
        )
        self._told: list[RecordMetadata | Exception | None] = []
        callbacks = [self._take_and_raise, self._take, None][:records]
        appended = [self._batch.try_append(_RECORD, callback) for callback in callbacks]
        self._futures = [future for future in appended if future is not None]
        self._batch.close_for_record_appends()
        self._ended: list[FinalState] = []
        self._late: list[FinalState] = []
        self._refused: list[FinalState] = []

    def complete(self) -> None:
        """End the batch as stored."""
        self._end(FinalState.SUCCEEDED, partial(self._batch.complete, 0))

    def fail(self) -> None:
        """End the batch by an error."""
        self._end(FinalState.FAILED, partial(self._batch.complete_exceptionally, _ERROR))

    def abort(self) -> None:
        """End the batch as a forced close does."""
        self._end(FinalState.ABORTED, partial(self._batch.abort, _ERROR))

    def split(self) -> None:
        """Split the batch into one for each record."""
        self._end(FinalState.SPLIT, lambda: len(self._batch.split(_SPLIT_SIZE)) == 3)

    def _end(self, state: FinalState, end: Callable[[], bool]) -> None:
        with logged(producer_batch.__name__) as errors:
            try:
                first = end()
            except IllegalStateError:
                self._refused.append(state)
                return
        if not first:
            self._late.append(state)
            return
        self._ended.append(state)
        raised = 0 if state is FinalState.SPLIT else 1
        assert len(errors) == raised, f"{raised} callbacks raised, and {len(errors)} were logged"

    def check(self) -> None:
        """Raise unless the batch ended once, and the other end was refused if it had to be."""
        (ended,) = self._ended
        failed = ended in (FinalState.FAILED, FinalState.ABORTED)
        for late in self._late:
            assert failed or late is FinalState.ABORTED, f"{ended}, and {late} was not refused"
        for refused in self._refused:
            expected = refused is not FinalState.ABORTED and (
                refused is FinalState.SPLIT or not failed
            )
            assert expected, f"{ended}, and {refused} was refused"
        self.misuse_alone()

    def misuse(self) -> None:
        """Raise unless a batch that has ended refuses to be split, and one record always."""
        batch = self._batch
        self.refuses(IllegalStateError, partial(batch.split, _SPLIT_SIZE))
        single = EndedBatch(type(batch), records=1)
        single.refuse_a_split()
        # Once its memory has gone back there is nothing to send.
        memory, batch.buffer = batch.buffer, None
        self.refuses(IllegalStateError, batch.records)
        batch.buffer = memory

    def refuse_a_split(self) -> None:
        """Raise unless a batch of one record cannot be split, and can be stored afterwards."""
        self.refuses(
            IllegalStateError, partial(self._batch.split, _SPLIT_SIZE), self._batch.split_in_halves
        )
        assert not self._batch.is_done(), "a refused split has ended the batch"
        self.complete()
        self._check_told(FinalState.SUCCEEDED)

    def state(self) -> object:
        """Return what the callbacks were told; raise unless it is what the end says."""
        (ended,) = self._ended
        self._check_told(ended)
        return tuple(self._told)

    def _check_told(self, ended: FinalState) -> None:
        callbacks = 0 if ended is FinalState.SPLIT else min(2, len(self._futures))
        assert len(self._told) == callbacks, f"{ended}, and told {self._told}"
        for place, told in enumerate(self._told):
            stored = isinstance(told, RecordMetadata) and told.offset == place
            assert stored if ended is FinalState.SUCCEEDED else told is _ERROR, f"told {told}"
        done = [future.is_done() for future in self._futures]
        assert all(done) if callbacks else not any(done), f"{ended}, and futures are done: {done}"
        for future, told in zip(self._futures, self._told, strict=False):
            try:
                got: RecordMetadata | Exception = future.get(0)
            except ProducerAbortedError as error:
                got = error
            assert got is told or got == told, f"told {told}, and the future has {got}"

    def _take(self, metadata: RecordMetadata | None, error: Exception | None) -> None:
        self._told.append(metadata or error)

    def _take_and_raise(self, metadata: RecordMetadata | None, error: Exception | None) -> None:
        self._take(metadata, error)
        raise ValueError("the application's own")


_PAIRS: Mapping[str, Pairs[ProgramRow[EndedBatch], EndedBatch]] = {
    "batch": Pairs(
        row=ProgramRow(summary="A batch of three records, ended by two threads"),
        each={
            "complete": act(EndedBatch.complete),
            "fail": act(EndedBatch.fail),
            "abort": act(EndedBatch.abort),
            "split": act(EndedBatch.split),
        },
    ),
}


def _build(row: ProgramRow[EndedBatch], batch_class: type[ProducerBatch]) -> Scenario:
    return scenario_of(row, EndedBatch(batch_class))


_SOUND: type[ProducerBatch] = ProducerBatch


def ends_with(batch_class: type[ProducerBatch]) -> tuple[Program, ...]:
    """Return the pairs of ends for a class of batch."""
    return pairs_of(_PAIRS, _build, batch_class)


ENDS = ends_with(_SOUND)
