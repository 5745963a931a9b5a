"""An executor whose tasks run when the caller says so: for manual clocks and driven tests.

A test that drives a clock by hand has to know that what was due has run. With threads it would have
to wait; here it asks.

>>> from wheelproof.sync import DeferredExecutor
>>> executor = DeferredExecutor()
>>> executor.submit(lambda: print("now"))
>>> executor.run_pending()
now
1

Invariants:

- Tasks run in the order of their submission, on the thread that calls `run_pending`.
"""

from collections import deque
from collections.abc import Callable

from wheelproof.errors import RejectedExecutionError
from wheelproof.units import Millis


class DeferredExecutor:
    """Keeps submitted tasks until `run_pending` runs them on the caller's thread, in order.

    Unlike the single-thread executor it lets an exception of a task reach the caller.
    """

    def __init__(self) -> None:
        self._tasks: deque[Callable[[], None]] = deque()
        self._shut_down = False

    def submit(self, task: Callable[[], None]) -> None:
        """Queue `task`.

        Raises RejectedExecutionError after `shutdown`.
        """
        if self._shut_down:
            raise RejectedExecutionError("the executor has been shut down")
        # Not by a call: no signal comes after it, so what raises has not taken the task.
        self._tasks += (task,)

    def run_pending(self) -> int:
        """Run all queued tasks, those that they submit included, and return how many ran."""
        count = 0
        while self._tasks:
            self._tasks.popleft()()
            count += 1
        return count

    def shutdown(self) -> None:
        """Take no more tasks; those queued before can still be run."""
        self._shut_down = True

    def await_termination(self, timeout_ms: Millis) -> bool:
        """Tell whether nothing is queued; there is no thread to wait for."""
        del timeout_ms
        return not self._tasks
