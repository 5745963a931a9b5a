"""Wrong timers: each is an UpTimer with one defect. The last one is right, but strange.

LosesUpdates and RunsTheCancelled are right for one thread.
"""

import threading
from collections.abc import Callable

from support.reference.heap_timer import UpTimer
from support.testing.meeting import race


class Early(UpTimer):
    def _due(self, deadline_ms: int) -> int:
        return super()._due(deadline_ms) - 1


class RunsTwice(UpTimer):
    def advance(self, to_ms: int) -> None:
        before = set(self._due_ms)
        super().advance(to_ms)
        for task in before - set(self._due_ms):
            self._run(task)


class LeavesOneBehind(UpTimer):
    def _submitted(self, due: list[str]) -> list[str]:
        return due[:1]


class LosesOverdue(UpTimer):
    """What is due already when it is added never runs."""

    _before_ms = -1

    def advance(self, to_ms: int) -> None:
        self._before_ms = self._now_ms
        super().advance(to_ms)

    def _submitted(self, due: list[str]) -> list[str]:
        return [task for task in due if self._due_ms[task] > self._before_ms]


class Backwards(UpTimer):
    def _submitted(self, due: list[str]) -> list[str]:
        return due[::-1]


class CancelLies(UpTimer):
    def cancel(self, task: str) -> bool:
        super().cancel(task)
        return True


class CountsCancelled(UpTimer):
    _cancelled = 0

    def cancel(self, task: str) -> bool:
        found = super().cancel(task)
        self._cancelled += found
        return found

    def size(self) -> int:
        return super().size() + self._cancelled


class LosesUpdates(UpTimer):
    """Each call changes a copy of the tasks and puts it back: right, but for two threads at once.

    The first thread of a burst takes its copy before the others begin, and puts it back after they
    have ended, one after the other. So the race happens whenever threads meet, however they are
    scheduled.
    """

    def __init__(
        self, tick_ms: int, wheel_size: int, start_ms: int, run: Callable[[str], None]
    ) -> None:
        super().__init__(tick_ms, wheel_size, start_ms, run)
        self._copied = threading.Event()

    def add(self, task: str, delay_ms: int) -> None:
        copy = self._meet()
        copy[task] = self._due(self._now_ms + delay_ms)
        self._due_ms = copy

    def cancel(self, task: str) -> bool:
        copy = self._meet()
        found = copy.pop(task, None) is not None
        self._due_ms = copy
        return found

    def advance(self, to_ms: int) -> None:
        self._meet()
        super().advance(to_ms)

    def size(self) -> int:
        return len(self._meet())

    def _meet(self) -> dict[str, int]:
        copy = dict(self._due_ms)
        name = threading.current_thread().name
        if not name.startswith("burst-"):
            self._copied.clear()
        elif name == "burst-0":
            self._copied.set()
            _join("burst-1", "burst-2")
        else:
            self._copied.wait()
            if name == "burst-2":
                _join("burst-1")
            copy = dict(self._due_ms)
        return copy


def _join(*names: str) -> None:
    for thread in threading.enumerate():
        if thread.name in names:
            thread.join()


class RunsTheCancelled(UpTimer):
    """An advance takes what is due, and does not look again before it runs that."""

    def advance(self, to_ms: int) -> None:
        with self._lock:
            self._now_ms = to_ms
            due = sorted((due_ms, task) for task, due_ms in self._due_ms.items())
        race()
        for due_ms, task in due:
            if due_ms <= to_ms:
                self._run(task)
                self.cancel(task)


class ReadsTheClockFirst(UpTimer):
    """Right, and strange: its add reads the clock long before it takes the task in."""

    def add(self, task: str, delay_ms: int) -> None:
        now_ms = self._now_ms
        race()
        with self._lock:
            self._due_ms[task] = self._due(now_ms + delay_ms)
