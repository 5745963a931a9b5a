"""The interruptible threads of a burst, by their names in its history."""

import threading
from collections.abc import Callable
from dataclasses import dataclass

from wheelproof.sync.threads_condition import InterruptibleThread


@dataclass(frozen=True, slots=True)
class Victim:
    """An interruptible thread: its name in the history, and the call that interrupts it."""

    name: str
    interrupt: Callable[[], None]


class Interruptions:
    """The threads of one burst, each known from its first call on."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._victims: dict[str, Victim] = {}

    def join_in(self, name: str) -> None:
        """Record that the current thread, `name` in the history, can be interrupted."""
        thread = threading.current_thread()
        if isinstance(thread, InterruptibleThread):
            with self._lock:
                self._victims.setdefault(name, Victim(name, thread.interruption.request))

    def victim(self, number: int) -> Victim:
        """Return the thread that `number` selects; the current thread must have joined in."""
        with self._lock:
            victims = tuple(self._victims.values())
        return victims[number % len(victims)]
