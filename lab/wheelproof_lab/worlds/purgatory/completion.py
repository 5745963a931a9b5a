"""One operation that several threads attempt to complete: triggers, expiry, a holder of its lock.

Each program runs under the disciplines that its row names. A discipline with a known bug is in a
program that must fail. TLA+: MaybeTryComplete.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import cast

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
from wheelproof_lab.worlds.making import discarding
from wheelproof_lab.worlds.tables import Bench, programs_of, scenario_of
from wheelproof_spec.base.codec.tables import Row, read_table

_NEVER_MS = 1_000
MakeDiscipline = Callable[..., CompletionDiscipline]
"""Makes a discipline, from a lock if other threads hold that lock too."""


class CountingOperation(DelayedOperation):
    """An operation that can complete at a number of a counter; counts its callbacks.

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
        self.safe_try_complete()

    def check_completed(self) -> None:
        """Raise unless the operation was completed exactly once."""
        assert self.completions == 1, f"completed {self.completions} times, not once"
        assert self.is_completed(), "its state is not that of one that is completed"
        assert self.expirations <= 1, f"expired {self.expirations} times"

    def _enter(self, name: str) -> None:
        if self._inside is not None:
            assert self._inside.add_and_get(1) == 1, f"{name} while another thread is inside"

    def _leave(self) -> None:
        if self._inside is not None:
            self._inside.add_and_get(-1)


class CompletionBench(Bench):
    """An operation, and the actions of threads on it."""

    def __init__(self, row: Row, make: MakeDiscipline) -> None:
        super().__init__()
        shared = (sync.lock("group"),) if "lock" in row else ()
        self._lock = next(iter(shared), None)
        self._work = sync.volatile(0, "group's work")
        self._operation = CountingOperation(
            sync.atomic_integer(0, "progress"),
            cast(int, row["needed"]),
            make(*shared),
            exclusive="exclusive" in row,
        )
        self._cancels = 0
        self.trigger = self._operation.trigger
        self.expire = self._operation.run
        self.force = discarding(self._operation.force_complete)
        self.check = self._operation.check_completed

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


def _build(row: Row, make: MakeDiscipline) -> Scenario:
    return scenario_of(row, CompletionBench(row, make))


_MAKERS: Mapping[str, MakeDiscipline] = {
    "monitor": MonitorDiscipline,
    "pending-flag": PendingFlagDiscipline,
    "blocking": BlockingDiscipline,
    "exclusive": ExclusiveDiscipline,
    "try-lock-once": TryLockOnceDiscipline,
}
_TABLE = "completion.toml"
_ROWS = read_table(__file__, _TABLE)


def _of_discipline(name: str, make: MakeDiscipline) -> Iterator[Program]:
    programs, _ = programs_of(__file__, _build, make, (), table=_TABLE, prefix=f"complete-{name}-")
    for found, row in zip(programs, _ROWS.values(), strict=True):
        if name in cast(Sequence[str], row["disciplines"]):
            yield found


COMPLETION: tuple[Program, ...] = tuple(
    found for name, make in _MAKERS.items() for found in _of_discipline(name, make)
)
_SOUND: MakeDiscipline = ExclusiveDiscipline
_, FAILING_COMPLETION = programs_of(
    __file__, _build, _SOUND, [(bug, bug.discipline) for bug in BUGS], table=_TABLE
)
"""The known bugs of the disciplines."""
