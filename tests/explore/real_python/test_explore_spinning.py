"""Waiting that spins: one blocked step, and runs that an assumption cuts off."""

import queue
import threading
import time
from collections.abc import Callable
from functools import partial

import pytest

from support.explore.exploring import explored, make, with_engine
from wheelproof import sync
from wheelproof_explore.explorer import explore
from wheelproof_explore.failures.failure import FailureKind
from wheelproof_explore.options import Engine
from wheelproof_explore.program import Scenario, assume
from wheelproof_explore.tasks.plain import threading_program
from wheelproof_explore.verdicts import Verdict
from wheelproof_lab.worlds.making import discarding

pytestmark = pytest.mark.slow


def _handshake() -> Scenario:
    """Each waits for the other's flag, which the other one may have taken back."""
    flags = [sync.volatile(0, "left"), sync.atomic_integer(0, "right")]

    def come(mine: int) -> None:
        flags[mine].set(1)
        assert sync.await_until(flags[1 - mine], lambda value: value > 0) in (1, 2)
        flags[mine].set(2)

    return Scenario(threads={"left": partial(come, 0), "right": partial(come, 1)})


def _pulse() -> Scenario:
    """The value does not stay: who comes late waits for ever."""
    flag = sync.volatile(0, "flag")

    def pulse() -> None:
        flag.set(1)
        flag.set(0)

    return Scenario(
        threads={"pulses": pulse, "waits": discarding(partial(sync.await_until, flag, bool))}
    )


def _spin_lock() -> Scenario:
    lock, inside = sync.atomic_integer(0, "lock"), sync.volatile(0, "inside")

    def use() -> None:
        while not lock.compare_and_set(0, 1):
            sync.await_until(lock, lambda value: value == 0)
        inside.set(inside.get() + 1)
        lock.set(0)

    def check() -> None:
        assert inside.get() == 2

    return Scenario(threads={"a": use, "b": use}, check=check)


@pytest.mark.parametrize("build", [_handshake, _pulse, _spin_lock])
def test_the_optimal_engine_runs_each_class_of_the_brute_one(
    build: Callable[[], Scenario],
) -> None:
    brute, optimal = (with_engine(make(build), engine) for engine in (Engine.BRUTE, Engine.OPTIMAL))
    assert (optimal.digest, optimal.classes) == (brute.digest, brute.classes)
    assert optimal.runs == optimal.classes


def test_a_spin_loop_is_one_blocked_step() -> None:
    assert explored(_handshake).verdict() is Verdict.PASS
    assert explored(_spin_lock).verdict() is Verdict.PASS


def test_a_value_that_does_not_stay_may_be_missed() -> None:
    result = explored(_pulse)
    assert result.counterexample is not None
    assert result.counterexample.failure.kind is FailureKind.UNFINISHED
    assert "waits to await flag" in result.summary()


def test_real_threads_wait_as_well() -> None:
    cell = sync.volatile(0, "cell")
    thread = sync.thread(lambda: cell.set(3), "sets")
    thread.start()
    assert sync.await_until(cell, bool) == 3
    assert thread.join()


def _assuming(least: int) -> Scenario:
    cell = sync.atomic_integer(0, "cell")

    def add() -> None:
        cell.add_and_get(1)

    def look() -> None:
        value = cell.get()
        assume(value >= least)
        assert value == least

    return Scenario(threads={"adds": add, "looks": look})


def test_runs_that_an_assumption_cuts_off_are_counted_apart() -> None:
    result = explored(partial(_assuming, 1))
    assert (result.verdict(), result.runs, result.classes, result.cut_runs) == (
        Verdict.PASS,
        2,
        1,
        1,
    )
    assert "1 runs cut by an assumption" in result.summary()
    assert explored(partial(_assuming, 0)).verdict() is Verdict.FAIL


def test_an_assumption_that_never_holds_is_inconclusive() -> None:
    result = explored(partial(_assuming, 2))
    assert result.verdict() is Verdict.INCONCLUSIVE
    assert result.gap == "an assumption cuts off every run"


def _poll_a_condition() -> None:
    changed, done = threading.Condition(), list[int]()

    def work() -> None:
        with changed:
            done.append(1)

    thread = threading.Thread(target=work)
    thread.start()
    with changed:
        while not done:
            changed.wait(0.1)


def _poll_a_queue() -> None:
    items: queue.Queue[int] = queue.Queue()
    threading.Thread(target=items.put, args=(1,)).start()
    while True:
        try:
            items.get(timeout=1)
        except queue.Empty:
            continue
        break


def _poll_and_sleep() -> None:
    done = threading.Event()
    threading.Thread(target=done.set).start()
    while not done.is_set():
        time.sleep(1)


@pytest.mark.parametrize("poll", [_poll_a_condition, _poll_a_queue, _poll_and_sleep])
def test_a_loop_that_polls_is_shown_as_a_cycle(poll: Callable[[], None]) -> None:
    program = threading_program("polls", poll)
    assert program is not None
    result = explore(program)
    assert result.verdict() is Verdict.INCONCLUSIVE
    assert "main repeats " in result.gap
    assert result.classes > 1
