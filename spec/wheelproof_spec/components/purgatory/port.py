"""The port of the purgatory: each typed call is the call of one method of a purgatory.

Whoever calls the reference's purgatory, or a variant of it, does it here: driven cases, bursts of
threads, loads. Any number of threads may call at the same time. An operation can end once it is
satisfied, or once one of its conditions is set. Its callbacks are told: a `LoadRecorder` writes
them into the history, and a driver answers with them.
"""

import time
from collections.abc import Callable, Sequence
from typing import Protocol

from wheelproof import sync
from wheelproof.clock import ManualClock
from wheelproof.purgatory import (
    CompletionDiscipline,
    DelayedOperation,
    DelayedOperationPurgatory,
    ExclusiveDiscipline,
)
from wheelproof.units import Millis
from wheelproof_spec.base.calls import (
    AdvanceClock,
    Advanced,
    Gauge,
    NumDelayed,
    NumKeys,
    PurgeCompleted,
    Tick,
    Watched,
)
from wheelproof_spec.base.codec.vocabulary import Absent, Nothing
from wheelproof_spec.base.component import Call
from wheelproof_spec.components.purgatory.component import (
    CancelForKey,
    Cancelled,
    CheckAndComplete,
    Checked,
    Completed,
    Condition,
    ForceComplete,
    OnComplete,
    OnExpiration,
    OperationId,
    Satisfy,
    SetCondition,
    Shutdown,
    TryComplete,
    TryCompleteElseWatch,
)

AnyPurgatory = DelayedOperationPurgatory[DelayedOperation]
Holds = Callable[[Sequence[bool]], bool]
"""Makes a predicate from the cases in which an operation can end."""
PurgatoryRequest = (
    TryCompleteElseWatch
    | Satisfy
    | SetCondition
    | CheckAndComplete
    | ForceComplete
    | CancelForKey
    | Watched
    | NumDelayed
    | NumKeys
    | PurgeCompleted
    | AdvanceClock
    | Tick
    | Shutdown
)
"""A call of one method of a purgatory, of an operation, or of the clock."""
PurgatoryAnswer = Completed | Checked | Cancelled | Gauge | Advanced | Nothing


class Callbacks(Protocol):
    """What is told of the callbacks of operations, on the thread that runs them."""

    def begins(self, what: Call) -> None:
        """Take note that a callback begins."""
        ...

    def ends(self, what: Call) -> None:
        """Take note that it ends; the end of `on_expiration` is not told."""
        ...


def any_case(cases: Sequence[bool]) -> bool:
    """Tell whether any of the cases holds in which an operation can end: the correct predicate."""
    return any(cases)


class PurgatoryPort:
    """A purgatory, and its operations by name."""

    def __init__(
        self,
        purgatory: AnyPurgatory,
        callbacks: Callbacks,
        *,
        clock: ManualClock | None = None,
        discipline: Callable[[], CompletionDiscipline] = ExclusiveDiscipline,
        holds: Holds = any_case,
    ) -> None:
        """Use `purgatory`, whose timer has the `clock` if somebody moves it."""
        self.purgatory = purgatory
        self.operations: dict[OperationId, NamedOperation] = {}
        """What was prepared or handed in, by name."""
        self._callbacks = callbacks
        self._clock = clock
        self._discipline = discipline
        self._holds = holds
        self.conditions: set[Condition] = set()
        """What was set."""

    def prepare(
        self,
        asked: TryCompleteElseWatch,
        lasts_s: float = 0,
        then: Callable[[], object] | None = None,
    ) -> None:
        """Make an operation before it is handed in.

        Each of its callbacks takes `lasts_s` seconds, and `on_complete` ends with `then`.
        Threads that satisfy or force an operation while it is handed in must find it prepared.
        """
        operation = NamedOperation(
            asked,
            lambda: self._holds([condition in self.conditions for condition in asked.conditions]),
            self._discipline(),
            self._callbacks,
            lasts_s,
            then,
        )
        self.operations[asked.operation] = operation

    def perform(self, call: PurgatoryRequest) -> PurgatoryAnswer:
        """Make `call` and return its answer.

        Raises what the method raises, and KeyError for an operation that nobody knows.
        """
        purgatory = self.purgatory
        match call:
            case TryCompleteElseWatch(operation=name, keys=keys):
                if name not in self.operations:
                    self.prepare(call)
                completed = purgatory.try_complete_else_watch(self.operations[name], keys)
                return Completed(completed=completed)
            case Satisfy(operation=name):
                self.operations[name].satisfied.set(True)
                return Nothing()
            case SetCondition(condition=condition):
                self.conditions.add(condition)
                return Nothing()
            case CheckAndComplete(key=key):
                return Checked(count=purgatory.check_and_complete(key))
            case ForceComplete(operation=name):
                return Completed(completed=self.operations[name].force_complete())
            case CancelForKey(key=key):
                found = purgatory.cancel_for_key(key)
                names = (
                    given_up.name for given_up in found if isinstance(given_up, NamedOperation)
                )
                return Cancelled(count=len(found), cancelled=tuple(names))
            case Watched():
                return Gauge(count=purgatory.watched())
            case NumDelayed():
                return Gauge(count=purgatory.num_delayed())
            case NumKeys():
                return Gauge(count=purgatory.num_keys())
            case PurgeCompleted():
                purgatory.purge_completed()
                return Nothing()
            case AdvanceClock(timeout_ms=timeout_ms):
                wait_ms = Millis(0 if isinstance(timeout_ms, Absent) else timeout_ms)
                return Advanced(expired=purgatory.advance_clock(wait_ms))
            case Tick(to_ms=to_ms):
                assert self._clock is not None, "nothing can move the clock of the system"
                self._clock.advance_to(to_ms)
                return Nothing()
            case Shutdown():
                purgatory.close()
                return Nothing()


class NamedOperation(DelayedOperation):
    """An operation that tells its callbacks by its name."""

    __slots__ = ("_callbacks", "_holds", "_lasts_s", "_then", "name", "satisfied")

    def __init__(
        self,
        asked: TryCompleteElseWatch,
        holds: Callable[[], bool],
        discipline: CompletionDiscipline,
        callbacks: Callbacks,
        lasts_s: float,
        then: Callable[[], object] | None,
    ) -> None:
        super().__init__(asked.delay_ms, discipline=discipline)
        self.name = asked.operation
        self.satisfied = sync.volatile(False, self.name)
        self._holds = holds
        self._callbacks = callbacks
        self._lasts_s = lasts_s
        self._then = then

    def try_complete(self) -> bool:
        """Test the predicate."""
        what = TryComplete(operation=self.name)
        self._callbacks.begins(what)
        holds = self.satisfied.get() or self._holds()
        self._linger()
        completed = holds and self.force_complete()
        self._callbacks.ends(what)
        return completed

    def on_complete(self) -> None:
        """Tell of the completion."""
        what = OnComplete(operation=self.name)
        self._callbacks.begins(what)
        self._linger()
        if self._then is not None:
            self._then()
        # A callback that raises does not end: it may be the last one of its operation (6.4.5).
        self._callbacks.ends(what)

    def on_expiration(self) -> None:
        """Tell of the expiry."""
        self._callbacks.begins(OnExpiration(operation=self.name))

    def _linger(self) -> None:
        """Let others come to this operation meanwhile."""
        if self._lasts_s:
            time.sleep(self._lasts_s)
