"""One operation that several threads attempt to complete: triggers, expiry, a holder of its lock.

Each program runs under the disciplines that its row names. A discipline with a known bug is in a
program that must fail. TLA+: MaybeTryComplete.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

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
from wheelproof.sync import AtomicInteger
from wheelproof_explore.program import Program, Scenario
from wheelproof_lab.bugs.purgatory import BUGS
from wheelproof_lab.worlds.tables import Bench, ProgramRow, act, programs_of, scenario_of

_NEVER_MS = 1_000
MakeDiscipline = Callable[..., CompletionDiscipline]
"""Makes a discipline, from a lock if other threads hold that lock too."""


class CountingOperation(DelayedOperation):
    """An operation that can complete at a number of a counter; counts its callbacks.

    With `exclusive` the test of the predicate and `on_complete` are each two steps long and raise
    if another thread is inside at the same time.
    """

    __slots__ = ("_inside", "_needed", "_progress", "completions", "expirations", "told")

    def __init__(
        self,
        progress: AtomicInteger,
        needed: int,
        discipline: CompletionDiscipline | None = None,
        *,
        exclusive: bool = False,
    ) -> None:
        super().__init__(_NEVER_MS, discipline=discipline)
        self._progress = progress
        self._needed = needed
        self._inside = sync.atomic_integer(0, "inside") if exclusive else None
        self.completions = 0
        self.expirations = 0
        self.told = 0
        """How many triggers have said that they completed it."""

    def try_complete(self) -> bool:
        """Test whether the counter has reached the number."""
        self._enter("try_complete")
        holds = self._progress.get() >= self._needed
        self._leave()
        return holds and self.force_complete()

    def on_complete(self) -> None:
        """Count the completion."""
        self._enter("on_complete")
        self.completions += 1
        self._leave()

    def on_expiration(self) -> None:
        """Count the expiry."""
        self.expirations += 1

    def trigger(self) -> None:
        """Increment the counter, then trigger the operation."""
        self._progress.add_and_get(1)
        if self.safe_try_complete():
            self.told += 1

    def check_completed(self) -> None:
        """Raise unless the operation was completed exactly once."""
        assert self.completions == 1, f"completed {self.completions} times, not once"
        assert self.is_completed(), "its state is not that of one that is completed"
        assert self.expirations <= 1, f"expired {self.expirations} times"
        assert self.told <= 1, f"{self.told} triggers say that they have completed it"

    def _enter(self, name: str) -> None:
        if self._inside is not None:
            assert self._inside.add_and_get(1) == 1, f"{name} while another thread is inside"

    def _leave(self) -> None:
        if self._inside is not None:
            self._inside.add_and_get(-1)


class CompletionBench(Bench):
    """An operation, and the actions of threads on it; `shared` is a lock that others hold too."""

    def __init__(
        self, make: MakeDiscipline, needed: int, shared: sync.Lock | None, *, exclusive: bool
    ) -> None:
        super().__init__()
        self._lock = shared
        self._work = sync.volatile(0, "group's work")
        self._operation = CountingOperation(
            sync.atomic_integer(0, "progress"),
            needed,
            make() if shared is None else make(shared),
            exclusive=exclusive,
        )
        self._cancels = 0

    def trigger(self) -> None:
        """Make progress, and trigger the operation."""
        self._operation.trigger()

    def expire(self) -> None:
        """Let the operation expire."""
        self._operation.run()

    def force(self) -> None:
        """Force the operation's completion."""
        self._operation.force_complete()

    def check(self) -> None:
        """Raise unless the operation was completed exactly once."""
        self._operation.check_completed()

    def check_told(self) -> None:
        """Raise unless one trigger has completed the operation, and says so."""
        self._operation.check_completed()
        assert self._operation.told == 1, "a trigger has completed it, and does not say so"

    def hold(self) -> None:
        """Hold the lock of the operation."""
        assert self._lock is not None
        with self._lock:
            self._work.get()

    def cancel(self) -> None:
        """Cancel the operation."""
        self._cancels += self._operation.force_cancel()

    def check_given_up(self) -> None:
        """Raise unless the operation was completed or cancelled exactly once."""
        completions, cancels = self._operation.completions, self._cancels
        assert completions + cancels == 1, (
            f"completed {completions} times and cancelled {cancels} times"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class CompletionRow(ProgramRow[CompletionBench]):
    """Threads on one operation, which `needed` much progress completes, under some disciplines.

    With `exclusive` the operation raises where two threads are inside at the same time; with `lock`
    its discipline shares a lock with others.
    """

    disciplines: tuple[str, ...]
    needed: int
    exclusive: bool = False
    lock: bool = False


def _build(row: CompletionRow, make: MakeDiscipline) -> Scenario:
    shared = sync.lock("group") if row.lock else None
    return scenario_of(row, CompletionBench(make, row.needed, shared, exclusive=row.exclusive))


_MAKERS: Mapping[str, MakeDiscipline] = {
    "monitor": MonitorDiscipline,
    "pending-flag": PendingFlagDiscipline,
    "blocking": BlockingDiscipline,
    "exclusive": ExclusiveDiscipline,
    "try-lock-once": TryLockOnceDiscipline,
}
_ROWS: Mapping[str, CompletionRow] = {
    "2": CompletionRow(
        summary="Two threads make progress and attempt to complete; both are needed.",
        disciplines=("monitor", "pending-flag", "blocking", "exclusive"),
        needed=2,
        check=CompletionBench.check_told,
        threads={
            "trigger 1": act(CompletionBench.trigger),
            "trigger 2": act(CompletionBench.trigger),
        },
        bugs=("KAFKA-6653",),
    ),
    "3": CompletionRow(
        summary="Three threads make progress and attempt to complete; all are needed.",
        disciplines=("monitor", "blocking", "exclusive"),
        needed=3,
        check=CompletionBench.check_told,
        threads={
            "trigger 1": act(CompletionBench.trigger),
            "trigger 2": act(CompletionBench.trigger),
            "trigger 3": act(CompletionBench.trigger),
        },
        bugs=("KAFKA-6653/first-fix",),
    ),
    # With a flag, three that are all needed are over a million classes; TLC counts those.
    "one-of-3": CompletionRow(
        summary="Three threads make progress and attempt to complete; one is enough.",
        disciplines=("pending-flag",),
        needed=1,
        check=CompletionBench.check_told,
        threads={
            "trigger 1": act(CompletionBench.trigger),
            "trigger 2": act(CompletionBench.trigger),
            "trigger 3": act(CompletionBench.trigger),
        },
    ),
    "alone-2": CompletionRow(
        summary="Threads attempt to complete: no two of them test the predicate at the same time.",
        disciplines=("monitor", "pending-flag", "blocking", "exclusive"),
        needed=2,
        exclusive=True,
        threads={
            "trigger 1": act(CompletionBench.trigger),
            "trigger 2": act(CompletionBench.trigger),
        },
        bugs=("KAFKA-385",),
    ),
    "expiry-2": CompletionRow(
        summary="Triggers and the time-out at the same time: exactly one of them completes.",
        disciplines=("monitor", "pending-flag", "blocking", "exclusive"),
        needed=2,
        threads={
            "trigger 1": act(CompletionBench.trigger),
            "trigger 2": act(CompletionBench.trigger),
            "expiry": act(CompletionBench.expire),
        },
    ),
    "done-2": CompletionRow(
        summary="Two triggers complete the operation before two more meet, which come too late.",
        disciplines=("monitor", "pending-flag", "blocking", "exclusive", "try-lock-once"),
        needed=2,
        before=(
            act(CompletionBench.trigger),
            act(CompletionBench.trigger),
            act(CompletionBench.check_told),
        ),
        check=CompletionBench.check_told,
        threads={
            "trigger 1": act(CompletionBench.trigger),
            "trigger 2": act(CompletionBench.trigger),
        },
    ),
    "force": CompletionRow(
        summary="Two threads force completion while a trigger tests the predicate.",
        disciplines=("monitor", "pending-flag", "blocking", "exclusive", "try-lock-once"),
        needed=1,
        threads={
            "force 1": act(CompletionBench.force),
            "force 2": act(CompletionBench.force),
            "trigger": act(CompletionBench.trigger),
        },
    ),
    "cancel": CompletionRow(
        summary=(
            "An operation is given up while a trigger and the time-out complete it: one of "
            "them wins."
        ),
        disciplines=("monitor", "pending-flag", "blocking", "exclusive", "try-lock-once"),
        needed=1,
        threads={
            "trigger": act(CompletionBench.trigger),
            "expiry": act(CompletionBench.expire),
            "cancel": act(CompletionBench.cancel),
        },
        check=CompletionBench.check_given_up,
    ),
    "holder-2": CompletionRow(
        summary="Somebody else holds the operation's lock for a while: no trigger is lost by that.",
        disciplines=("monitor", "blocking"),
        needed=2,
        lock=True,
        threads={
            "trigger 1": act(CompletionBench.trigger),
            "trigger 2": act(CompletionBench.trigger),
            "holder": act(CompletionBench.hold),
        },
    ),
    "holder-1": CompletionRow(
        summary=(
            "Somebody else holds the operation's lock for a while: the trigger is not lost by that."
        ),
        disciplines=(),
        needed=1,
        lock=True,
        threads={"trigger 1": act(CompletionBench.trigger), "holder": act(CompletionBench.hold)},
        bugs=("KAFKA-8334",),
    ),
    "excludes-2": CompletionRow(
        summary="Triggers and the time-out: nobody tests the predicate while `on_complete` runs.",
        disciplines=("exclusive",),
        needed=2,
        exclusive=True,
        threads={
            "trigger 1": act(CompletionBench.trigger),
            "trigger 2": act(CompletionBench.trigger),
            "expiry": act(CompletionBench.expire),
        },
    ),
    "excludes-1": CompletionRow(
        summary="A trigger and the time-out: nobody tests the predicate while `on_complete` runs.",
        disciplines=(),
        needed=1,
        exclusive=True,
        threads={"trigger 1": act(CompletionBench.trigger), "expiry": act(CompletionBench.expire)},
        bugs=("KAFKA-19312",),
    ),
}


def _of_discipline(name: str, make: MakeDiscipline) -> tuple[Program, ...]:
    rows = {number: row for number, row in _ROWS.items() if name in row.disciplines}
    programs, _ = programs_of(rows, _build, make, (), prefix=f"complete-{name}-")
    return programs


COMPLETION: tuple[Program, ...] = tuple(
    found for name, make in _MAKERS.items() for found in _of_discipline(name, make)
)
_SOUND: MakeDiscipline = ExclusiveDiscipline
_, FAILING_COMPLETION = programs_of(_ROWS, _build, _SOUND, [(bug, bug.discipline) for bug in BUGS])
"""The known bugs of the disciplines."""
