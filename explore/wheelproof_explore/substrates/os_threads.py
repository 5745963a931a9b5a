"""The substrate of the standard library: operating-system threads, of which one runs at a time."""

from _thread import LockType, allocate_lock, start_new_thread
from collections.abc import Callable


class ThreadSubstrate:
    """Fibers that are daemon threads; each waits for the baton on a lock of its own."""

    def __init__(self) -> None:
        self._scheduler = allocate_lock()
        self._scheduler.acquire()
        self._all: list[_ThreadFiber] = []
        self._idle: list[_ThreadFiber] = []

    def fiber(self, body: Callable[[], None]) -> "_ThreadFiber":
        """Return a fiber that runs `body` when first resumed."""
        if self._idle:
            fiber = self._idle.pop()
            fiber.body = body
            return fiber
        fiber = _ThreadFiber(body, self._scheduler, self._idle)
        self._all.append(fiber)
        return fiber

    def close(self) -> None:
        """End the threads of the pool and wait for them."""
        for fiber in self._all:
            fiber.end()
        self._all.clear()
        self._idle.clear()


class _ThreadFiber:
    __slots__ = ("_baton", "_ended", "_gone", "_idle", "_scheduler", "body")

    def __init__(
        self, body: Callable[[], None], scheduler: LockType, idle: "list[_ThreadFiber]"
    ) -> None:
        self.body = body
        self._scheduler = scheduler
        self._idle = idle
        self._ended = False
        self._baton = allocate_lock()
        self._baton.acquire()
        self._gone = allocate_lock()
        self._gone.acquire()
        start_new_thread(self._run, ())

    def resume(self) -> None:
        """Hand the baton over and wait until it comes back."""
        self._baton.release()
        self._scheduler.acquire()

    def suspend(self) -> None:
        """Hand the baton back and wait for it."""
        self._scheduler.release()
        self._baton.acquire()

    def end(self) -> None:
        """End the thread of an idle fiber."""
        self._ended = True
        self._baton.release()
        self._gone.acquire()

    def _run(self) -> None:
        self._baton.acquire()
        while not self._ended:
            self.body()
            self._idle.append(self)
            self.suspend()
        self._gone.release()
