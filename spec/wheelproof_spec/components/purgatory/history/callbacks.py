"""Judges the callbacks of operations that run at the same time (standard 2.1, 2.2, 2.7).

A callback may run nested. The line of its end may be left out, so that two of them overlapped is
shown only by the end of the one that began first.
"""

from dataclasses import dataclass

from wheelproof_spec.base.results.tally import Tally
from wheelproof_spec.base.results.violation import Violation
from wheelproof_spec.components.purgatory.component import (
    OnComplete,
    OnExpiration,
    PurgatoryClause,
    TryComplete,
)
from wheelproof_spec.components.purgatory.history.operation import Operation

Callback = TryComplete | OnComplete | OnExpiration


@dataclass(slots=True, eq=False)
class _Running:
    process: str
    callback: type[Callback]
    operation: Operation
    overlapped: bool = False
    """Whether a callback of the same operation has begun in another thread meanwhile."""
    returned: bool = False
    """Whether the call that it runs in has returned."""
    expired: bool = False
    """Whether on_expiration has begun in its thread meanwhile."""


class Callbacks:
    """The running callbacks, by process and by operation."""

    def __init__(self, tally: Tally, *, exclusive: bool) -> None:
        """Begin; with `exclusive` it is claimed that those of one operation exclude each other."""
        self._tests = tally.tests
        self._exclusive = exclusive
        self._of_process: dict[str, list[_Running]] = {}
        self._of_operation: dict[Operation, list[_Running]] = {}

    def begin(self, process: str, callback: Callback, operation: Operation) -> Violation | None:
        """Judge the begin of a callback: no try begins after the completion, if that is claimed."""
        mine = self._of_process.setdefault(process, [])
        if isinstance(callback, OnExpiration):
            for running in mine:
                running.expired = running.expired or running.operation is operation
            return None
        for over in [one for one in mine if not _holds(one, callback, operation)]:
            mine.remove(over)
            self._drop(over)
        for other in self._of_operation.get(operation, ()):
            other.overlapped = other.overlapped or other.process != process
        begun = _Running(process, type(callback), operation)
        mine.append(begun)
        self._of_operation.setdefault(operation, []).append(begun)
        tries = isinstance(callback, TryComplete) and operation.completed is not None
        # The call that hands it in tests in any case, though another thread has forced it.
        if not (self._exclusive and tries) or operation.settled is None:
            return None
        self._tests(PurgatoryClause.ATTEMPTS_EXCLUDE)
        return PurgatoryClause.ATTEMPTS_EXCLUDE.broken(
            f"no try_complete of {operation.name!r} begins after its completion",
            f"try_complete of {operation.name!r} begins",
            f"try_complete of {operation.name!r} began after its completion, but tries are claimed "
            "to exclude it (standard 2.7)",
        )

    def end(self, process: str, name: str) -> Violation | None:
        """Judge the end of the last callback of this name in a process."""
        mine = self._of_process.get(process, [])
        ended = next(
            (one for one in reversed(mine) if one.callback.name_on_the_wire() == name), None
        )
        if ended is None:
            return None
        mine.remove(ended)
        self._drop(ended)
        if ended.callback is OnComplete:
            ended.operation.told = True
            violation = _too_late(ended)
            if violation is not None:
                return violation
        if not self._exclusive:
            return None
        self._tests(PurgatoryClause.ATTEMPTS_EXCLUDE)
        if not ended.overlapped:
            return None
        return PurgatoryClause.ATTEMPTS_EXCLUDE.broken(
            f"try_complete and on_complete of {ended.operation.name!r} run one after the other",
            "two of them run at once in different threads",
            f"two callbacks of {ended.operation.name!r} ran at once in different threads, but are "
            "claimed to exclude each other (KAFKA-19312)",
        )

    def returned(self, process: str, call: int) -> None:
        """Record that a call returned: its callbacks have ended, though no line may say so."""
        mine = self._of_process.pop(process, [])
        late: list[_Running] = []
        for running in mine:
            self._drop(running)
            if running.operation.completed_in == call and running.callback is OnComplete:
                running.returned = True
                late.append(running)
        if late:
            self._of_process[process] = late[-1:]

    def _drop(self, running: _Running) -> None:
        others = self._of_operation.get(running.operation, [])
        if running in others:
            others.remove(running)
            if not others:
                del self._of_operation[running.operation]


def _holds(outer: _Running, callback: Callback, operation: Operation) -> bool:
    """Tell whether a callback may run inside another one of its process: in a try of its own.

    What a callback calls has a process of its own, so any other callback there is over.
    """
    mine = outer.operation is operation and isinstance(callback, OnComplete)
    return mine and outer.callback is TryComplete


def _too_late(ended: _Running) -> Violation | None:
    name = ended.operation.name
    if ended.expired:
        return PurgatoryClause.EXPIRES_ONCE_AFTER_COMPLETION.broken(
            f"on_expiration of {name!r} begins after on_complete has ended",
            f"on_expiration of {name!r} began before, in the same thread",
            f"on_expiration of {name!r} began before its on_complete had ended (standard 2.2)",
        )
    if ended.returned:
        return PurgatoryClause.COMPLETES_AT_MOST_ONCE.broken(
            f"on_complete of {name!r} has run when the call returns that completes it",
            f"on_complete of {name!r} ended after that",
            f"the call that completed {name!r} returned before its on_complete had ended "
            "(standard 2.1)",
        )
    return None
