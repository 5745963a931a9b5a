"""A purgatory that is written in Python, as the machine calls it: its methods and its operations.

The machine makes the operations, since it has to know when a predicate holds and which callback
runs. Each call and each callback is recorded.

>>> from wheelproof_spec.history.recording.load_recorder import LoadRecorder
>>> record = Record(LoadRecorder("example"))
>>> operation = PythonOperation("op1", 5, ("x",), record)
>>> operation.predicate()
False
>>> operation.satisfy()
>>> operation.predicate()
True
>>> operation.on_complete()
>>> record.take_callbacks()
(('op1',), ())
"""

from collections.abc import Callable, Collection, Sequence
from typing import Protocol, cast

from wheelproof_spec.base.calls import (
    Advance,
    AdvanceClock,
    Gauge,
    NumDelayed,
    NumKeys,
    Reset,
    Tick,
    Watched,
)
from wheelproof_spec.base.component import Call
from wheelproof_spec.components.purgatory.component import (
    AskGauges,
    CancelForKey,
    Cancelled,
    CheckAndComplete,
    Checked,
    Completed,
    ForceComplete,
    Key,
    OnComplete,
    OnExpiration,
    OperationId,
    PurgatoryCall,
    PurgatoryObservation,
    Satisfy,
    SetCondition,
    TryComplete,
    TryCompleteElseWatch,
)
from wheelproof_spec.history.recording.load_recorder import LoadRecorder

_CLOCK = "clock"
"""The process of a history that moves the clock: a purgatory does so inside `advance`."""


class Record:
    """What is recorded, and the callbacks that have run since they were taken."""

    def __init__(self, recorder: LoadRecorder) -> None:
        """Begin with a recorder; another history has another one."""
        self.recorder = recorder
        self._completed: list[OperationId] = []
        self._expired: list[OperationId] = []

    def completed(self, name: OperationId) -> None:
        """Record that an on_complete runs."""
        what = OnComplete(operation=name)
        self.recorder.begins(what)
        self._completed.append(name)
        self.recorder.ends(what)

    def expired(self, name: OperationId) -> None:
        """Record that an on_expiration runs."""
        self.recorder.begins(OnExpiration(operation=name))
        self._expired.append(name)

    def take_callbacks(self) -> tuple[tuple[OperationId, ...], tuple[OperationId, ...]]:
        """Return whose on_complete and whose on_expiration has run since the last time."""
        taken = tuple(self._completed), tuple(self._expired)
        self._completed.clear()
        self._expired.clear()
        return taken


class PythonOperation:
    """An operation that the machine hands in; a purgatory calls its three methods.

    `delay_ms` is its time-out in milliseconds. The same object is never handed in twice.
    """

    def __init__(
        self, name: OperationId, delay_ms: int, keys: tuple[Key, ...], record: Record
    ) -> None:
        """Make an operation whose predicate is false; it is to wait under `keys`."""
        self.name = name
        self.delay_ms = delay_ms
        self.keys = keys
        self._record = record
        self._holds = False

    def predicate(self) -> bool:
        """Tell whether the operation can be completed; that has no side effect (standard 2.3)."""
        what = TryComplete(operation=self.name)
        self._record.recorder.begins(what)
        holds = self._holds
        self._record.recorder.ends(what)
        return holds

    def on_complete(self) -> None:
        """Take note of the completion: it is called once, by whoever completes (standard 2.1)."""
        self._record.completed(self.name)

    def on_expiration(self) -> None:
        """Take note that the time-out has completed it; called after `on_complete` (2.2)."""
        self._record.expired(self.name)

    def satisfy(self) -> None:
        """Make the predicate true, for good. For the machine: a purgatory does not call it."""

        def hold() -> None:
            self._holds = True

        self._record.recorder.do(Satisfy(operation=self.name), hold)


class PythonPurgatory(Protocol):
    """A purgatory as the machine calls it: from several threads, `advance` from one at a time.

    Times are whole milliseconds, and only `advance` lets time pass. Callbacks that a call submits
    have run when the call returns. `OptionalMethods` has what it may offer besides.
    """

    def try_complete_else_watch(
        self, operation: PythonOperation, watch_keys: Sequence[Key]
    ) -> bool:
        """Complete a new operation, or watch it; return whether this call completed it (2.4)."""
        ...

    def check_and_complete(self, key: Key) -> int:
        """Try the operations of a key; return how many this call completed (standard 2.6)."""
        ...

    def advance(self, to_ms: int) -> None:
        """Set the clock to `to_ms` and expire what is due; purge if that is due (2.2, 2.10)."""
        ...

    def close(self) -> None:
        """End what the purgatory has started; the machine makes no further call."""
        ...


class OptionalMethods(Protocol):
    """What a purgatory need not offer: what it lacks is not looked at, and the test says so."""

    def force_complete(self, operation: PythonOperation) -> bool:
        """Complete an operation that was handed in; tell whether this call did (2.1)."""
        ...

    def cancel_for_key(self, key: Key) -> Collection[PythonOperation]:
        """Give the operations of a key up, and return those that this call gave up (2.9)."""
        ...

    def watched(self) -> int:
        """Return the number of watches: operations times keys (2.10)."""
        ...

    def num_delayed(self) -> int:
        """Return how many operations wait for their time-outs (2.10)."""
        ...

    def num_keys(self) -> int:
        """Return how many keys have operations (2.6)."""
        ...


OPTIONAL = ("force_complete", "cancel_for_key", "watched", "num_delayed", "num_keys")
"""The names of the methods that a purgatory may lack."""


class MakePurgatory(Protocol):
    """A class or a function that makes the purgatory under test."""

    def __call__(
        self, *, tick_ms: int, wheel_size: int, start_ms: int, purge_interval: int
    ) -> PythonPurgatory:
        """Return an empty purgatory whose clock shows `start_ms`.

        A time-out is rounded down to a multiple of `tick_ms`. `wheel_size` is for a timer with
        wheels. After `advance`, at most `purge_interval` operations that are done are watched.
        """
        ...


class PurgatoryCalls:
    """Makes the calls of the contract on a purgatory, and records them."""

    def __init__(self, purgatory: PythonPurgatory, record: Record) -> None:
        """Begin without operations."""
        self._purgatory = purgatory
        self._optional = cast(OptionalMethods, purgatory)
        self._record = record
        self._operations: dict[OperationId, PythonOperation] = {}
        self.offered = frozenset(name for name in OPTIONAL if hasattr(purgatory, name))
        """The optional methods that the purgatory has."""

    def new_operation(self, name: OperationId, delay_ms: int, keys: tuple[Key, ...]) -> None:
        """Make the operation that a later call hands in."""
        self._operations[name] = PythonOperation(name, delay_ms, keys, self._record)

    def keys_of(self, name: OperationId) -> tuple[Key, ...]:
        """Return the keys of an operation."""
        return self._operations[name].keys

    def perform(self, call: PurgatoryCall) -> PurgatoryObservation:
        """Make a call and return its answer, without the callbacks. Raises what the call raises.

        A condition is the name of an operation: its predicate is made true.
        """
        match call:
            case Reset():
                raise AssertionError(call)
            case TryCompleteElseWatch(operation=name, keys=keys):
                done = self._completed(
                    call,
                    lambda: self._purgatory.try_complete_else_watch(self._operations[name], keys),
                )
                return PurgatoryObservation(completed=done)
            case ForceComplete(operation=name):
                done = self._completed(
                    call, lambda: self._optional.force_complete(self._operations[name])
                )
                return PurgatoryObservation(completed=done)
            case SetCondition(condition=condition):
                self._operations[condition].satisfy()
                return PurgatoryObservation()
            case CheckAndComplete(key=key):
                checked = self._record.recorder.answer(
                    call, lambda: Checked(count=self._purgatory.check_and_complete(key))
                )
                return PurgatoryObservation(count=checked.count)
            case CancelForKey(key=key):
                return PurgatoryObservation(cancelled=self._cancel(call, key))
            case Advance(to_ms=to_ms):
                self._advance(to_ms)
                return PurgatoryObservation()
            case AskGauges():
                return PurgatoryObservation(
                    watched=self._gauge(Watched(), self._optional, "watched"),
                    num_delayed=self._gauge(NumDelayed(), self._optional, "num_delayed"),
                    num_keys=self._gauge(NumKeys(), self._optional, "num_keys"),
                )

    def _completed(self, asked: Call, call: Callable[[], bool]) -> bool:
        return self._record.recorder.answer(
            asked, lambda: Completed(completed=bool(call()))
        ).completed

    def _cancel(self, asked: Call, key: Key) -> tuple[OperationId, ...]:
        def cancel() -> Cancelled:
            names = tuple(one.name for one in self._optional.cancel_for_key(key))
            answers.append(names)
            return Cancelled(count=len(names), cancelled=names)

        answers: list[tuple[OperationId, ...]] = []
        self._record.recorder.answer(asked, cancel)
        return answers[0]

    def _advance(self, to_ms: int) -> None:
        """Record that the clock moves at some moment of the advance: nobody else knows when."""
        tick = Tick(to_ms=to_ms)
        self._record.recorder.begins(tick, _CLOCK)
        try:
            self._record.recorder.do(
                AdvanceClock(timeout_ms=0), lambda: self._purgatory.advance(to_ms)
            )
        finally:
            self._record.recorder.ends(tick, _CLOCK)

    def _gauge(self, asked: Call, gauges: OptionalMethods, name: str) -> int | None:
        if name not in self.offered:
            return None
        gauge: Callable[[], int] = getattr(gauges, name)
        return self._record.recorder.answer(asked, lambda: Gauge(count=gauge())).count
