"""Interrupting a thread that waits on a condition, or is going to (standard 3.5)."""

import threading
from collections.abc import Callable

import pytest

from support.reference.threads import await_event, take
from wheelproof.errors import ThreadInterruptedError, WheelproofError
from wheelproof.sync import Condition, Lock, Runtime, Thread, current_runtime
from wheelproof.units import MAX_MILLIS, Millis
from wheelproof_spec.fuzz.hooks import InstrumentedRuntime


def _do_nothing() -> None:
    return


@pytest.fixture(params=["threads", "instrumented"])
def runtime(request: pytest.FixtureRequest) -> Runtime:
    default = current_runtime()
    return default if request.param == "threads" else InstrumentedRuntime(default, _do_nothing)


class _Waiters:
    """Threads that wait on one condition, and what became of each wait, in order."""

    def __init__(self, runtime: Runtime) -> None:
        self.lock: Lock = runtime.lock("guard")
        self.changed: Condition = runtime.condition(self.lock, "changed")
        self.outcomes: list[str] = []
        self._runtime = runtime
        self._about_to_wait = threading.Semaphore(0)
        self._over = threading.Semaphore(0)

    def add(self, name: str, timeout_ms: Millis | None = None, times: int = 1) -> Thread:
        """Start a thread that waits, and return when it does."""
        thread = self._runtime.thread(lambda: self._wait(name, timeout_ms, times), name)
        thread.start()
        take(self._about_to_wait)
        # Whoever gets the lock now finds it waiting: it announced that with the lock held.
        with self.lock:
            return thread

    def await_outcomes(self, number: int) -> None:
        for _ in range(number):
            take(self._over)

    def _wait(self, name: str, timeout_ms: Millis | None, times: int) -> None:
        with self.lock:
            for _ in range(times):
                self._about_to_wait.release()
                try:
                    outcome = str(self.changed.wait(timeout_ms))
                except ThreadInterruptedError as error:
                    assert not self.lock.try_acquire(), "the lock is held when a wait raises"
                    outcome = str(error)
                self.outcomes.append(f"{name}: {outcome}")
                self._over.release()


@pytest.mark.parametrize("timeout_ms", [None, Millis(10**9), MAX_MILLIS])
def test_an_interrupted_wait_raises_with_the_lock_held(
    runtime: Runtime, timeout_ms: Millis | None
) -> None:
    waiters = _Waiters(runtime)
    waiters.add("a", timeout_ms).interrupt()
    waiters.await_outcomes(1)
    assert waiters.outcomes == ["a: the thread was interrupted"]
    assert issubclass(ThreadInterruptedError, WheelproofError)


def test_a_status_set_before_the_wait_ends_it_at_once_and_is_cleared(runtime: Runtime) -> None:
    lock = runtime.lock("guard")
    changed = runtime.condition(lock, "changed")
    interrupted, done = threading.Event(), threading.Event()
    outcomes: list[str] = []

    def wait_twice() -> None:
        await_event(interrupted)
        for _ in range(2):
            with lock:
                try:
                    outcomes.append(str(changed.wait(Millis(0))))
                except ThreadInterruptedError:
                    outcomes.append("interrupted")
        done.set()

    thread = runtime.thread(wait_twice, "waiter")
    thread.start()
    thread.interrupt()
    thread.interrupt()
    interrupted.set()
    await_event(done)
    assert outcomes == ["interrupted", "False"]


def test_a_notification_passes_over_an_interrupted_waiter(runtime: Runtime) -> None:
    waiters = _Waiters(runtime)
    first = waiters.add("first")
    waiters.add("second")
    with waiters.lock:
        # It cannot go on before the lock is free, and yet the notification is not for it.
        first.interrupt()
        waiters.changed.notify()
    waiters.await_outcomes(2)
    assert sorted(waiters.outcomes) == ["first: the thread was interrupted", "second: True"]


def test_after_a_notification_the_wait_returns_and_the_status_stays_set(runtime: Runtime) -> None:
    waiters = _Waiters(runtime)
    thread = waiters.add("a", times=2)
    with waiters.lock:
        waiters.changed.notify()
        thread.interrupt()
    waiters.await_outcomes(2)
    assert waiters.outcomes == ["a: True", "a: the thread was interrupted"]


def test_an_interrupted_waiter_can_wait_again(runtime: Runtime) -> None:
    waiters = _Waiters(runtime)
    waiters.add("a", times=2).interrupt()
    waiters.await_outcomes(1)
    with waiters.lock:
        waiters.changed.notify_all()
    waiters.await_outcomes(1)
    assert waiters.outcomes == ["a: the thread was interrupted", "a: True"]


def test_a_status_does_not_reach_another_thread(runtime: Runtime) -> None:
    waiters = _Waiters(runtime)
    waiters.add("first")
    waiters.add("second").interrupt()
    waiters.await_outcomes(1)
    with waiters.lock:
        waiters.changed.notify_all()
    waiters.await_outcomes(1)
    assert waiters.outcomes == ["second: the thread was interrupted", "first: True"]


def test_neither_locks_nor_join_heed_the_status(runtime: Runtime) -> None:
    lock = runtime.lock("guard")
    about_to_block = threading.Semaphore(0)
    joined = threading.Event()

    def acquire() -> None:
        about_to_block.release()
        with lock:
            pass

    def join() -> None:
        about_to_block.release()
        assert acquiring.join()
        joined.set()

    acquiring, joining = runtime.thread(acquire, "acquiring"), runtime.thread(join, "joining")
    with lock:
        acquiring.start()
        joining.start()
        take(about_to_block)
        take(about_to_block)
        acquiring.interrupt()
        joining.interrupt()
    await_event(joined)


@pytest.mark.parametrize("when", ["before it starts", "after it has ended"])
def test_a_thread_can_be_interrupted_at_any_time(runtime: Runtime, when: str) -> None:
    lock = runtime.lock("guard")
    changed = runtime.condition(lock, "changed")
    outcomes: list[bool] = []

    def wait() -> None:
        with lock:
            try:
                outcomes.append(changed.wait(Millis(0)))
            except ThreadInterruptedError:
                outcomes.append(True)

    thread = runtime.thread(wait, "waiter")
    steps: list[Callable[[], object]] = [thread.start, thread.join, thread.interrupt]
    if when == "before it starts":
        steps = [thread.interrupt, thread.start, thread.join]
    for step in steps:
        step()
    assert outcomes == [when == "before it starts"]
