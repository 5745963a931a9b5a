"""A signal arrives between any two steps of a thread, and no primitive stays taken."""

import threading
from collections.abc import Callable

import pytest

from support.reference.signals import each_interrupted_call, each_interruption
from support.reference.threads import await_event, on_another_thread, started
from wheelproof.sync import (
    atomic_integer,
    atomic_reference,
    condition,
    lock,
    monitor,
    read_write_lock,
)
from wheelproof.sync.protocols import LockView, ReadWriteLock
from wheelproof.sync.threads_read_write_lock import ThreadsReadWriteLock
from wheelproof.units import Millis


class _InPython:
    """A lock that hands on to the standard library's in Python: what the search must find."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.locked = self._lock.locked

    def __enter__(self) -> bool:
        return self._lock.acquire()

    def __exit__(self, *error: object) -> None:
        self._lock.release()


def _left_taken(guard: LockView, locked: Callable[[], bool]) -> list[str]:
    """Return the places where an interruption leaves `guard` taken, and give it back each time."""
    left: list[str] = []

    def block() -> None:
        with guard:
            len("the block")

    places = list[str]()
    for place in each_interruption(block):
        places.append(place)
        if locked():
            left.append(place)
            guard.__exit__(None, None, None)
    assert len(places) >= 4, "block, len, exit, and nowhere"
    return left


def test_an_interruption_leaves_a_lock_taken_whose_enter_is_python_code() -> None:
    guard = _InPython()
    left = _left_taken(guard, guard.locked)
    assert {place.rpartition(" ")[2] for place in left} == {
        "_InPython.__enter__",
        "_InPython.__exit__",
    }


def test_a_signal_at_any_place_leaves_no_lock_taken() -> None:
    guard = lock("guard")

    def locked() -> bool:
        if free := guard.try_acquire():
            guard.release()
        return not free

    assert _left_taken(guard, locked) == []


def test_a_signal_at_any_place_leaves_no_monitor_taken() -> None:
    guard = monitor("guard")

    def enter() -> None:
        with guard:
            return

    def locked() -> bool:
        on_another_thread(enter)
        return False

    assert _left_taken(guard, locked) == []


def _both_sides(shared: ReadWriteLock, side: str) -> Callable[[], None]:
    view = shared.read if side == "read" else shared.write

    def block() -> None:
        with view:
            len("the block")
            with view, shared.read:
                len("the block")

    return block


def _is_free(shared: ReadWriteLock) -> bool:
    def enter() -> bool:
        with shared.write, shared.read:
            return True

    return on_another_thread(enter)


@pytest.mark.parametrize("prefer_writers", [True, False])
@pytest.mark.parametrize("side", ["read", "write"])
def test_a_signal_at_any_place_leaves_no_side_of_a_read_write_lock_taken(
    side: str, prefer_writers: bool
) -> None:
    shared = read_write_lock("shared", prefer_writers=prefer_writers)
    on_another_thread(_both_sides(shared, "read"))
    for place in each_interruption(_both_sides(shared, side)):
        assert _is_free(shared), place


class _LeavesInTime(ThreadsReadWriteLock):
    """A lock that another thread holds, until somebody waits for it."""

    def __init__(self, held: str, prefer_writers: bool) -> None:
        super().__init__("contended", prefer_writers=prefer_writers)
        # A lock, since a signal in an event's method would leave that taken.
        self._unwanted = threading.Lock()
        self._unwanted.acquire()
        inside = threading.Event()

        def hold() -> None:
            with self.read if held == "read" else self.write:
                inside.set()
                self._unwanted.acquire()

        self._holder = started(hold)
        await_event(inside)

    def _waits(self) -> None:
        if self._unwanted.locked():
            self._unwanted.release()

    def end(self) -> None:
        """Wait until the other thread has left."""
        self._waits()
        self._holder.result()


@pytest.mark.parametrize("prefer_writers", [True, False])
@pytest.mark.parametrize(("held", "side"), [("read", "write"), ("write", "read"), ("write",) * 2])
def test_a_signal_at_any_place_of_a_wait_leaves_no_side_taken(
    held: str, side: str, prefer_writers: bool
) -> None:
    for place, shared in each_interrupted_call(
        lambda: _LeavesInTime(held, prefer_writers), lambda shared: _both_sides(shared, side)
    ):
        shared.end()
        assert _is_free(shared), place


def test_a_cell_whose_call_a_signal_ended_has_not_changed() -> None:
    for place, integer in each_interrupted_call(
        lambda: atomic_integer(0, "integer"), lambda integer: lambda: integer.add_and_get(1)
    ):
        assert integer.get() == (place == "nowhere"), place


def test_a_signal_at_any_place_leaves_every_cell_in_use() -> None:
    integer = atomic_integer(0, "integer")
    reference = atomic_reference("a", "reference")

    def block() -> None:
        integer.set(integer.add_and_get(1))
        integer.compare_and_set(integer.get_and_set(2), 3)
        reference.set(reference.get_and_set("b"))
        reference.compare_and_set(reference.get(), "c")

    for _ in each_interruption(block):
        assert on_another_thread(lambda: integer.add_and_get(1)) > 0
        assert on_another_thread(lambda: reference.get_and_set("d")) in "abcd"


def test_a_signal_at_any_place_of_a_wait_leaves_the_lock_to_the_block() -> None:
    guard = lock("guard")
    changed = condition(guard, "changed")

    def block() -> None:
        with guard:
            changed.wait(Millis(0))
            changed.notify_all()

    for place in each_interruption(block):
        assert guard.try_acquire(), place
        guard.release()
