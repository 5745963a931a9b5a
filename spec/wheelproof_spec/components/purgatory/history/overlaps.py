"""Judges whether try_complete and on_complete of one operation exclude each other."""

from dataclasses import dataclass

from wheelproof_spec.base.results.tally import Tally
from wheelproof_spec.base.results.violation import Violation
from wheelproof_spec.components.purgatory.component import PurgatoryClause


@dataclass(slots=True)
class _Running:
    name: str
    f: str
    overlapped: bool = False
    """Whether a callback of the same operation in another thread has ended meanwhile."""


class Overlaps:
    """The running callbacks of each operation, by process; a callback may run nested."""

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
