"""What the judge of a purgatory's history knows about one operation, and its running callbacks."""

from dataclasses import dataclass

from wheelproof_spec.base.history.clock import NEVER
from wheelproof_spec.base.results.tally import Tally
from wheelproof_spec.base.results.violation import Violation
from wheelproof_spec.components.purgatory.component import PurgatoryClause


@dataclass(slots=True, eq=False)
class Operation:
    """An operation; moments are indices of lines, times are in ms."""

    name: str
    keys: tuple[str, ...] = ()
    asked: int | None = None
    """When the call that hands it in began."""
    settled: int | None = None
    """When that call returned."""
    refused: bool = False
    """Whether that call was refused."""
    mark: int = 0
    delay_ms: int = 0
    least: int = -NEVER
    """The earliest time when it expires."""
    most: int = NEVER
    """The latest time when it expires; known once it is settled."""
    may_be_true: bool = False
    """Whether a `satisfy` of its predicate has begun."""
    true_since: int | None = None
    """When the first `satisfy` of its predicate returned."""
    forced: bool = False
    """Whether a `force_complete` of it has begun."""
    denied: int | None = None
    """When a `force_complete` first answered that it did not complete it."""
    completed: int | None = None
    completed_high: int = -NEVER
    """The latest time that the clock may have shown then."""
    completed_in: int | None = None
    """The call that completed it, if that is known."""
    completed_by: type[object] | None = None
    """The type of that call."""
    claimed: bool = False
    """Whether a call has claimed to have completed it."""
    must_expire: bool = False
    """Whether only its time-out can have completed it."""
    expired: bool = False
    cancelled: bool = False
    given_up: int | None = None
    """When a cancel that gave it up returned; it is done from then on."""
    cancels: int = 0
    """The number of cancels of its keys that may have cancelled it."""
    open_cancels: int = 0
    """The number of these cancels without an answer that names the cancelled operations."""
    advances: int = -1
    """The number of advances that had begun at its hand-in; -1 if one was under way."""

    @property
    def may_be_cancelled(self) -> bool:
        """Whether a cancel has cancelled it, or may have."""
        return self.cancelled or self.open_cancels > 0

    @property
    def may_be_over(self) -> bool:
        """Whether it may be done or was refused, so that its completion is not owed."""
        return self.completed is not None or self.may_be_cancelled or self.refused

    @property
    def is_calm(self) -> bool:
        """Whether it surely waits: no event has begun that could end it, except its time-out."""
        return (
            self.settled is not None
            and self.completed is None
            and not (self.may_be_true or self.forced or self.may_be_cancelled)
        )

    def settled_before(self, index: int) -> bool:
        """Tell whether the call that handed it in had returned by then."""
        return self.settled is not None and self.settled < index

    def done_before(self, index: int) -> bool:
        """Tell whether it was done by then: completed or given up."""
        return any(
            moment is not None and moment < index for moment in (self.completed, self.given_up)
        )


@dataclass(slots=True)
class _Running:
    name: str
    f: str
    overlapped: bool = False
    """Whether a callback of the same operation in another thread has ended meanwhile."""


class Overlaps:
    """Judges whether try_complete and on_complete of one operation exclude each other.

    It has the running callbacks of each operation, by process; a callback may run nested.
    """

    def __init__(self, tally: Tally) -> None:
        self._tests = tally.tests
        self._of_process: dict[str, list[_Running]] = {}
        self._of_operation: dict[str, dict[str, int]] = {}

    def begin(self, process: str, f: str, name: str) -> None:
        """Record that a callback began."""
        self._of_process.setdefault(process, []).append(_Running(name, f))
        depths = self._of_operation.setdefault(name, {})
        depths[process] = depths.get(process, 0) + 1

    def end(self, process: str, f: str) -> Violation | None:
        """Judge the end of the last callback of this name in a process."""
        stack = self._of_process.get(process, [])
        place = next((at for at in reversed(range(len(stack))) if stack[at].f == f), None)
        if place is None:
            return None
        mine = stack.pop(place)
        depths = self._of_operation[mine.name]
        depths[process] -= 1
        if not depths[process]:
            del depths[process]
        if not depths:
            del self._of_operation[mine.name]
        for other in depths:
            if other != process:
                # The other callback may have ended long ago, if its end was not recorded.
                self._mark(other, mine.name)
        self._tests(PurgatoryClause.ATTEMPTS_EXCLUDE)
        if not mine.overlapped:
            return None
        return PurgatoryClause.ATTEMPTS_EXCLUDE.broken(
            f"try_complete and on_complete of {mine.name!r} run one after the other",
            "two of them run at once in different threads",
            "it is claimed that they exclude each other (KAFKA-19312)",
        )

    def _mark(self, process: str, name: str) -> None:
        for running in self._of_process[process]:
            if running.name == name:
                running.overlapped = True
