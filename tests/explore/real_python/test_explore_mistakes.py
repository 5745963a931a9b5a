"""What Python raises for a call that makes no sense, the models raise as well, word for word."""

import _thread
import asyncio
import queue
import threading
import time
from _thread import allocate_lock as _allocate
from collections.abc import Callable

import pytest

from wheelproof_explore.explorer import explore
from wheelproof_explore.failures.failure import FailureKind
from wheelproof_explore.options import Options
from wheelproof_explore.tasks.plain import threading_program
from wheelproof_explore.verdicts import Verdict


def _nothing() -> None:
    pass


def _started() -> threading.Thread:
    thread = threading.Thread(target=_nothing)
    thread.start()
    return thread


def _held_lock() -> threading.Lock:
    lock = threading.Lock()
    lock.acquire()
    return lock


def _held_rlock() -> "threading.RLock":
    lock = threading.RLock()
    lock.acquire()
    return lock


def _set_daemon(thread: threading.Thread) -> None:
    thread.daemon = True


def _join_of_itself() -> None:
    raised: list[Exception] = []

    def join() -> None:
        try:
            threading.current_thread().join()
        except RuntimeError as error:
            raised.append(error)

    thread = threading.Thread(target=join)
    thread.start()
    thread.join()
    raise raised[0]


class _WithoutInit(threading.Thread):
    def __init__(self) -> None:
        pass


async def _runs_a_loop() -> None:
    coroutine = asyncio.sleep(0)
    try:
        asyncio.run(coroutine)
    finally:
        coroutine.close()


_MISTAKES: dict[str, Callable[[], object]] = {
    "join before start": lambda: threading.Thread(target=_nothing).join(),
    "join in time before start": lambda: threading.Thread(target=_nothing).join(1),
    "join of itself": _join_of_itself,
    "start twice": lambda: _started().start(),
    "start without init": lambda: _WithoutInit().start(),
    "daemon after start": lambda: _set_daemon(_started()),
    "release of an unlocked lock": lambda: threading.Lock().release(),
    "release of an unlocked rlock": lambda: threading.RLock().release(),
    "negative timeout": lambda: threading.Lock().acquire(timeout=-2),
    "negative timeout of an rlock": lambda: threading.RLock().acquire(timeout=-2),
    "negative timeout of a held rlock": lambda: _held_rlock().acquire(timeout=-2),
    "huge timeout": lambda: threading.Lock().acquire(timeout=1e20),
    "timeout without blocking": lambda: threading.Lock().acquire(False, 1),
    "timeout of a held rlock without blocking": lambda: _held_rlock().acquire(False, 1),
    "timeout of a held lock without blocking": lambda: _held_lock().acquire(False, 1),
    "notify without the lock": lambda: threading.Condition().notify(),
    "wait without the lock": lambda: threading.Condition().wait(),
    "semaphore below zero": lambda: threading.Semaphore(-1),
    "semaphore without blocking": lambda: threading.Semaphore().acquire(False, 1),
    "semaphore released too often": lambda: threading.BoundedSemaphore().release(),
    "sleep of less than nothing": lambda: time.sleep(-1),
    "queue in negative time": lambda: queue.Queue[int]().get(timeout=-1),
    "simple queue in negative time": lambda: queue.SimpleQueue[int]().get(timeout=-1),
    "simple queue at once in negative time": lambda: queue.SimpleQueue[int]().get(False, -1),
    "a loop in a loop": lambda: asyncio.run(_runs_a_loop()),
    "task done too often": lambda: queue.Queue[int]().task_done(),
}


def _mistake(make: Callable[[], object]) -> tuple[str, str]:
    try:
        make()
    except Exception as error:
        return type(error).__name__, str(error)
    return "", ""


@pytest.mark.parametrize("name", _MISTAKES)
def test_a_mistake_raises_what_python_raises(name: str) -> None:
    make = _MISTAKES[name]
    expected = _mistake(make)
    assert expected[0]
    raised: list[tuple[str, str]] = []

    def main() -> None:
        raised.append(_mistake(make))

    program = threading_program("main", main)
    assert program is not None
    explore(program, Options(keep_going=True))
    assert set(raised) == {expected}


def _joined_by_another() -> None:
    child = threading.Thread(target=_nothing)
    helper = threading.Thread(target=child.start)
    helper.start()
    child.join()
    helper.join()


def _alive_if_started() -> None:
    child = threading.Thread(target=_nothing)
    helper = threading.Thread(target=child.start)
    helper.start()
    alive = child.is_alive()
    helper.join()
    assert not alive


def _identified_if_started() -> None:
    child = threading.Thread(target=_nothing)
    helper = threading.Thread(target=child.start)
    helper.start()
    known = child.ident is not None
    helper.join()
    assert not known


def _daemon_if_not_started() -> None:
    child = threading.Thread(target=_nothing)
    helper = threading.Thread(target=child.start)
    helper.start()
    child.daemon = True
    helper.join()


@pytest.mark.parametrize(
    "main",
    [_alive_if_started, _daemon_if_not_started, _identified_if_started, _joined_by_another],
)
def test_whether_a_thread_has_started_is_a_step(main: Callable[[], None]) -> None:
    program = threading_program(main.__name__, main)
    assert program is not None
    assert explore(program, Options()).verdict() is Verdict.FAIL


@pytest.mark.parametrize(
    "make",
    [
        lambda: threading.Lock(),
        lambda: threading.RLock(),
        lambda: _thread.allocate_lock(),
        lambda: _thread.RLock(),
        lambda: _allocate(),
    ],
    ids=["Lock", "RLock", "_thread.allocate_lock", "_thread.RLock", "from _thread"],
)
def test_a_deadlock_of_every_kind_of_lock_is_found(make: Callable[[], threading.Lock]) -> None:
    """Under whatever name Python has it: `threading.Lock` is a class since Python 3.13."""

    def main() -> None:
        locks = make(), make()

        def take(first: int) -> None:
            with locks[first], locks[1 - first]:
                pass

        threads = [threading.Thread(target=take, args=(number,)) for number in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    program = threading_program("main", main)
    assert program is not None
    found = explore(program, Options()).counterexample
    assert found is not None
    assert found.failure.kind is FailureKind.DEADLOCK
