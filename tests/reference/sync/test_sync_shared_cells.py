"""All cells share one lock: whatever one thread does in a cell, the others stay usable."""

import subprocess
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any, cast

import pytest

from support.reference.threads import on_another_thread
from wheelproof.sync import AtomicInteger, atomic_integer, atomic_reference

_CHILD = """
import os, sys, threading
from wheelproof.sync import atomic_integer

cell, other = atomic_integer(0, "cell"), atomic_integer(0, "other")
inside, leave = threading.Event(), threading.Event()

def stop_inside(frame, event, argument):
    if frame.f_code.co_name == "add_and_get" and "value" in frame.f_locals:
        inside.set()
        leave.wait()
    return stop_inside

def add():
    sys.settrace(stop_inside)
    cell.add_and_get(1)

thread = threading.Thread(target=add)
thread.start()
inside.wait()
child = os.fork()
if child == 0:
    os._exit(other.add_and_get(3))
leave.set()
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


def _while_inside(call: Callable[[], object], perform: Callable[[], object]) -> int:
    """Perform `call`; a tracer calls `perform` at each of its lines. Returns how often it did."""
    done = 0

    def trace(frame: FrameType, event: str, argument: object) -> Any:
        nonlocal done
        del argument
        if event == "line" and frame.f_code.co_filename.endswith("threads.py"):
            sys.settrace(None)
            perform()
            done += 1
            sys.settrace(trace)
        return trace

    def traced() -> int:
        sys.settrace(trace)
        try:
            call()
        finally:
            sys.settrace(None)
        return done

    return on_another_thread(traced)


_CALLS: dict[str, Callable[[AtomicInteger], object]] = {
    "set": lambda cell: cell.set(1),
    "get_and_set": lambda cell: cell.get_and_set(1),
    "compare_and_set": lambda cell: cell.compare_and_set(0, 1),
    "add_and_get": lambda cell: cell.add_and_get(1),
}


@pytest.mark.parametrize("name", _CALLS)
def test_a_tracer_may_use_cells_while_it_traces_one(name: str) -> None:
    cell, other = atomic_integer(0, "cell"), atomic_integer(0, "other")
    lines = _while_inside(lambda: _CALLS[name](cell), lambda: other.add_and_get(cell.get() >= 0))
    assert lines == other.get() > 3
    assert cell.get() == 1


class _Incomparable:
    def __eq__(self, other: object) -> bool:
        raise ArithmeticError("on purpose")

    def __hash__(self) -> int:
        return 0


def test_what_is_no_integer_leaves_every_cell_in_use() -> None:
    cell = atomic_integer(5, "cell")
    with pytest.raises(TypeError):
        cell.add_and_get(cast("int", "1"))
    with pytest.raises(ArithmeticError, match="on purpose"):
        cell.compare_and_set(cast("int", _Incomparable()), 1)
    assert on_another_thread(lambda: cell.add_and_get(1)) == 6


def test_what_a_cell_drops_is_released_outside_of_it() -> None:
    """A finaliser that waits for another thread's use of a cell would wait for ever inside."""
    other = atomic_integer(0, "other")

    class _Waits:
        def __del__(self) -> None:
            on_another_thread(lambda: other.add_and_get(1))

    held: list[_Waits | None] = [_Waits(), _Waits(), _Waits()]
    cell = atomic_reference(held.pop(), "cell")
    cell.set(held.pop())
    assert other.get() == 1
    cell.get_and_set(None)
    assert other.get() == 2
    cell.set(held[0])
    assert cell.compare_and_set(held.pop(), None)
    assert other.get() == 3


def test_a_child_can_use_cells_wherever_the_other_threads_were() -> None:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", _CHILD], capture_output=True, text=True, check=True
    )
    assert done.stdout == "3\n"
