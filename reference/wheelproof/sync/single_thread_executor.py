"""An executor with one thread, built from the primitives of whichever runtime it is given.

Expired tasks run in the order in which they expired, and not on the thread that advances the clock:
a slow one would stop the time of all others (standard 1.9).

>>> from wheelproof import sync
>>> executor = sync.single_thread_executor("example")
>>> ran: list[str] = []
>>> executor.submit(lambda: ran.append("in its thread"))
>>> executor.shutdown()
>>> executor.await_termination(60_000), ran
(True, ['in its thread'])

Invariants:

- A task that was taken runs, also behind `shutdown` (standard 6.2).
- What a task raises ends neither the thread nor another task.
- It is terminated exactly if it is shut down and its queue is empty.
"""

import logging
from collections import deque
from collections.abc import Callable
from typing import Annotated

from wheelproof.errors import RejectedExecutionError
from wheelproof.sync.guarded import GuardedBy
from wheelproof.sync.protocols import Runtime
from wheelproof.units import Millis

_logger = logging.getLogger(__name__)


class SingleThreadExecutor:
    """Runs tasks one after the other, first in, first out (standard 1.9).

    A slow task delays all behind it. Whatever a task raises ends that task alone, `sys.exit` and
    `asyncio.CancelledError` included: it is logged and the next one runs. The thread starts with
    the first task.
    """

    def __init__(self, runtime: Runtime, name: str) -> None:
        self._runtime = runtime
        self._name = name
        self._lock = runtime.lock(f"{name}.lock")
        self._changed = runtime.condition(self._lock, f"{name}.changed")
        self._tasks: Annotated[deque[Callable[[], None]], GuardedBy("_lock")] = deque()
        self._shut_down: Annotated[bool, GuardedBy("_lock")] = False
        self._terminated: Annotated[bool, GuardedBy("_lock")] = False
        self._worker = runtime.thread(self._work, name)
        self._started: Annotated[bool, GuardedBy("_lock")] = False

    def submit(self, task: Callable[[], None]) -> None:
        """Queue `task`.

        Raises RejectedExecutionError after `shutdown`, and RuntimeError if its thread cannot be
        started. Then the task is not taken; the next one tries to start the thread again.
        """
        with self._lock:
            if self._shut_down:
                raise RejectedExecutionError(f"{self._name} has been shut down")
            self._tasks.append(task)
            self._changed.notify_all()
            if not self._started:
                self._started = True
                try:
                    self._worker.start()
                except Exception:
                    self._started = False
                    self._tasks.pop()
                    raise

    def shutdown(self) -> None:
        """Take no more tasks; those queued before still run."""
        with self._lock:
            self._shut_down = True
            if not self._started:
                self._terminated = True
            self._changed.notify_all()

    def await_termination(self, timeout_ms: Millis) -> bool:
        """Wait at most `timeout_ms` milliseconds until all tasks have run; tell whether they have.

        Called on the executor's own thread it returns False at once.
        """
        if self._worker.is_current():
            return False
        deadline = self._runtime.monotonic_ms() + timeout_ms
        with self._lock:
            while not self._terminated:
                remaining = Millis(deadline - self._runtime.monotonic_ms())
                if remaining <= 0:
                    return False
                self._changed.wait(remaining)
            return True

    def _work(self) -> None:
        while (task := self._take()) is not None:
            try:
                task()
            except BaseException as error:
                if not isinstance(error, Exception | SystemExit):
                    self._require_thread()
                _logger.exception("a task of %s raised; the next one runs", self._name)
            # It would stay as long as this waits for the next one (standard 6.6).
            del task

    def _require_thread(self) -> None:
        """Take the lock: a runtime that was ending this thread inside the task ends it here."""
        with self._lock:
            return

    def _take(self) -> Callable[[], None] | None:
        with self._lock:
            while not self._tasks:
                if self._shut_down:
                    self._terminated = True
                    self._changed.notify_all()
                    return None
                self._changed.wait()
            return self._tasks.popleft()
