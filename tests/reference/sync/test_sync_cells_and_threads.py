"""Volatile and atomic cells, threads and the clock of the default runtime."""

import threading
import time
from functools import partial

import pytest

from support.reference.threads import await_event, on_another_thread, started
from wheelproof.sync import (
    atomic_integer,
    atomic_reference,
    monotonic_ms,
    thread,
    volatile,
)
from wheelproof.units import MAX_MILLIS, Millis

_ROUNDS = 2_000
_THREADS = 4


def test_a_volatile_cell_holds_what_was_written_last() -> None:
    cell = volatile("old", "cell")
    assert cell.get() == "old"
    on_another_thread(lambda: cell.set("new"))
    assert cell.get() == "new"


def test_an_atomic_reference_holds_what_was_written_last() -> None:
    cell = atomic_reference("old", "cell")
    assert cell.get() == "old"
    on_another_thread(lambda: cell.set("new"))
    assert cell.get_and_set("newer") == "new"
    assert cell.get() == "newer"


def test_an_atomic_reference_compares_by_identity() -> None:
    value, equal = ["value"], ["value"]
    cell = atomic_reference(value, "cell")
    assert not cell.compare_and_set(equal, [])
    assert cell.get() is value
    assert cell.compare_and_set(value, equal)
    assert cell.get() is equal


def test_an_atomic_integer_compares_by_value() -> None:
    large = 10**30
    cell = atomic_integer(large, "cell")
    assert not cell.compare_and_set(large + 1, 0)
    assert cell.compare_and_set(int("1" + "0" * 30), 7)
    assert cell.get() == 7


def test_an_atomic_integer_reads_and_writes_in_one_step() -> None:
    cell = atomic_integer(5, "cell")
    assert cell.add_and_get(3) == 8
    assert cell.add_and_get(-10) == -2
    assert cell.get_and_set(4) == -2
    cell.set(9)
    assert cell.get() == 9


def test_no_addition_of_several_threads_is_lost() -> None:
    cell = atomic_integer(0, "cell")

    def add() -> list[int]:
        return [cell.add_and_get(1) for _ in range(_ROUNDS)]

    adders = [started(add) for _ in range(_THREADS)]
    sums = [number for adder in adders for number in adder.result()]
    assert sorted(sums) == list(range(1, _THREADS * _ROUNDS + 1))


def test_of_several_threads_one_wins_each_compare_and_set() -> None:
    integer = atomic_integer(0, "integer")
    markers = [object() for _ in range(_ROUNDS + 1)]
    reference = atomic_reference(markers[0], "reference")

    def win() -> int:
        wins = 0
        for number in range(_ROUNDS):
            wins += integer.compare_and_set(number, number + 1)
            wins += reference.compare_and_set(markers[number], markers[number + 1])
        return wins

    racers = [started(win) for _ in range(_THREADS)]
    # Whoever comes last may find the cells ahead of it, so fewer rounds than all can be won.
    wins = sum(racer.result() for racer in racers)
    assert wins == integer.get() + markers.index(reference.get())


def test_several_threads_exchange_each_value_once() -> None:
    cell = atomic_integer(-1, "cell")

    def exchange(first: int) -> list[int]:
        return [cell.get_and_set(first + number) for number in range(_ROUNDS)]

    exchangers = [started(partial(exchange, n * _ROUNDS)) for n in range(_THREADS)]
    seen = [value for exchanger in exchangers for value in exchanger.result()]
    assert sorted([*seen, cell.get()]) == list(range(-1, _THREADS * _ROUNDS))


def test_a_thread_begins_when_it_is_started_and_can_be_joined() -> None:
    ran: list[str] = []
    worker = thread(lambda: ran.append(threading.current_thread().name), "worker")
    assert ran == []
    worker.start()
    assert worker.join()
    assert ran == ["worker"]


def test_a_join_without_time_tells_whether_the_thread_has_ended() -> None:
    release = threading.Event()
    worker = thread(lambda: await_event(release), "worker")
    worker.start()
    assert not worker.join(Millis(0))
    assert not worker.join(Millis(-1))
    release.set()
    assert worker.join(MAX_MILLIS)
    assert worker.join(Millis(0))


def test_a_thread_starts_once() -> None:
    worker = thread(threading.Event().set, "worker")
    worker.start()
    with pytest.raises(RuntimeError):
        worker.start()
    worker.join()


def test_a_thread_knows_whether_the_caller_runs_on_it() -> None:
    answers: list[bool] = []
    worker = thread(lambda: answers.append(worker.is_current()), "worker")
    worker.start()
    worker.join()
    assert answers == [True]
    assert not worker.is_current()


def test_a_thread_does_not_keep_the_process_alive() -> None:
    daemon: list[bool] = []
    worker = thread(lambda: daemon.append(threading.current_thread().daemon), "worker")
    worker.start()
    worker.join()
    assert daemon == [True]


def test_the_clock_is_monotonic_in_whole_milliseconds() -> None:
    before_ns = time.monotonic_ns()
    readings = [monotonic_ms() for _ in range(100)]
    after_ns = time.monotonic_ns()
    assert readings == sorted(readings)
    assert before_ns // 1_000_000 <= readings[0]
    assert readings[-1] <= after_ns // 1_000_000
