"""Which thread of a burst was interrupted how often, and whether it may say so."""

import threading

from wheelproof.sync.threads_condition import InterruptibleThread


class Interruptions:
    """The interruptions of one burst; threads are known from their first call on."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._threads: list[InterruptibleThread] = []
        self._requested: dict[str, int] = {}

    def join_in(self) -> None:
        """Note that the current thread can be interrupted."""
        thread = threading.current_thread()
        with self._lock:
            if isinstance(thread, InterruptibleThread) and thread not in self._threads:
                self._threads.append(thread)

    def interrupt(self, number: int) -> None:
        """Interrupt one of the threads; `number` says which."""
        with self._lock:
            if not self._threads:
                return
            thread = self._threads[number % len(self._threads)]
            self._requested[thread.name] = self._requested.get(thread.name, 0) + 1
        thread.interruption.request()

    def allow(self) -> bool:
        """Tell whether the current thread, which was interrupted, had been meant to be."""
        name = threading.current_thread().name
        with self._lock:
            self._requested[name] = self._requested.get(name, 0) - 1
            return self._requested[name] >= 0
