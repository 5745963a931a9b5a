"""One operation that several threads attempt to complete: triggers, expiry, a holder of its lock.

Each program is run for the disciplines that keep what it asks for; where one does not, the program
is among those that have to fail. TLA+: MaybeTryComplete.
"""

from collections.abc import Callable, Mapping
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
from wheelproof.sync import AtomicInteger, Lock
from wheelproof_spec.components.purgatory.bugs import NoLockDiscipline, RetryOnceDiscipline
from wheelproof_spec.engines.explore.program import Action, Program, Scenario
from wheelproof_spec.engines.explore.programs.making import discarding, program

_NEVER_MS = 1_000
MakeDiscipline = Callable[[], CompletionDiscipline]


class CountingOperation(DelayedOperation):
    """Completes when a counter has reached a number; notes what was called, and overlaps.

    With `exclusive` the test of the predicate and `on_complete` are each two steps long and raise
    if another thread is inside at the same time.
    """

    __slots__ = ("_inside", "_needed", "_progress", "completions", "expirations")

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

    def try_complete(self) -> bool:
        """Test whether the counter has come far enough."""
        self._enter("try_complete")
        holds = self._progress.get() >= self._needed
        self._leave()
        return holds and self.force_complete()

    def on_complete(self) -> None:
        """Count."""
        self._enter("on_complete")
        self.completions += 1
        self._leave()

    def on_expiration(self) -> None:
        """Count."""
        self.expirations += 1

    def trigger(self) -> None:
        """Make progress, then have the operation tested."""
        self._progress.add_and_get(1)
        self.safe_try_complete()

    def check_completed(self) -> None:
        """Raise unless the operation was completed, once."""
        assert self.completions == 1, f"completed {self.completions} times, not once"
        assert self.expirations <= 1, f"expired {self.expirations} times"

    def _enter(self, name: str) -> None:
        if self._inside is not None:
            assert self._inside.add_and_get(1) == 1, f"{name} while another thread is inside"

    def _leave(self) -> None:
        if self._inside is not None:
            self._inside.add_and_get(-1)


def triggers(make: MakeDiscipline, count: int, needed: int | None = None) -> Scenario:
    """Threads each make progress and attempt to complete; `needed` of them, or all, are enough."""
    operation = _operation(make, needed=count if needed is None else needed)
    threads = {f"trigger {number}": operation.trigger for number in range(1, count + 1)}
    return Scenario(threads=threads, check=operation.check_completed)


def triggers_exclude(make: MakeDiscipline, count: int) -> Scenario:
    """Threads attempt to complete: no two of them test the predicate at the same time."""
    operation = _operation(make, needed=count, exclusive=True)
    threads = {f"trigger {number}": operation.trigger for number in range(1, count + 1)}
    return Scenario(threads=threads, check=operation.check_completed)


def triggers_and_expiry(make: MakeDiscipline, count: int) -> Scenario:
    """Triggers and the time-out at the same time: exactly one of them completes."""
    operation = _operation(make, needed=count)
    return Scenario(threads=_with_expiry(operation, count), check=operation.check_completed)


def completion_excludes(make: MakeDiscipline, count: int) -> Scenario:
    """Triggers and the time-out: nobody tests the predicate while `on_complete` runs."""
    operation = _operation(make, needed=count, exclusive=True)
    return Scenario(threads=_with_expiry(operation, count), check=operation.check_completed)


def holder_from_outside(make: Callable[[Lock], CompletionDiscipline], count: int) -> Scenario:
    """Somebody else holds the operation's lock for a while: no trigger is lost by that."""
    lock = sync.lock("group")
    work = sync.volatile(0, "group's work")
    operation = _operation(partial(make, lock), needed=count)

    def hold() -> None:
        with lock:
            work.get()

    threads: dict[str, Action] = {
        f"trigger {number}": operation.trigger for number in range(1, count + 1)
    }
    return Scenario(threads=threads | {"holder": hold}, check=operation.check_completed)


def cancel_and_complete(make: MakeDiscipline) -> Scenario:
    """An operation is given up while a trigger and the time-out complete it: one of them wins."""
    operation = _operation(make, needed=1)
    cancelled: list[bool] = []

    def cancel() -> None:
        cancelled.append(operation.force_cancel())

    def check() -> None:
        assert operation.completions + sum(cancelled) == 1, (
            f"completed {operation.completions} times and cancelled {sum(cancelled)} times"
        )

    threads: dict[str, Action] = {
        "trigger": operation.trigger,
        "expiry": operation.run,
        "cancel": cancel,
    }
    return Scenario(threads=threads, check=check)


def _operation(make: MakeDiscipline, needed: int, *, exclusive: bool = False) -> CountingOperation:
    progress = sync.atomic_integer(0, "progress")
    return CountingOperation(progress, needed, make(), exclusive=exclusive)


def _with_expiry(operation: CountingOperation, count: int) -> dict[str, Action]:
    threads: dict[str, Action] = {
        f"trigger {number}": operation.trigger for number in range(1, count + 1)
    }
    return threads | {"expiry": operation.run}


def _forcing(make: MakeDiscipline) -> Scenario:
    """Two threads force completion while a trigger tests the predicate."""
    operation = _operation(make, needed=1)
    force = discarding(operation.force_complete)
    return Scenario(
        threads={"force 1": force, "force 2": force, "trigger": operation.trigger},
        check=operation.check_completed,
    )


_MAKERS: Mapping[str, MakeDiscipline] = {
    "monitor": MonitorDiscipline,
    "pending-flag": PendingFlagDiscipline,
    "blocking": BlockingDiscipline,
    "exclusive": ExclusiveDiscipline,
}
_MAKERS_THAT_WAIT: Mapping[str, Callable[[Lock], CompletionDiscipline]] = {
    "monitor": MonitorDiscipline,
    "blocking": BlockingDiscipline,
}


def _of_discipline(name: str, make: MakeDiscipline) -> tuple[Program, ...]:
    return (
        program(f"complete-{name}-2", partial(triggers, make, 2)),
        # With a flag, three that are all needed are over a million classes; TLC counts those.
        program(
            f"complete-{name}-3",
            partial(triggers, make, 3, needed=1 if make is PendingFlagDiscipline else 3),
        ),
        program(f"complete-{name}-alone-2", partial(triggers_exclude, make, 2)),
        program(f"complete-{name}-expiry-2", partial(triggers_and_expiry, make, 2)),
        program(f"complete-{name}-force", partial(_forcing, make)),
        program(f"complete-{name}-cancel", partial(cancel_and_complete, make)),
    )


COMPLETION: tuple[Program, ...] = (
    *(item for name, make in _MAKERS.items() for item in _of_discipline(name, make)),
    *(
        program(f"complete-{name}-holder-2", partial(holder_from_outside, make, 2))
        for name, make in _MAKERS_THAT_WAIT.items()
    ),
    program("complete-exclusive-excludes-2", partial(completion_excludes, ExclusiveDiscipline, 2)),
)
FAILING_COMPLETION: tuple[Program, ...] = (
    program("bug/KAFKA-385", partial(triggers_exclude, NoLockDiscipline, 2)),
    program("bug/KAFKA-6653", partial(triggers, TryLockOnceDiscipline, 2)),
    program("bug/KAFKA-6653/first-fix", partial(triggers, RetryOnceDiscipline, 3)),
    program("bug/KAFKA-8334", partial(holder_from_outside, PendingFlagDiscipline, 1)),
    program("bug/KAFKA-19312", partial(completion_excludes, BlockingDiscipline, 1)),
)
"""The known bugs of the disciplines."""
