"""Calls of the reference's purgatory that write what they do, for the load and the machine.

The predicate of a `RecordedOperation` is a flag, which `satisfy` sets and records. So the judge
knows when it was true.
"""

from collections.abc import Callable
from functools import partial

from wheelproof import sync
from wheelproof.purgatory import CompletionDiscipline, DelayedOperation, DelayedOperationPurgatory
from wheelproof_spec.base.calls import Gauge, NumDelayed, NumKeys, Watched
from wheelproof_spec.components.purgatory.component import (
    CancelForKey,
    Cancelled,
    CheckAndComplete,
    Checked,
    Completed,
    ForceComplete,
    OnComplete,
    OnExpiration,
    Satisfy,
    TryComplete,
    TryCompleteElseWatch,
)
from wheelproof_spec.history.recording.load_recorder import LoadRecorder

AnyPurgatory = DelayedOperationPurgatory[DelayedOperation]


class RecordedOperation(DelayedOperation):
    """An operation whose predicate holds from the moment that a caller satisfies it."""

    __slots__ = ("_holds", "_recorder", "keys", "name")

    def __init__(
        self,
        name: str,
        delay_ms: int,
        keys: tuple[str, ...],
        recorder: LoadRecorder,
        discipline: CompletionDiscipline | None = None,
    ) -> None:
        super().__init__(delay_ms, discipline=discipline)
        self.name = name
        self.keys = keys
        self._recorder = recorder
        self._holds = sync.volatile(False, name)

    def satisfy(self) -> None:
        """Make the predicate true."""
        self._recorder.do(Satisfy(operation=self.name), partial(self._holds.set, True))

    def force(self) -> None:
        """Force the completion."""
        self._recorder.call(
            ForceComplete(operation=self.name), lambda: Completed(completed=self.force_complete())
        )

    def try_complete(self) -> bool:
        """Test the predicate."""
        what = TryComplete(operation=self.name)
        self._recorder.begins(what)
        holds = self._holds.get()
        self.linger()
        completed = holds and self.force_complete()
        self._recorder.ends(what)
        return completed

    def on_complete(self) -> None:
        """Record the completion."""
        what = OnComplete(operation=self.name)
        self._recorder.begins(what)
        self.linger()
        self._recorder.ends(what)

    def linger(self) -> None:
        """Do nothing, as most callbacks are soon over."""

    def on_expiration(self) -> None:
        """Record the expiry."""
        self._recorder.begins(OnExpiration(operation=self.name))


class RecordedCalls:
    """A purgatory of recorded operations."""

    def __init__(self, purgatory: AnyPurgatory, recorder: LoadRecorder) -> None:
        self._purgatory = purgatory
        self._recorder = recorder

    def hand_in(self, operation: RecordedOperation) -> None:
        """Hand an operation in."""
        keys = operation.keys
        asked = TryCompleteElseWatch(
            operation=operation.name, keys=keys, delay_ms=operation.delay_ms
        )
        watch = partial(self._purgatory.try_complete_else_watch, operation, keys)
        self._recorder.call(asked, lambda: Completed(completed=watch()))

    def check(self, key: str) -> None:
        """Try the operations of a key."""
        check = partial(self._purgatory.check_and_complete, key)
        self._recorder.call(CheckAndComplete(key=key), lambda: Checked(count=check()))

    def cancel(self, key: str) -> None:
        """Cancel the operations of a key."""

        def cancel() -> Cancelled:
            cancelled = self._purgatory.cancel_for_key(key)
            names = (found.name for found in cancelled if isinstance(found, RecordedOperation))
            return Cancelled(count=len(cancelled), cancelled=tuple(names))

        self._recorder.call(CancelForKey(key=key), cancel)

    def watched(self) -> None:
        """Ask for the number of watches."""
        self._gauge(Watched(), self._purgatory.watched)

    def num_delayed(self) -> None:
        """Ask for the number of operations that wait to expire."""
        self._gauge(NumDelayed(), self._purgatory.num_delayed)

    def num_keys(self) -> None:
        """Ask for the number of keys."""
        self._gauge(NumKeys(), self._purgatory.num_keys)

    def _gauge(self, asked: Watched | NumDelayed | NumKeys, gauge: Callable[[], int]) -> None:
        self._recorder.call(asked, lambda: Gauge(count=gauge()))
