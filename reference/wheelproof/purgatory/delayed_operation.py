"""An operation that waits: for a condition that other threads make true, or for its time-out.

A request that cannot be answered yet must not hold a thread. It is an object instead, which whoever
makes its condition true completes, or else the timer. Both can come at once, and it is answered
once.

>>> from wheelproof.purgatory import DelayedOperation
>>> class Request(DelayedOperation):
...     ready = False
...     def try_complete(self) -> bool:
...         return self.ready and self.force_complete()
...     def on_complete(self) -> None:
...         print("answered")
...     def on_expiration(self) -> None:
...         print("too late")
>>> request = Request(1_000)
>>> request.safe_try_complete()
False
>>> request.ready = True
>>> request.safe_try_complete(), request.safe_try_complete()
answered
(True, False)
>>> request
Request(delay_ms=1000, completed)

Invariants:

- The state leaves PENDING once, and `on_complete` follows exactly if it became COMPLETED.
- The time-out is cancelled before `on_complete` (standard 2.1).
- An operation that is done does not stay in the timer.
"""

from abc import abstractmethod
from collections.abc import Callable
from enum import Enum

from wheelproof import sync
from wheelproof.domain import require_integer
from wheelproof.purgatory.disciplines import CompletionDiscipline, ExclusiveDiscipline
from wheelproof.sync import AtomicReference
from wheelproof.timer import Timer, TimerTask

_COMPLETIONS = "_wheelproof_completions"
"""The attribute of an exception: the operations whose `on_complete` raised it.

A trigger whose tries raise still has to tell how many operations it completed (standard 6.4.4).
"""


class OperationState(Enum):
    """What has become of an operation; the last two are for good."""

    PENDING = "pending"
    COMPLETED = "completed"
    CANCELLED = "cancelled"


class DelayedOperation(TimerTask):
    """Work that is completed exactly once, by the first that tries.

    A trigger finds the predicate true, the time-out runs, or a caller forces it: each goes through
    `force_complete`, which one of them wins. Or the operation is cancelled, which excludes
    completion. A discipline decides how concurrent attempts exclude one another
    (`wheelproof.purgatory.disciplines`).

    As a timer task it is its own time-out, which `start_timeout` adds to a timer; `cancel`,
    inherited, takes back the time-out alone, while `force_cancel` gives the operation up.

    Lock order: operation, shard, task, list, entry (standard 2.12). TLA+: DelayedOperation.
    """

    __slots__ = ("_discipline", "_state", "_timeout_started")

    def __init__(self, delay_ms: int, *, discipline: CompletionDiscipline | None = None) -> None:
        """Make a pending operation that expires `delay_ms` milliseconds after it is watched.

        `discipline` says how completion is attempted, and brings the operation's lock along:
        `ExclusiveDiscipline` with a private lock by default. It belongs to this operation alone,
        though its lock may be shared.

        Raises IllegalArgumentError if the time-out is negative, no integer or outside the domain.
        """
        super().__init__(require_integer("delay_ms", delay_ms, 0))
        self._state: AtomicReference[OperationState] = sync.atomic_reference(
            OperationState.PENDING, "DelayedOperation.state"
        )
        self._timeout_started = sync.volatile(False, "DelayedOperation.timeout_started")
        self._discipline = ExclusiveDiscipline() if discipline is None else discipline

    def __repr__(self) -> str:
        """Return the class, the time-out, and what has become of the operation."""
        return f"{type(self).__name__}(delay_ms={self.delay_ms}, {self._state.get().value})"

    @abstractmethod
    def try_complete(self) -> bool:
        """Test the predicate and, if it holds, return `force_complete()`; else False.

        It may begin after the operation was completed, so it has no side effects, or undoes them
        (standard 2.3). TLA+: TryComplete of MaybeTryComplete.
        """

    @abstractmethod
    def on_complete(self) -> None:
        """Do the work; called exactly once, unless the operation is cancelled (standard 2.1).

        Under the default discipline the operation's lock is held.
        """

    @abstractmethod
    def on_expiration(self) -> None:
        """Take note that the time-out completed the operation; after `on_complete`."""

    def force_complete(self) -> bool:
        """Complete the operation now, if nobody has, and tell whether this call did.

        TLA+: ForceComplete of MaybeTryComplete, Complete of DelayedOperation.
        """
        return self._discipline.force_complete(self)

    def force_cancel(self) -> bool:
        """Give the operation up, if it is pending, and tell whether this call did.

        It will not be completed any more and does not expire; nothing is called back.
        TLA+: Cancel of DelayedOperation.
        """
        # Kafka: cancel the time-out.
        # Here:  end the operation first, by the cell that completion needs.
        # Why:   a completion or an add under way overtakes a cancelled time-out (finding 11).
        if not self._state.compare_and_set(OperationState.PENDING, OperationState.CANCELLED):
            return False
        try:
            self._end_timeout()
        except BaseException:
            # A signal handler has raised between two steps (standard 6.8). The operation is given
            # up, so its time-out may not stay.
            self._end_timeout()
            raise
        return True

    def is_completed(self) -> bool:
        """Tell whether the operation is completed; its `on_complete` may still be running."""
        return self._state.get() is OperationState.COMPLETED

    def is_cancelled(self) -> bool:
        """Tell whether the operation was given up."""
        return self._state.get() is OperationState.CANCELLED

    def is_done(self) -> bool:
        """Tell whether nothing is left to wait for: completed or cancelled.

        TLA+: IsDone of Purgatory.
        """
        return self._state.get() is not OperationState.PENDING

    def run(self) -> None:
        """Expire: complete the operation if it still waits; called by the timer (standard 2.2).

        TLA+: Expire of DelayedOperation; OnExpiration of MaybeTryComplete.
        """
        if self.force_complete():
            self.on_expiration()

    def safe_try_complete(self) -> bool:
        """Attempt to complete as the discipline has it, and say whether it did (standard 2.5, 2.7).

        This is Kafka's maybe_try_complete in the disciplines that try the lock. For the purgatory:
        a callback that tries another operation so can wait for ever (standard 6.4.6).
        """
        return self._discipline.safe_try_complete(self)

    def safe_try_complete_or_else(self, action: Callable[[], None]) -> bool:
        """Attempt to complete; if that fails, call `action` and attempt again (standard 2.4).

        Returns whether this call completed the operation.
        """
        return self._discipline.safe_try_complete_or_else(self, action)

    def complete_if_pending(self) -> bool:
        """Complete without the discipline's lock: the step that everything else leads to.

        For disciplines. The call that moves the state away from pending decides; the time-out is
        cancelled before `on_complete` (standard 2.1).
        """
        if not self._state.compare_and_set(OperationState.PENDING, OperationState.COMPLETED):
            return False
        try:
            try:
                self._end_timeout()
            except BaseException:
                # A signal handler has raised between two steps (standard 6.8). The operation is
                # completed by now, so its time-out has to end and `on_complete` has to run.
                self._end_timeout()
                self.on_complete()
                raise
            self.on_complete()
        except BaseException as failure:
            # Whoever counts completions has to count this one (standard 6.4.4).
            vars(failure).setdefault(_COMPLETIONS, []).append(self)
            raise
        return True

    def was_completed_by(self, failure: BaseException) -> bool:
        """Tell whether `failure`, or what it was raised from, is what `on_complete` has raised."""
        chained: dict[int, BaseException] = {}
        raised: BaseException | None = failure
        # `raise error from error` leads in a circle.
        while raised is not None and id(raised) not in chained:
            chained[id(raised)] = raised
            raised = raised.__cause__ or raised.__context__
        return any(
            one is self for each in chained.values() for one in vars(each).get(_COMPLETIONS, ())
        )

    def start_timeout(self, timer: Timer) -> None:
        """Add the operation to `timer`, for good unless it is done by then (standard 2.4).

        Raises what `timer.add` raises.
        TLA+: AddToTimer, TimeoutStarted, IsDone and CancelTask of Purgatory.
        """
        timer.add(self)
        self._timeout_started.set(True)
        if self.is_done():
            self.cancel()

    def _end_timeout(self) -> None:
        """Cancel the time-out, or leave that to the thread that is adding it at this moment.

        The adder tests the state after it has said that it has added.
        TLA+: EndTimeout and CancelTask of Purgatory.
        """
        # Kafka: cancel, always.
        # Here:  cancel if the add is over; else its thread sees the state, and cancels.
        # Why:   in the middle of an add the task is bound and not linked: the cancel does nothing,
        #        and the entry stays until its time-out (finding 9, standard 1.11).
        if self._timeout_started.get():
            self.cancel()
