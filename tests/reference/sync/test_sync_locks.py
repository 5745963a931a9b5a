"""Locks, monitors and conditions of the default runtime."""

import threading
from collections.abc import Callable

import pytest

from support.reference.threads import await_event, on_another_thread, started, take
from wheelproof.sync import condition, lock, monitor, use_runtime
from wheelproof.sync.threads import ThreadsRuntime
from wheelproof.units import MAX_MILLIS, Millis
from wheelproof_spec.fuzz.hooks import InstrumentedRuntime


def _do_nothing() -> None:
    return


def test_a_lock_is_held_by_one_thread_at_a_time() -> None:
    guard = lock("guard")
    assert guard.acquire()
    assert not on_another_thread(guard.try_acquire)
    guard.release()
    assert on_another_thread(guard.try_acquire)
    assert not guard.try_acquire()


def test_a_lock_is_not_reentrant() -> None:
    guard = lock("guard")
    with guard:
        assert not guard.try_acquire()
    assert guard.try_acquire()


def test_a_lock_that_nobody_holds_cannot_be_released() -> None:
    with pytest.raises(RuntimeError):
        lock("guard").release()


def test_a_thread_that_acquires_a_held_lock_waits_for_its_release() -> None:
    guard = lock("guard")
    about_to_acquire = threading.Event()
    order: list[str] = []

    def acquire() -> None:
        about_to_acquire.set()
        guard.acquire()
        order.append("acquired")

    guard.acquire()
    waiting = started(acquire)
    await_event(about_to_acquire)
    order.append("released")
    guard.release()
    waiting.result()
    assert order == ["released", "acquired"]


def test_a_lock_is_released_when_its_block_raises() -> None:
    guard = lock("guard")
    with pytest.raises(ArithmeticError), guard:
        raise ArithmeticError
    assert guard.try_acquire()


def test_a_monitor_is_reentrant_and_free_after_the_outermost_block() -> None:
    guard = monitor("guard")
    about_to_enter = threading.Event()
    order: list[str] = []

    def enter() -> None:
        about_to_enter.set()
        with guard:
            order.append("entered")

    with guard:
        with guard:
            other = started(enter)
            await_event(about_to_enter)
            order.append("left the inner block")
        order.append("left the outer block")
    other.result()
    assert order == ["left the inner block", "left the outer block", "entered"]


def test_a_monitor_is_released_when_its_block_raises() -> None:
    guard = monitor("guard")

    def enter() -> bool:
        with guard:
            return True

    with pytest.raises(ArithmeticError), guard:
        raise ArithmeticError
    assert on_another_thread(enter)


def test_a_monitor_is_released_by_its_holder_only() -> None:
    guard = monitor("guard")
    with guard, pytest.raises(RuntimeError):
        on_another_thread(lambda: guard.__exit__(None, None, None))


@pytest.mark.parametrize("timeout_ms", [0, -1])
def test_a_wait_without_time_that_nobody_ends_times_out(timeout_ms: int) -> None:
    guard = lock("guard")
    changed = condition(guard, "changed")
    with guard:
        assert not changed.wait(Millis(timeout_ms))
        assert not on_another_thread(guard.try_acquire)


def _waiting(count: int, timeout_ms: Millis | None) -> tuple[list[bool], Callable[[int], None]]:
    """Start waiters; return their answers so far, and what notifies some of them and joins."""
    guard = lock("guard")
    changed = condition(guard, "changed")
    answers: list[bool] = []
    about_to_wait = threading.Semaphore(0)
    answered = threading.Semaphore(0)

    def wait() -> None:
        with guard:
            about_to_wait.release()
            answers.append(changed.wait(timeout_ms))
        answered.release()

    for _ in range(count):
        started(wait)
    for _ in range(count):
        take(about_to_wait)

    def notify(number: int) -> None:
        # Whoever gets the lock now finds the waiters waiting: they announced it with the lock held.
        with guard:
            if number == count:
                changed.notify_all()
            else:
                for _ in range(number):
                    changed.notify()
        for _ in range(number):
            take(answered)

    return answers, notify


@pytest.mark.parametrize("timeout_ms", [None, Millis(10**9), MAX_MILLIS])
def test_a_wait_lets_go_of_the_lock_and_ends_when_notified(timeout_ms: Millis | None) -> None:
    answers, notify = _waiting(3, timeout_ms)
    notify(3)
    assert answers == [True] * 3


def test_notify_wakes_one_waiter() -> None:
    answers, notify = _waiting(3, None)
    notify(1)
    assert answers == [True]
    notify(2)
    assert answers == [True] * 3


def test_a_notification_without_a_waiter_is_not_kept() -> None:
    guard = lock("guard")
    changed = condition(guard, "changed")
    with guard:
        changed.notify()
        changed.notify_all()
        assert not changed.wait(Millis(0))


def test_a_condition_is_used_with_its_lock_held() -> None:
    changed = condition(lock("guard"), "changed")
    uses: list[Callable[[], object]] = [
        lambda: changed.wait(Millis(0)),
        changed.notify,
        changed.notify_all,
    ]
    for use in uses:
        with pytest.raises(RuntimeError):
            use()


def test_two_conditions_of_one_lock_are_notified_apart() -> None:
    guard = lock("guard")
    one, other = condition(guard, "one"), condition(guard, "other")
    with guard:
        one.notify_all()
        assert not other.wait(Millis(0))


def test_a_condition_of_another_runtimes_lock_is_refused() -> None:
    default = ThreadsRuntime()
    foreign = InstrumentedRuntime(default, _do_nothing)
    with pytest.raises(TypeError, match="'changed': its lock belongs to another runtime"):
        default.condition(foreign.lock("guard"), "changed")
    with pytest.raises(TypeError, match="'changed': its lock belongs to another runtime"):
        foreign.condition(default.lock("guard"), "changed")
    guard = lock("guard")
    with use_runtime(foreign), pytest.raises(TypeError):
        condition(guard, "changed")
