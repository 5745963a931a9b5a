"""Judges the history of a record accumulator, event by event (standard 4)."""

from collections import Counter

from wheelproof_spec.base.calls import AvailableMemory, Close, Interrupt, Memory, Tick
from wheelproof_spec.base.history.clock import HistoryClock
from wheelproof_spec.base.history.judging import NOT_QUIET, ends_quietly
from wheelproof_spec.base.history.lines import HistoryEnd, HistoryOp
from wheelproof_spec.base.results.tally import Tally
from wheelproof_spec.base.results.violation import Violation
from wheelproof_spec.components.accumulator.calls import (
    EXPIRED,
    Abort,
    Append,
    Appended,
    Callback,
    Drain,
    Drained,
    Expire,
    Flush,
    FlushInProgress,
    HasIncomplete,
    Mute,
    Readiness,
    Ready,
    Reenqueue,
    Respond,
    Split,
    Unmute,
    YesOrNo,
)
from wheelproof_spec.components.accumulator.component import AccumulatorClause, AccumulatorConfig
from wheelproof_spec.components.accumulator.history.appends import Appends, taken_after_close
from wheelproof_spec.components.accumulator.history.callbacks import Callbacks, never_called_back
from wheelproof_spec.components.accumulator.history.checks import Checks
from wheelproof_spec.components.accumulator.history.flushes import Flushes
from wheelproof_spec.components.accumulator.history.holdings import Holdings
from wheelproof_spec.components.accumulator.history.queues import Queues
from wheelproof_spec.components.accumulator.history.record import Batch, Record
from wheelproof_spec.components.accumulator.history.turns import Turns

_ENDS_BATCHES = (Respond, Expire, Abort)
_SENDER = (*_ENDS_BATCHES, Ready, Drain, Reenqueue, Split)


class AccumulatorHistoryJudge:
    """The judge of an accumulator's history: it returns the first rule that each event breaks."""

    goes_on_after = frozenset(AccumulatorClause)

    def __init__(
        self,
        config: AccumulatorConfig,
        clock: HistoryClock,
        tally: Tally,
        *,
        ends_in_order: bool,
    ) -> None:
        """Begin; `clock` follows the times of the history.

        `ends_in_order` says that what expires or is aborted is called back in order, too.
        """
        self._clock = clock
        self._config = config
        self._tests = tally.tests
        self._records: dict[str, Record] = {}
        self._callbacks = Callbacks(config, clock, tally, ends_in_order=ends_in_order)
        self._holdings = Holdings(config, tally)
        self._queues = Queues(self._records, tally)
        self._turns = Turns(self._queues.waiting, tally)
        self._interrupts: Counter[str] = Counter()
        """How many interrupts of each process have not ended a call yet."""
        self._flushes = Flushes(self._callbacks, self._interrupts, tally)
        oldest_ms = self._callbacks.oldest_ms
        self._checks = Checks(
            config, clock, self._turns, self._queues, self._flushes, oldest_ms, tally
        )
        self._appends = Appends(
            clock,
            self._records,
            self._callbacks,
            self._holdings,
            self._queues,
            self._turns,
            self._checks,
            self._interrupts,
            tally,
        )
        self._going_back: dict[int, Batch] = {}
        """The batches that go back to their queues, by the events of these calls."""
        self._sender = 0
        self._alone = -1
        """The last call of the sender, or -1 if another sender call overlaps it."""
        self._enders = 0
        self._last_ender = -1

    # What the checker calls

    def invoked(self, op: HistoryOp[object]) -> Violation | None:
        """Record that a call or a callback began."""
        self._clock.at(op.time_ns)
        value = op.value
        if isinstance(value, Callback):
            return self._call_back(value, op.index)
        if isinstance(value, _SENDER):
            self._alone = -1 if self._sender else op.index
            self._sender += 1
            self._enders += isinstance(value, _ENDS_BATCHES)
        match value:
            case Append():
                self._appends.asked(value, op.index)
            case Respond() | Reenqueue() | Split():
                self._begin_with_batch(value, op.index)
            case Drain():
                self._callbacks.has_drains = True
                self._callbacks.open_drains += 1
            case Ready():
                self._checks.begin(op.index, closed=self._appends.closed is not None)
            case Mute(partition=partition):
                self._turns.mute_begins(partition, op.index)
            case Unmute(partition=partition):
                self._queues.unmute_begins(partition, op.index)
            case Tick(to_ms=to_ms):
                self._clock.ticking(to_ms)
            case Flush():
                self._flushes.begins(op.index, op.process)
            case Interrupt(name=name):
                self._interrupts[name] += 1
            case Close():
                self._appends.closing = True
            case Abort():
                self._appends.closing = self._callbacks.has_aborts = True
                self._holdings.may_abort()
            case AvailableMemory():
                self._holdings.begin_read_of_memory(op.index)
            case HasIncomplete():
                self._holdings.begin_read_of_incomplete(op.index)
            case FlushInProgress():
                self._flushes.begin_read(op.index)
            case _:
                pass
        return None

    def ended(self, op: HistoryOp[object]) -> Violation | None:
        """Record that a callback ended; no rule depends on it."""
        self._clock.at(op.time_ns)
        return None

    def returned(self, asked: HistoryOp[object], op: HistoryOp[object]) -> Violation | None:
        """Record that a call returned with an answer."""
        self._clock.at(op.time_ns)
        violation = self._return(asked, op)
        self._end_of_sender(asked, op)
        return violation

    def failed(self, asked: HistoryOp[object], op: HistoryOp[object]) -> Violation | None:
        """Record that a call was refused, without an effect."""
        self._clock.at(op.time_ns)
        self._end_of_sender(asked, op)
        match asked.value:
            case Append(record=name):
                return self._appends.refused(name, op)
            case Flush():
                self._flushes.ends(asked.index)
                return self._appends.unprovoked(op, AccumulatorClause.FLUSH_WAITS)
            case Reenqueue() | Split():
                self._stays_in_flight(asked.index)
                return None
            case Ready():
                self._checks.forget(asked.index)
                return None
            case Unmute(partition=partition):
                self._queues.unmute_ends(partition, op.index)
                return None
            case Drain():
                self._callbacks.open_drains -= 1
                return None
            case _:
                self._forget_read(asked.index)
                return None

    def lost(self, asked: HistoryOp[object], op: HistoryOp[object]) -> None:
        """Record that a call has no known end; a lost sender call counts as still running."""
        self._clock.at(op.time_ns)
        if isinstance(asked.value, Append):
            self._holdings.lost(self._records[asked.value.record])
        elif isinstance(asked.value, Flush):
            self._flushes.lost(asked.index)
        elif isinstance(asked.value, Ready):
            self._checks.forget(asked.index)
        elif asked.index in self._going_back:
            # It may be in flight still: its response may come.
            self._queues.regained(self._going_back.pop(asked.index), in_flight=False)
        else:
            self._forget_read(asked.index)

    def finish(self, end: HistoryEnd | None, index: int) -> Violation | None:
        """Record the end of the history; if it is quiet, every record must be called back."""
        if not ends_quietly(end):
            return None
        first = self._callbacks.first_owed(index)
        return None if first is None else never_called_back(first, "all calls are over")

    def notes(self, end: HistoryEnd | None) -> tuple[str, ...]:
        """Return what was not judged."""
        found: list[str] = []
        if not isinstance(self._config.delivery_timeout_ms, int) or not self._clock.judges_times:
            found.append("without a clock and delivery_timeout_ms no expiry was judged")
        elif not self._callbacks.has_checked:
            found.append("no expiry check was recorded: records that never expire were not judged")
        if self._config.callbacks != "in_order":
            found.append("callbacks are not claimed to run in order: that was not judged")
        if self._config.gives_back != "at_once":
            found.append(
                "memory is not claimed to be given back at once: full pools were not judged"
            )
        if self._callbacks.alone:
            found.append(
                f"{self._callbacks.alone} records were told an outcome, and no drain shows their "
                "batch: their places in it were not judged"
            )
        if self._turns.unnamed:
            found.append("drains do not name their partitions: their fairness was not judged")
        if not ends_quietly(end):
            found.append(NOT_QUIET)
        return tuple(found)

    def _call_back(self, value: Callback, index: int) -> Violation | None:
        record = self._records.get(value.record)
        violation = self._callbacks.judge(record, value, index)
        if record is None or record.called_back != index:
            return violation
        batch = record.batch
        is_read = value.error == EXPIRED and self._callbacks.has_responses
        is_read = is_read and batch is not None and batch.in_flight and not batch.answered
        self._holdings.called_back(record, is_read=is_read)
        self._checks.gone([record])
        if record.returned is None and self._appends.came_after_close(record):
            why = "close had returned before its append began"
            return violation or taken_after_close(record, why)
        return violation

    # The sender's calls, and the others

    def _begin_with_batch(self, value: Respond | Reenqueue | Split, index: int) -> None:
        batch = self._queues.batch(value.batch)
        if isinstance(value, Respond):
            self._callbacks.has_responses = True
            if batch is not None:
                batch.answered = True
                self._holdings.may_land(batch)
            return
        if batch is None:
            self._turns.lost_track = self._queues.retries.lost_track = True
            return
        self._queues.retries.begins(batch, index, in_parts=isinstance(value, Split))
        self._checks.back(record for record in batch.records if record.batch is batch)
        if isinstance(value, Split):
            self._holdings.split(batch)
            for record in batch.records:
                record.batch = None if record.batch is batch else record.batch
            self._queues.split(batch)
        else:
            self._queues.back(batch)
        self._turns.back(batch)
        self._holdings.may_land(batch)
        self._going_back[index] = batch

    def _stays_in_flight(self, call: int) -> None:
        """Record that the call of event `call` was refused: its batch did not go back."""
        batch = self._going_back.pop(call, None)
        if batch is None:
            return
        self._queues.regained(batch, in_flight=True)
        self._queues.retries.fails(call, batch)
        self._turns.not_back(batch)
        self._checks.gone(record for record in batch.records if record.batch is batch)

    def _return(self, asked: HistoryOp[object], op: HistoryOp[object]) -> Violation | None:
        match asked.value, op.value:
            case Append(record=name), Appended() as answer:
                return self._appends.accepted(name, answer, op.index)
            case Ready() as check, Readiness() as told:
                alone = self._alone == asked.index
                may_be_closed = self._appends.closing
                return self._checks.judge(
                    asked.index, check, told, alone=alone, may_be_closed=may_be_closed
                )
            case Drain() as call, Drained() as answer:
                return self._drained(asked.index, call, answer)
            case Respond(batch=name), _:
                return self._respond(name, op.index)
            case Reenqueue() | Split(), _:
                self._queues.retries.ends(asked.index, op.index)
                batch = self._going_back.pop(asked.index, None)
                if batch is not None:
                    self._holdings.landed(batch)
            case Mute(partition=partition), _:
                self._queues.mute(partition, asked.index, op.index)
                self._turns.mute_ends(partition)
            case Unmute(partition=partition), _:
                self._queues.unmute_ends(partition, op.index)
                self._turns.unmute_ends(partition, asked.index)
            case Tick(to_ms=to_ms), _:
                self._clock.ticked(to_ms)
            case Close(), _:
                self._appends.close(op.index)
            case Abort(), _:
                return self._end_abort(asked, op)
            case Expire(), _:
                return self._end_expire(asked, op)
            case Flush(), _:
                return self._flushes.returned(asked.index)
            case AvailableMemory(), Memory(size=size):
                return self._holdings.judge_memory(asked.index, op.index, size)
            case HasIncomplete(), YesOrNo(yes=yes):
                return self._holdings.judge_incomplete(asked.index, op.index, yes=yes)
            case FlushInProgress(), YesOrNo(yes=yes):
                return self._flushes.judge(asked.index, op.index, yes=yes)
            case _:
                pass
        return None

    def _drained(self, began: int, call: Drain, answer: Drained) -> Violation | None:
        self._callbacks.open_drains -= 1
        alone = not self._enders and self._last_ender < began
        wrong = self._queues.drained(began, call, answer, alone=alone)
        for taken in answer.batches:
            batch = self._queues.batch(taken.batch)
            self._checks.gone(batch.records if batch is not None else ())
        unfair = self._turns.drained(
            began, call, answer, self._checks.may_hold, alone=self._alone == began
        )
        return wrong or unfair

    def _end_abort(self, asked: HistoryOp[object], op: HistoryOp[object]) -> Violation | None:
        closed = self._appends.closed is not None and self._appends.closed < asked.index
        # After a close, appends that were accepted during the abort are aborted, too.
        until = op.index if closed else asked.index
        first = self._callbacks.first_owed(until)
        left = first
        while left is not None:
            self._give_up(left, op.index)
            left = self._callbacks.first_owed(until)
        if first is None:
            return None
        return never_called_back(first, "an abort that had to end it has returned")

    def _end_expire(self, asked: HistoryOp[object], op: HistoryOp[object]) -> Violation | None:
        late = self._callbacks.left_late(alone=self._alone == asked.index)
        if late is None:
            return None
        self._give_up(late, op.index)
        return AccumulatorClause.EXPIRES_IN_TIME.broken(
            f"{late.name!r} expires: its delivery timeout has passed",
            f"the expiry check returns, and {late.name!r} was not called back",
            f"{late.name!r}, accepted by event {late.returned}, was late at the expiry "
            "check before, but this check returned without expiring it (standard 4.5)",
        )

    def _respond(self, name: str, index: int) -> Violation | None:
        batch = self._queues.batch(name)
        if batch is None:
            return None
        self._queues.back(batch)
        self._holdings.landed(batch)
        self._tests(AccumulatorClause.COMPLETES_ONCE)
        left = [record for record in batch.records if record.is_owed and record.batch is batch]
        for record in left:
            self._give_up(record, index)
        if not left:
            return None
        return never_called_back(left[0], f"the response to its batch {name!r} has been handled")

    def _give_up(self, record: Record, index: int) -> None:
        """Stop waiting for a missing callback, so that it causes no further violations."""
        self._callbacks.give_up(record, index)
        self._holdings.called_back(record)

    def _forget_read(self, call: int) -> None:
        self._holdings.forget_read(call)
        self._flushes.may_go_on(call)

    def _end_of_sender(self, asked: HistoryOp[object], op: HistoryOp[object]) -> None:
        if isinstance(asked.value, _SENDER):
            self._sender -= 1
            if isinstance(asked.value, _ENDS_BATCHES):
                self._enders -= 1
                self._last_ender = op.index
        if not self._sender:
            self._holdings.idle()
