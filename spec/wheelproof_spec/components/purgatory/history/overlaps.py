"""Whether tests of a predicate, and completions, of one operation exclude each other."""

from dataclasses import dataclass


@dataclass(slots=True)
class _Running:
    name: str
    f: str
    overlapped: bool = False
    """Whether another thread has begun and ended one meanwhile."""


class Overlaps:
    """Watches what runs of each operation, process by process; it may run nested in itself."""

    def __init__(self) -> None:
        self._of_process: dict[str, list[_Running]] = {}
        self._of_operation: dict[str, dict[str, int]] = {}

    def begin(self, process: str, f: str, name: str) -> None:
        """One begins."""
        self._of_process.setdefault(process, []).append(_Running(name, f))
        depths = self._of_operation.setdefault(name, {})
        depths[process] = depths.get(process, 0) + 1

    def end(self, process: str, f: str) -> str | None:
        """The last one of this name ends in a process; return its operation if it overlapped."""
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
                # The other one may have ended long ago, if its end was not recorded.
                self._mark(other, mine.name)
        return mine.name if mine.overlapped else None

    def _mark(self, process: str, name: str) -> None:
        for running in self._of_process[process]:
            if running.name == name:
                running.overlapped = True
