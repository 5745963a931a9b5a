"""The state queue of TLC 2.15, which loses a wake-up: found when TLC hung in this project's tests.

The main thread tests under one monitor whether all workers rest, and then waits on another monitor.
A worker that comes to rest in between notifies no waiting thread, and both wait for ever.
docs/findings.md has the thread dump. The code follows the calls in the released class file.
"""

from functools import partial

from wheelproof import sync
from wheelproof_explore.program import Program, Scenario
from wheelproof_lab.worlds.making import program


class StateQueue:
    """A queue for one worker, which the main thread can suspend."""

    def __init__(self, states: int) -> None:
        self._lock = sync.lock("queue")
        self._changed = sync.condition(self._lock, "queue.changed")
        self._rest_lock = sync.lock("mu")
        self._resting = sync.condition(self._rest_lock, "mu.resting")
        self._states = states
        self._stop = False
        self._waiting = 0
        self._finished = False

    def work(self) -> None:
        """Run the worker: take states until there are none."""
        while self._take():
            pass

    def _take(self) -> bool:
        with self._lock:
            while self._states == 0 or self._stop:
                self._waiting += 1
                if self._states == 0:
                    self._finished = True
                self._tell_that_it_rests()
                if self._finished:
                    return False
                self._changed.wait()
                self._waiting -= 1
            self._states -= 1
            return True

    def _tell_that_it_rests(self) -> None:
        with self._rest_lock:
            self._resting.notify()

    def suspend_and_resume(self) -> None:
        """Suspend the worker and resume it, as the main thread does from time to time."""
        with self._lock:
            if self._finished:
                return
            self._stop = True
            rests = self._waiting == 1
        while not rests:
            self._await_rest()
            with self._lock:
                rests = self._finished or self._waiting == 1
        with self._lock:
            self._stop = False
            self._changed.notify_all()

    def _await_rest(self) -> None:
        with self._rest_lock:
            self._resting.wait()


class MendedStateQueue(StateQueue):
    """A queue whose worker sets a flag when it rests; the main thread reads it before it waits."""

    def __init__(self, states: int) -> None:
        super().__init__(states)
        self._rested = False

    def _tell_that_it_rests(self) -> None:
        with self._rest_lock:
            self._rested = True
            self._resting.notify()

    def _await_rest(self) -> None:
        with self._rest_lock:
            while not self._rested:
                self._resting.wait()
            self._rested = False


def suspend_a_worker(queue_class: type[StateQueue]) -> Scenario:
    """The main thread suspends a worker while the worker works or ends."""
    queue = queue_class(2)
    return Scenario(threads={"main": queue.suspend_and_resume, "worker": queue.work})


MENDED_STATE_QUEUE: Program = program("state-queue", partial(suspend_a_worker, MendedStateQueue))
STATE_QUEUE_OF_TLC: Program = program("state-queue-tlc", partial(suspend_a_worker, StateQueue))
