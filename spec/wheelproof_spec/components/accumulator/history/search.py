"""The search for a linearization of an accumulator's calls: queues, and batches in flight.

It has a model of its own. The oracle's `Queues` know from sizes and answers where each batch ends;
a history does not tell, and so here a queue holds records, of which a drain makes batches.

An append puts its record at the end of its queue. A drain takes each of its batches at a separate
linearization point. A batch that is sent again goes to the front (standard 4.1 - 4.6). Memory,
sizes, expiry, readiness and fairness are left out.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from wheelproof_spec.base.clause import Clause
from wheelproof_spec.base.history.judging import Searched, WholeHistory
from wheelproof_spec.base.history.lines import HistoryOp
from wheelproof_spec.components.accumulator.calls import (
    Abort,
    Append,
    Callback,
    Drain,
    Drained,
    DrainedBatch,
    Flush,
    Mute,
    OfBatch,
    Partition,
    Respond,
    Split,
    Unmute,
)
from wheelproof_spec.components.accumulator.component import AccumulatorClause
from wheelproof_spec.history.linearizability.calls import Call, Unknown
from wheelproof_spec.history.linearizability.check import Model
from wheelproof_spec.history.linearizability.small_histories import Effects, is_answered

Operation = tuple[str, object]
Answer = object


@dataclass(frozen=True, slots=True)
class Item:
    """A queued item: a re-enqueued batch, or one record that may share a batch with others."""

    records: tuple[str, ...]
    batch: str | None = None
    split: str | None = None
    """The batch whose split made this item; a drained batch has parts of one split, or of none."""


_REFUSALS = ("Exhausted", "Closed", "Interrupted", "Failed")
_CALLS = (Append, Callback, Drain, OfBatch, Mute, Unmute, Flush, Abort)
_WITHOUT_EFFECT = {
    *("available_memory", "has_incomplete", "flush_in_progress"),
    *("interrupt", "tick", "close"),
}


@dataclass(frozen=True, slots=True)
class _Wait:
    """A flush or an abort; `accepted` has the records accepted before it began."""

    call: int
    aborts: bool
    accepted: frozenset[str]


@dataclass(frozen=True, slots=True)
class AccumulatorState:
    """The queues, the batches in flight, and the callbacks that flushes and aborts await."""

    queues: frozenset[tuple[Partition, tuple[Item, ...]]] = frozenset()
    in_flight: frozenset[tuple[str, Partition, tuple[str, ...]]] = frozenset()
    muted: frozenset[Partition] = frozenset()
    appended: frozenset[str] = frozenset()
    called_back: frozenset[str] = frozenset()
    answered: frozenset[str] = frozenset()
    """The batches whose response is being handled."""
    outcomes: frozenset[tuple[str, int | None, str | None]] = frozenset()
    """The outcome of each batch: its name, the offset of its first record, and its error."""
    aborts: int = 0
    """How many aborts are under way."""
    owed: frozenset[tuple[int, str]] = frozenset()
    """The records that must be called back before a flush or an abort returns, by call."""

    def queue(self, partition: Partition) -> tuple[Item, ...]:
        """Return the items of a queue, the head first."""
        return dict(self.queues).get(partition, ())

    def with_queue(self, partition: Partition, queue: tuple[Item, ...]) -> "AccumulatorState":
        """Return the state with another queue for the partition."""
        others = frozenset(entry for entry in self.queues if entry[0] != partition)
        return replace(self, queues=others | {(partition, queue)} if queue else others)


class AccumulatorModel(Model[AccumulatorState, Operation, Answer]):
    """An accumulator whose records are queued, drained, and called back."""

    def initial_state(self) -> AccumulatorState:
        """Return the state in which nothing is queued."""
        return AccumulatorState()

    def step(
        self, state: AccumulatorState, operation: Operation, result: Answer | Unknown
    ) -> Iterable[AccumulatorState]:
        """Return the possible states after an effect."""
        del result
        match operation:
            case "append", Append(record=name, partition=partition):
                queue = (*state.queue(partition), Item((name,)))
                appended = state.appended | {name}
                return (replace(state.with_queue(partition, queue), appended=appended),)
            case "take", DrainedBatch() as taken:
                return _take(state, taken)
            case "callback", Callback() as told:
                return _call_back(state, told)
            case "respond", Respond(batch=batch):
                return (replace(state, answered=state.answered | {batch}),)
            case "responded", Respond(batch=batch):
                return _responded(state, batch)
            case "back", OfBatch() as call:
                return _back(state, call.batch, in_parts=isinstance(call, Split))
            case "mute", Mute(partition=partition):
                return (replace(state, muted=state.muted | {partition}),)
            case "unmute", Unmute(partition=partition):
                return (replace(state, muted=state.muted - {partition}),)
            case "waits", _Wait() as wait:
                owed = frozenset((wait.call, name) for name in wait.accepted - state.called_back)
                aborts = state.aborts + wait.aborts
                return (replace(state, owed=state.owed | owed, aborts=aborts),)
            case "waited", _Wait() as wait:
                left = {name for by, name in state.owed if by == wait.call} - state.called_back
                return () if left else (replace(state, aborts=state.aborts - wait.aborts),)
            case "end", None:
                return (state,) if state.appended <= state.called_back else ()
            case _:
                raise AssertionError(operation)


def _take(state: AccumulatorState, taken: DrainedBatch) -> Iterable[AccumulatorState]:
    """Return the states after a drain of a re-enqueued batch or of the first records of a queue.

    A re-enqueued batch is known by its records: it may have a new name.
    Parts of one split may share a batch; they are closed to appends (standard 4.6).
    """
    queue = state.queue(taken.partition)
    if taken.partition in state.muted or not queue:
        return ()
    first = queue[0]
    count = len(taken.records) if first.batch is None else 1
    parts = queue[:count]
    alone = all(item.batch is None and item.split == first.split for item in parts)
    fits = alone or first.batch is not None
    if not fits or tuple(name for item in parts for name in item.records) != taken.records:
        return ()
    flies = (taken.batch, taken.partition, taken.records)
    left = state.with_queue(taken.partition, queue[count:])
    return (replace(left, in_flight=state.in_flight | {flies}),)


def _call_back(state: AccumulatorState, told: Callback) -> Iterable[AccumulatorState]:
    """Return the states after a callback; its batch must be answered, or an abort under way."""
    name = told.record
    if name in state.called_back or name not in state.appended:
        return ()
    batch = next((flying for flying in state.in_flight if name in flying[2]), None)
    is_answered = batch is not None and batch[0] in state.answered
    if not is_answered and not (state.aborts and told.error is not None):
        return ()
    outcomes = state.outcomes
    if batch is not None:
        base = None if told.offset is None else told.offset - batch[2].index(name)
        outcome = (batch[0], base, told.error)
        if any(known != outcome for known in outcomes if known[0] == batch[0]):
            return ()
        outcomes |= {outcome}
    queues = [
        (partition, tuple(item for item in queue if name not in item.records))
        for partition, queue in state.queues
    ]
    left = frozenset(entry for entry in queues if entry[1])
    called_back = state.called_back | {name}
    return (replace(state, queues=left, called_back=called_back, outcomes=outcomes),)


def _responded(state: AccumulatorState, batch: str) -> Iterable[AccumulatorState]:
    over = next(flying for flying in state.in_flight if flying[0] == batch)
    if not state.called_back.issuperset(over[2]):
        return ()
    left, answered = state.in_flight - {over}, state.answered - {batch}
    # Another batch may have its name from now on.
    told = frozenset(outcome for outcome in state.outcomes if outcome[0] != batch)
    return (replace(state, in_flight=left, answered=answered, outcomes=told),)


def _back(state: AccumulatorState, batch: str, *, in_parts: bool) -> Iterable[AccumulatorState]:
    """Return the states after a batch goes to the front of its queue, unless it has ended."""
    back = next(flying for flying in state.in_flight if flying[0] == batch)
    _, partition, records = back
    items: tuple[Item, ...] = (Item(records, batch=batch),)
    if in_parts:
        items = tuple(Item((name,), split=batch) for name in records)
    if state.called_back.intersection(records):
        items = ()
    landed = replace(state, in_flight=state.in_flight - {back})
    return (landed.with_queue(partition, (*items, *state.queue(partition))),)


def _effects_of(history: WholeHistory) -> Effects[Operation, Answer]:
    """Return the history with each effect as an operation of its own."""
    effects: Effects[Operation, Answer] = Effects()
    taken = _taken(history)
    refused = {op.index for op in _beginnings(history, "fail")}
    begun: dict[str, HistoryOp[object]] = {}
    waits: dict[int, _Wait] = {}
    accepted: set[str] = set()
    for op in history.ops:
        effects.index, name = op.index, f"{op.f} of {op.process}"
        value = op.value
        if isinstance(value, Callback):
            effects.now(f"callback {op.index}", ("callback", value), None)
        elif op.type == "invoke" and isinstance(value, _CALLS) and op.index not in refused:
            begun[op.process] = op
            for batch in taken.get(op.index, ()):
                effects.begin(f"take {batch.batch} {op.index}", ("take", batch))
            if isinstance(value, Flush | Abort):
                aborts = isinstance(value, Abort)
                wait = waits[op.index] = _Wait(op.index, aborts, frozenset(accepted))
                effects.now(name, ("waits", wait), None)
            elif not isinstance(value, Drain):
                split = isinstance(value, OfBatch) and not isinstance(value, Respond)
                effects.begin(name, ("back" if split else op.f, value))
                if isinstance(value, Respond):
                    effects.end(name, None)
        elif op.process in begun:
            asked = begun.pop(op.process)
            for batch in taken.get(asked.index, ()):
                effects.end(f"take {batch.batch} {asked.index}", None)
            match asked.value:
                case Flush() | Abort():
                    effects.now(name, ("waited", waits[asked.index]), None)
                case Respond() as response:
                    effects.now(name, ("responded", response), None)
                case Drain():
                    pass
                case _:
                    effects.end(name, None)
            if isinstance(asked.value, Append):
                accepted.add(asked.value.record)
    if history.quiet:
        effects.now("end", ("end", None), None)
    return effects


def _beginnings(history: WholeHistory, kind: str) -> Iterable[HistoryOp[object]]:
    """Yield the invocations of the calls that end with an event of type `kind`."""
    begun: dict[str, HistoryOp[object]] = {}
    for op in history.ops:
        if op.type == "invoke" and not isinstance(op.value, Callback):
            begun[op.process] = op
        elif op.type == kind:
            yield begun[op.process]


def _taken(history: WholeHistory) -> dict[int, tuple[DrainedBatch, ...]]:
    """Return the batches of each drain, by the index of the drain's invocation."""
    begun: dict[str, int] = {}
    found: dict[int, tuple[DrainedBatch, ...]] = {}
    for op in history.ops:
        if isinstance(op.value, Drain):
            begun[op.process] = op.index
        elif isinstance(op.value, Drained):
            found[begun[op.process]] = op.value.batches
    return found


def _clause_of(call: Call[Operation, Answer]) -> Clause:
    match call.operation[0]:
        case "take" | "append" | "mute" | "unmute" | "back":
            return AccumulatorClause.DRAINS_THE_HEADS
        case "waited" if isinstance(call.operation[1], _Wait) and not call.operation[1].aborts:
            return AccumulatorClause.FLUSH_WAITS
        case _:
            return AccumulatorClause.COMPLETES_ONCE


def _shows_why(history: WholeHistory) -> bool:
    """Tell whether calls of the sender explain the callbacks.

    Whoever recorded may have left all drains out, or all responses.
    """
    values = [op.value for op in history.ops]
    told = [value for value in values if isinstance(value, Callback)]
    if all(one.offset is None for one in told) and any(isinstance(one, Abort) for one in values):
        return True
    kinds = {type(value) for value in values}
    return not told or {Drain, Respond} <= kinds


def search(history: WholeHistory) -> Searched | None:
    """Search a history; see `RecordedComponent.search`."""
    in_flight: set[str] = set()
    for op in history.ops:
        value = op.value
        if isinstance(value, OfBatch):
            if value.batch not in in_flight:
                # The sender broke the rules: that is not the accumulator's fault.
                return None
            in_flight.remove(value.batch)
        elif isinstance(value, Drained):
            in_flight |= {batch.batch for batch in value.batches}
        elif not (op.type != "invoke" or isinstance(value, _CALLS) or op.f in _WITHOUT_EFFECT):
            return None
    if not is_answered(history.ops, *_REFUSALS) or not _shows_why(history):
        return None
    return _effects_of(history).linearize(AccumulatorModel(), _clause_of)
