"""A timer that is nothing like the reference: a dictionary under a lock, and it rounds up."""

import threading
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager


class UpTimer:
    """Keeps the profile `never-early`; the methods with an underscore are what variants replace."""

    def __init__(
        self, tick_ms: int, wheel_size: int, start_ms: int, run: Callable[[str], None]
    ) -> None:
        del wheel_size
        self._tick_ms, self._now_ms, self._run = tick_ms, start_ms, run
        self._due_ms: dict[str, int] = {}
        self._lock: AbstractContextManager[object] = threading.Lock()

    def add(self, task: str, delay_ms: int) -> None:
        """Take in a task."""
        with self._lock:
            self._due_ms[task] = self._due(self._now_ms + delay_ms)

    def cancel(self, task: str) -> bool:
        """Drop a task."""
        with self._lock:
            return self._due_ms.pop(task, None) is not None

    def advance(self, to_ms: int) -> None:
        """Run what is due by `to_ms`."""
        with self._lock:
            self._now_ms = to_ms
            due = sorted((due_ms, task) for task, due_ms in self._due_ms.items())
            for task in self._submitted([task for due_ms, task in due if due_ms <= to_ms]):
                del self._due_ms[task]
                self._run(task)

    def size(self) -> int:
        """Return the number of tasks that wait."""
        with self._lock:
            return len(self._due_ms)

    def close(self) -> None:
        """Do nothing: there is nothing to end."""

    def _due(self, deadline_ms: int) -> int:
        return -(-deadline_ms // self._tick_ms) * self._tick_ms

    def _submitted(self, due: list[str]) -> Iterable[str]:
        return due
