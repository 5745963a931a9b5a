"""Judges the history of a record accumulator, event by event (semantics.md 4)."""

from wheelproof_spec.base.history.clock import HistoryClock
from wheelproof_spec.base.history.lines import HistoryEnd, HistoryOp
from wheelproof_spec.base.strict_json import MalformedError
from wheelproof_spec.base.violation import Violation
from wheelproof_spec.components.accumulator.events import (
    AccumulatorSettings,
    AppendAnswer,
    AppendAsked,
    BatchAsked,
    CallbackAsked,
    DrainAnswer,
    PartitionAsked,
)
from wheelproof_spec.components.accumulator.history.callbacks import Callbacks
from wheelproof_spec.components.accumulator.history.memory import Memory
from wheelproof_spec.components.accumulator.history.queues import Queues
from wheelproof_spec.components.accumulator.history.record import Record
from wheelproof_spec.components.accumulator.history.violations import (
    accepted_after_close,
    called_back_wrongly,
    flushed_too_early,
    gave_up_early,
    never_called_back,
    refused_while_open,
)
from wheelproof_spec.components.buffer_pool.events import (
    MemoryAnswer,
)
from wheelproof_spec.components.timer.events import TickAsked

CLOSED = "Closed"
EXHAUSTED = "Exhausted"
_ENDS_BATCHES = ("respond", "expire", "abort")
_SENDER = (*_ENDS_BATCHES, "drain", "reenqueue", "split")


class AccumulatorHistoryJudge:
    """Answers, event by event, which rule is broken first."""

    def __init__(self, settings: AccumulatorSettings, clock: HistoryClock) -> None:
        self._clock = clock
        self._settings = settings
        self._records: dict[str, Record] = {}
        self._callbacks = Callbacks(settings, clock)
        self._memory = Memory(settings)
        self._queues = Queues(self._records)
        self._sender = 0
        self._enders = 0
        self._last_ender = -1
        self._closing = False
        self._closed: int | None = None

    # What the checker calls

    def invoked(self, op: HistoryOp[object]) -> Violation | None:
        """A call, or a callback, begins."""
        self._clock.at(op.time_ns)
        value = op.value
        if isinstance(value, CallbackAsked):
            return self._call_back(value, op.index)
        if op.f in _SENDER:
            self._sender += 1
            self._enders += op.f in _ENDS_BATCHES
        match value:
            case AppendAsked():
                self._append(value, op.index)
            case TickAsked(to_ms=to_ms):
                self._clock.ticking(to_ms)
            case PartitionAsked(partition=partition) if op.f == "unmute":
                self._queues.unmute(partition)
            case BatchAsked(batch=name):
                self._begin_with_batch(op.f, name)
            case _:
                self._closing = self._closing or op.f in ("close", "abort")
                if op.f == "available_memory":
                    self._memory.look(op.index)
        return None

    def ended(self, op: HistoryOp[object]) -> Violation | None:
        """A callback ends: nothing depends on that."""
        self._clock.at(op.time_ns)
        return None

    def returned(self, asked: HistoryOp[object], op: HistoryOp[object]) -> Violation | None:
        """A call returned with an answer."""
        self._clock.at(op.time_ns)
        violation = self._return(asked, op)
        self._end_of_sender(asked, op)
        return violation

    def failed(self, asked: HistoryOp[object], op: HistoryOp[object]) -> Violation | None:
        """A call was refused and has had no effect."""
        self._clock.at(op.time_ns)
        self._end_of_sender(asked, op)
        if isinstance(asked.value, AppendAsked):
            return self._refuse(self._records[asked.value.record], op.error)
        self._memory.judge(asked.index, None)
        return None

    def lost(self, asked: HistoryOp[object], op: HistoryOp[object]) -> None:
        """Nobody knows what becomes of a call; one of the sender may go on for ever."""
        self._clock.at(op.time_ns)
        if isinstance(asked.value, AppendAsked):
            self._memory.lost(self._records[asked.value.record])
        else:
            self._memory.judge(asked.index, None)

    def finish(self, end: HistoryEnd | None, index: int) -> Violation | None:
        """The history ends; when all is quiet, every record has been called back."""
        del index
        first = self._callbacks.first_owed()
        if end is None or not end.quiet or first is None:
            return None
        return never_called_back(first.name, "all is quiet")

    def notes(self, end: HistoryEnd | None) -> tuple[str, ...]:
        """Return what was not judged."""
        found: list[str] = []
        if not isinstance(self._settings.delivery_timeout_ms, int) or not self._clock.judges_times:
            found.append("without a clock and delivery_timeout_ms no expiry was judged")
        if self._settings.callbacks != "in_order":
            found.append("callbacks are not claimed to run in order: that was not judged")
        if self._settings.gives_back != "at_once":
            found.append("it is not claimed when memory is given back: full pools were not judged")
        if end is None or not end.quiet:
            found.append("the history does not end quietly: what never happened was not judged")
        return tuple(found)

    # Appends

    def _append(self, value: AppendAsked, index: int) -> None:
        if value.record in self._records:
            raise MalformedError(
                f"appends the record {value.record!r} again; each has its own name"
            )
        record = self._records[value.record] = Record(
            name=value.record,
            partition=value.partition,
            asked=index,
            oldest_ms=self._callbacks.oldest_ms(value.partition),
            patient_until_ms=self._clock.low + value.max_block_ms,
            holds=self._memory.need(value.bytes),
        )
        self._callbacks.asked(record)
        self._memory.asked(record)

    def _accept(self, record: Record, answer: AppendAnswer, index: int) -> Violation | None:
        record.returned = index
        if record.called_back is None:
            self._callbacks.accepted(record)
            self._queues.accepted(record)
        new_batch = answer.new_batch if isinstance(answer.new_batch, bool) else None
        violation = self._memory.accepted(record, new_batch=new_batch)
        if self._closed is not None and self._closed < record.asked:
            return accepted_after_close(record.name)
        return violation

    def _refuse(self, record: Record, error: object) -> Violation | None:
        record.refused = True
        self._callbacks.refused(record)
        if record.called_back is not None:
            return called_back_wrongly(record.name, "it was called back, and then refused")
        if error == CLOSED and not self._closing:
            return refused_while_open(record.name)
        early = error == EXHAUSTED and self._clock.high < record.patient_until_ms
        violation = self._memory.refused(record, exhausted=error == EXHAUSTED)
        return gave_up_early(record.name) if early else violation

    def _call_back(self, value: CallbackAsked, index: int) -> Violation | None:
        record = self._records.get(value.record)
        violation = self._callbacks.judge(record, value, index)
        if record is not None and record.called_back == index:
            self._memory.called_back(record)
        return violation

    # The sender's calls, and the others

    def _begin_with_batch(self, f: str, name: str) -> None:
        batch = self._queues.batch(name)
        if batch is None:
            return
        if f == "split":
            self._memory.split(batch)
            for record in batch.records:
                record.batch = None if record.batch is batch else record.batch
            self._queues.split(batch)
        elif f == "reenqueue":
            self._queues.back(batch)
        if f != "respond":
            self._memory.landed(batch)

    def _return(self, asked: HistoryOp[object], op: HistoryOp[object]) -> Violation | None:
        value, answer = asked.value, op.value
        match value, answer:
            case AppendAsked(record=name), AppendAnswer():
                return self._accept(self._records[name], answer, op.index)
            case _, DrainAnswer():
                alone = not self._enders and self._last_ender < asked.index
                return self._queues.drained(asked.index, answer, alone=alone)
            case _, MemoryAnswer(bytes=available):
                return self._memory.judge(asked.index, available)
            case BatchAsked(batch=name), _ if asked.f == "respond":
                return self._respond(name)
            case PartitionAsked(partition=partition), _ if asked.f == "mute":
                self._queues.mute(partition, op.index)
            case TickAsked(to_ms=to_ms), _:
                self._clock.ticked(to_ms)
            case _:
                return self._return_plain(asked, op)
        return None

    def _return_plain(self, asked: HistoryOp[object], op: HistoryOp[object]) -> Violation | None:
        if asked.f == "close" and self._closed is None:
            self._closed = op.index
        if asked.f not in ("flush", "abort"):
            return None
        closed = self._closed is not None and self._closed < asked.index
        # Who has been accepted since then came before the abort, too.
        until = op.index if asked.f == "abort" and closed else asked.index
        first = self._callbacks.first_owed()
        if first is None or first.returned is None or first.returned > until:
            return None
        if asked.f == "flush":
            return flushed_too_early(first.name)
        return never_called_back(first.name, "an abort that had to end it has returned")

    def _respond(self, name: str) -> Violation | None:
        batch = self._queues.batch(name)
        if batch is None:
            return None
        self._queues.back(batch)
        self._memory.landed(batch)
        left = next((record for record in batch.records if record.is_owed), None)
        if left is None or left.batch is not batch:
            return None
        return never_called_back(left.name, f"the response to its batch {name!r} has been handled")

    def _end_of_sender(self, asked: HistoryOp[object], op: HistoryOp[object]) -> None:
        if asked.f in _SENDER:
            self._sender -= 1
            if asked.f in _ENDS_BATCHES:
                self._enders -= 1
                self._last_ender = op.index
        if not self._sender:
            self._memory.idle()
