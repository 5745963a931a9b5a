"""The threads of a burst that can be interrupted, by the names that its history has for them."""

import threading
from collections.abc import Callable
from dataclasses import dataclass

from wheelproof.sync.threads_condition import InterruptibleThread


@dataclass(frozen=True, slots=True)
class Victim:
    """A thread that can be interrupted: its name in the history, and how."""

    name: str
    interrupt: Callable[[], None]


class Interruptions:
    """The threads of one burst, each known from its first call on."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._victims: dict[str, Victim] = {}

    def join_in(self, name: str) -> None:
        """Note that the current thread, which the history calls `name`, can be interrupted."""
        thread = threading.current_thread()
        if isinstance(thread, InterruptibleThread):
            with self._lock:
                self._victims.setdefault(name, Victim(name, thread.interruption.request))

    def victim(self, number: int) -> Victim:
        """Return one of the threads, of which the current one is one; `number` says which."""
        with self._lock:
            victims = tuple(self._victims.values())
        return victims[number % len(victims)]
