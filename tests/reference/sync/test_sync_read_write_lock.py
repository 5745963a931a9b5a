"""The read-write lock of the default runtime: many readers or one writer, writers preferred."""

import threading
from collections.abc import Callable

import pytest

from support.reference.threads import Answer, await_event, on_another_thread, started, take
from wheelproof.sync import ReadWriteLock, read_write_lock, use_runtime
from wheelproof.sync.protocols import LockView
from wheelproof.sync.threads import ThreadsRuntime
from wheelproof.sync.threads_read_write_lock import ThreadsReadWriteLock

_STUCK_AFTER_S = 120.0


class _TellingLock(ThreadsReadWriteLock):
    """The default runtime's lock, which tells when a thread queues for it."""

    def __init__(self, *, prefer_writers: bool = True) -> None:
        super().__init__("telling", prefer_writers=prefer_writers)
        self._telling = threading.Semaphore(0)

    def await_queued(self) -> None:
        """Wait until one more thread has begun to wait for either side."""
        take(self._telling)

    def is_queued(self) -> bool:
        """Tell whether one more thread has begun to wait for either side."""
        return self._telling.acquire(blocking=False)

    def _waits(self) -> None:
        self._telling.release()


def _enter(view: LockView, inside: Callable[[], object]) -> Callable[[], object]:
    def enter() -> object:
        with view:
            return inside()

    return enter


def test_readers_share() -> None:
    shared = read_write_lock("shared")
    together = threading.Barrier(3, timeout=_STUCK_AFTER_S)
    readers = [started(_enter(shared.read, together.wait)) for _ in range(2)]
    with shared.read:
        together.wait()
    assert {reader.result() for reader in readers} <= {0, 1, 2}


@pytest.mark.parametrize("held", ["read", "write"])
def test_a_writer_waits_for_whoever_holds_the_lock(held: str) -> None:
    shared = _TellingLock()
    order: list[str] = []
    with shared.read if held == "read" else shared.write:
        writer = started(_enter(shared.write, lambda: order.append("writer")))
        shared.await_queued()
        order.append(held)
    writer.result()
    assert order == [held, "writer"]


def test_a_reader_waits_for_a_writer() -> None:
    shared = _TellingLock()
    order: list[str] = []
    with shared.write:
        reader = started(_enter(shared.read, lambda: order.append("reader")))
        shared.await_queued()
        order.append("writer")
    reader.result()
    assert order == ["writer", "reader"]


def test_a_writer_waits_for_the_last_of_several_readers() -> None:
    shared = _TellingLock()
    order: list[str] = []
    leave = threading.Event()
    inside = threading.Event()

    def read() -> None:
        inside.set()
        await_event(leave)
        order.append("last reader")

    with shared.read:
        last = started(_enter(shared.read, read))
        await_event(inside)
        writer = started(_enter(shared.write, lambda: order.append("writer")))
        shared.await_queued()
    leave.set()
    last.result()
    writer.result()
    assert order == ["last reader", "writer"]


def test_a_new_reader_waits_behind_a_waiting_writer_if_writers_are_preferred() -> None:
    shared = _TellingLock(prefer_writers=True)
    order: list[str] = []
    with shared.read:
        writer = started(_enter(shared.write, lambda: order.append("writer")))
        shared.await_queued()
        reader = started(_enter(shared.read, lambda: order.append("reader")))
        shared.await_queued()
    writer.result()
    reader.result()
    assert order == ["writer", "reader"]


def test_a_new_reader_passes_a_waiting_writer_if_writers_are_not_preferred() -> None:
    shared = _TellingLock(prefer_writers=False)
    with shared.read:
        writer = started(_enter(shared.write, list[str]))
        shared.await_queued()
        on_another_thread(_enter(shared.read, list[str]))
        assert not shared.is_queued()
    writer.result()


def test_writers_are_preferred_unless_told_otherwise() -> None:
    asked: list[bool] = []

    class _AskingRuntime(ThreadsRuntime):
        def read_write_lock(self, name: str, *, prefer_writers: bool) -> ReadWriteLock:
            asked.append(prefer_writers)
            return super().read_write_lock(name, prefer_writers=prefer_writers)

    with use_runtime(_AskingRuntime()):
        read_write_lock("by default")
        read_write_lock("told otherwise", prefer_writers=False)
    assert asked == [True, False]


def test_a_reader_reads_again_though_a_writer_waits() -> None:
    shared = _TellingLock()

    def read_twice() -> Answer[object]:
        with shared.read:
            writer = started(_enter(shared.write, list[str]))
            shared.await_queued()
            with shared.read:
                assert not shared.is_queued()
            assert not writer.done()
            return writer

    on_another_thread(read_twice).result()


def test_the_lock_is_free_after_the_outermost_block_of_either_side() -> None:
    shared = _TellingLock()
    for view in (shared.read, shared.write):
        with view, view:
            pass
        on_another_thread(_enter(shared.write, list[str]))


def test_a_writer_may_read_too() -> None:
    shared = _TellingLock()
    with shared.write:
        with shared.read:
            pass
        reader = started(_enter(shared.read, list[str]))
        shared.await_queued()
        assert not reader.done()
    reader.result()


def test_a_writer_that_goes_on_reading_lets_other_readers_in() -> None:
    shared = _TellingLock()
    shared.write.__enter__()
    shared.read.__enter__()
    shared.write.__exit__(None, None, None)
    on_another_thread(_enter(shared.read, list[str]))
    writer = started(_enter(shared.write, list[str]))
    shared.await_queued()
    shared.read.__exit__(None, None, None)
    writer.result()


def test_a_reader_that_asks_for_the_write_side_is_refused_and_goes_on_reading() -> None:
    shared = _TellingLock()
    with shared.read:
        with pytest.raises(RuntimeError, match="a reader asked for the write side"):
            _enter(shared.write, list[str])()
        writer = started(_enter(shared.write, list[str]))
        shared.await_queued()
    writer.result()


def test_a_side_that_is_not_held_cannot_be_released() -> None:
    shared: ReadWriteLock = _TellingLock()
    with pytest.raises(RuntimeError, match="cannot release un-acquired lock"):
        shared.read.__exit__(None, None, None)
    with pytest.raises(RuntimeError, match="cannot release un-acquired lock"):
        shared.write.__exit__(None, None, None)
    with shared.write, pytest.raises(RuntimeError):
        on_another_thread(lambda: shared.write.__exit__(None, None, None))


@pytest.mark.parametrize("side", ["read", "write"])
def test_a_side_is_released_when_its_block_raises(side: str) -> None:
    shared = _TellingLock()
    view = shared.read if side == "read" else shared.write
    with pytest.raises(ArithmeticError), view:
        raise ArithmeticError
    on_another_thread(_enter(shared.write, list[str]))


def test_readers_that_wait_when_a_writer_leaves_go_before_the_next_writer() -> None:
    """Phase-fair: two threads that write in a loop do not keep a reader out for ever."""
    shared = _TellingLock()
    order: list[str] = []
    with shared.write:
        second = started(_enter(shared.write, lambda: order.append("second writer")))
        shared.await_queued()
        reader = started(_enter(shared.read, lambda: order.append("reader")))
        shared.await_queued()
        order.append("first writer")
    reader.result()
    second.result()
    assert order == ["first writer", "reader", "second writer"]
