"""A signal arrives between any two steps of a thread, and no primitive stays taken."""

import threading
from collections.abc import Callable

from support.reference.signals import each_interruption
from support.reference.threads import on_another_thread
from wheelproof.sync import atomic_integer, atomic_reference, condition, lock, monitor
from wheelproof.sync.protocols import LockView
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
