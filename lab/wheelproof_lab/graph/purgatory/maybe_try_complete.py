"""One delayed operation as a program for graph mode: triggers, expiry, holders of its lock.

What is compared with MaybeTryComplete.tla is in `maybe_try_complete_view`.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import partial

from wheelproof import sync
from wheelproof.purgatory import (
    BlockingDiscipline,
    CompletionDiscipline,
    DelayedOperation,
    ExclusiveDiscipline,
    MonitorDiscipline,
    PendingFlagDiscipline,
    TryLockOnceDiscipline,
)
from wheelproof.sync.protocols import LockView
from wheelproof_explore.program import Action, Scenario, choose, forget
from wheelproof_explore.runtime.runtime import ControlledRuntime
from wheelproof_lab.graph.purgatory.maybe_try_complete_view import (
    ANSWERS,
    EVENTS,
    EXPIRATIONS,
    LOCK,
    MaybeTryCompleteView,
)
from wheelproof_lab.graph.states.views import GraphProgram, ViewedRun
from wheelproof_spec.tlc.states.values import ModelValue, Value

NONE = ModelValue(name="None")
TIMER = "timer"
_NEVER_MS = 1_000
_WAITING: Mapping[str, Callable[[LockView], CompletionDiscipline]] = {
    "monitor": MonitorDiscipline,
    "blocking": BlockingDiscipline,
    "exclusive": ExclusiveDiscipline,
}
_TRYING: Mapping[str, Callable[[sync.Lock], CompletionDiscipline]] = {
    "try_lock_once": TryLockOnceDiscipline,
    "try_lock_pending": PendingFlagDiscipline,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempts:
    """The threads that attempt to complete one operation, and the discipline.

    Each of the `triggers` makes an event happen, then triggers once; if it is `restless`, until the
    operation is done. The predicate holds after `needed` events, and may raise if a thread of
    `raising` tests it. `holders` take the operation's lock and do not complete it.
    """

    discipline: str
    triggers: tuple[str, ...]
    needed: int
    restless: Collection[str] = ()
    raising: Collection[str] = ()
    holders: tuple[str, ...] = ()
    expires: bool = False

    def timers(self) -> tuple[str, ...]:
        """Return the thread that expires the operation, if any."""
        return (TIMER,) if self.expires else ()

    def constants(self) -> dict[str, Value]:
        """Return the constants of MaybeTryComplete."""
        return {
            "Discipline": self.discipline,
            "Triggers": frozenset(self.triggers),
            "Needed": self.needed,
            "Restless": frozenset(self.restless),
            "Raising": frozenset(self.raising),
            "Holders": frozenset(self.holders),
            "Stubborn": frozenset(),
            "Timers": frozenset(self.timers()),
            "None": NONE,
        }


class _PredicateError(Exception):
    """The error that a predicate raises here."""


class _Operation(DelayedOperation):
    """An operation that can complete after enough events; each callback is one step."""

    __slots__ = ("_answers", "_events", "_expirations", "_may_raise", "_needed")

    def __init__(
        self, discipline: CompletionDiscipline, needed: int, may_raise: Callable[[], bool]
    ) -> None:
        super().__init__(_NEVER_MS, discipline=discipline)
        self._needed = needed
        self._may_raise = may_raise
        self._events = sync.atomic_integer(0, EVENTS)
        self._answers = sync.atomic_integer(0, ANSWERS)
        self._expirations = sync.atomic_integer(0, EXPIRATIONS)

    def make_true(self) -> None:
        """Make an event happen."""
        self._events.add_and_get(1)

    def try_complete(self) -> bool:
        """Test whether enough events have happened."""
        if self._may_raise() and choose(2):
            raise _PredicateError
        holds = self._events.get() >= self._needed
        # The thread need not remember what it read: no discipline keeps it.
        forget(holds)
        return holds and self.force_complete()

    def on_complete(self) -> None:
        """Count the completion."""
        self._answers.add_and_get(1)

    def on_expiration(self) -> None:
        """Count the expiry."""
        self._expirations.add_and_get(1)


def discipline_of(name: str) -> tuple[CompletionDiscipline, LockView]:
    """Return a new discipline by its name in MaybeTryComplete, and the operation's lock."""
    if name in _WAITING:
        monitor = sync.monitor(LOCK)
        return _WAITING[name](monitor), monitor
    lock = sync.lock(LOCK)
    return _TRYING[name](lock), lock


MakeDiscipline = Callable[[str], tuple[CompletionDiscipline, LockView]]


class _Bench:
    """The objects of one run, and the actions of the threads."""

    def __init__(self, attempts: Attempts, make_discipline: MakeDiscipline) -> None:
        self._attempts = attempts
        self._runtime = sync.current_runtime()
        self.discipline, self.lock = make_discipline(attempts.discipline)
        self.operation = _Operation(self.discipline, attempts.needed, self._may_raise)

    def threads(self) -> dict[str, Action]:
        """Return the action of each thread."""
        attempts = self._attempts
        threads: dict[str, Action] = {
            name: partial(self._trigger, restless=name in attempts.restless)
            for name in attempts.triggers
        }
        threads |= dict.fromkeys(attempts.holders, self._hold)
        threads |= dict.fromkeys(attempts.timers(), self.operation.run)
        return threads

    def _may_raise(self) -> bool:
        assert isinstance(self._runtime, ControlledRuntime)
        return self._runtime.caller().name in self._attempts.raising

    def _trigger(self, *, restless: bool) -> None:
        """Trigger as a walk over a watch list does (standard 2.7)."""
        self.operation.make_true()
        forget()
        try:
            while not self.operation.is_done():
                self.operation.safe_try_complete()
                if not restless:
                    return
                forget()
        except _PredicateError:
            return

    def _hold(self) -> None:
        with self.lock:
            pass


def maybe_try_complete(
    attempts: Attempts, make_discipline: MakeDiscipline = discipline_of
) -> GraphProgram:
    """Return the program of a configuration, with disciplines of `make_discipline`."""

    def build() -> ViewedRun:
        bench = _Bench(attempts, make_discipline)
        view = MaybeTryCompleteView(
            operation=bench.operation,
            discipline=bench.discipline,
            lock=bench.lock,
            threads=tuple(bench.threads()),
            holders=frozenset(attempts.holders),
        )
        return ViewedRun(scenario=Scenario(threads=bench.threads()), view=view)

    return GraphProgram(name="MaybeTryComplete", build=build)
