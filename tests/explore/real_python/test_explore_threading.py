"""`threading` and what Python builds on it, as it is, in every interleaving."""

import _thread
import concurrent.futures
import itertools
import os
import queue
import socket
import subprocess
import threading
import time
from collections.abc import Callable
from dataclasses import replace

import pytest

from wheelproof_explore.explorer import explore
from wheelproof_explore.failures.problems import ProgramRejectedError
from wheelproof_explore.options import Engine, Options
from wheelproof_explore.patched.clocks import CLOCKS
from wheelproof_explore.patched.patching import patched_threading
from wheelproof_explore.program import Scenario, Settings, TimeMode
from wheelproof_explore.result import Exploration
from wheelproof_explore.substrates.substrate import SubstrateKind
from wheelproof_explore.tasks.plain import threading_program
from wheelproof_explore.verdicts import Verdict

pytestmark = pytest.mark.slow

_made_by_the_module = threading.Lock()
_known_from_before = threading.Thread
_imported_during_a_run = CLOCKS["monotonic"]


def _explored(build: Callable[[], object], options: Options | None = None) -> Exploration:
    program = threading_program(build.__name__, build)
    assert program is not None
    return explore(program, options or Options(keep_going=True))


def _started(*targets: Callable[[], object]) -> list[threading.Thread]:
    threads = [threading.Thread(target=target) for target in targets]
    for thread in threads:
        thread.start()
    return threads


def lock_of_a_module() -> Scenario:
    inside: list[int] = []

    def use() -> None:
        with _made_by_the_module:
            inside.append(1)
            time.sleep(0.1)
            assert inside == [1]
            inside.pop()

    return Scenario(threads={"a": use, "b": use})


def lock_released_by_another() -> None:
    lock = threading.Lock()
    lock.acquire()
    threads = _started(lock.release)
    lock.acquire()
    assert lock.locked()
    threads[0].join()


def lock_in_time() -> Scenario:
    lock = threading.Lock()
    took: list[bool] = []

    def take() -> None:
        begin = time.monotonic()
        if lock.acquire(timeout=2.5):
            took.append(True)
            lock.release()
        else:
            assert time.monotonic() - begin >= 2.5

    def check() -> None:
        assert took

    return Scenario(threads={"a": take, "b": take}, check=check)


def rlock_again() -> Scenario:
    lock = threading.RLock()
    changed = threading.Condition(lock)
    state = [0]

    def wait() -> None:
        with lock, changed:
            assert changed.wait_for(lambda: state[0] == 1)

    def change() -> None:
        with changed:
            state[0] = 1
            changed.notify_all()
        with pytest.raises(RuntimeError):
            lock.release()

    return Scenario(threads={"waits": wait, "changes": change})


def event_set_and_cleared() -> Scenario:
    """Who waits is woken by `set`, even if the flag is cleared before it looks."""
    event, begun = threading.Event(), threading.Event()

    def wait() -> None:
        begun.set()
        event.wait(1)

    def set_and_clear() -> None:
        begun.wait()
        event.set()
        event.clear()

    return Scenario(threads={"waits": wait, "sets": set_and_clear})


def barrier() -> Scenario:
    both = threading.Barrier(2)
    come: list[int] = []

    def come_together() -> None:
        come.append(1)
        both.wait()
        assert come == [1, 1]

    return Scenario(threads={"a": come_together, "b": come_together})


def semaphores() -> None:
    places = threading.BoundedSemaphore(1)
    inside: list[int] = []

    def use() -> None:
        with places:
            inside.append(1)
            time.sleep(1)
            assert inside.pop()
            assert not inside

    for thread in _started(use, use):
        thread.join()
    with pytest.raises(ValueError, match="too many"):
        places.release()


def timer_cancelled() -> None:
    ran: list[int] = []
    timer = threading.Timer(30, ran.append, (1,))
    timer.start()
    timer.cancel()
    timer.join()
    assert not timer.is_alive()
    assert len(ran) < 2


def who_am_i() -> None:
    local = threading.local()
    local.name = "main"
    identities: list[int | None] = [threading.get_ident()]

    class Worker(_known_from_before):
        def run(self) -> None:
            assert threading.current_thread() is self
            assert not hasattr(local, "name")
            local.name = self.name
            with _made_by_the_module:
                identities.append(threading.get_ident())
            assert local.name == self.name
            assert self.ident == threading.get_ident()

    workers = [Worker(), Worker()]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert local.name == "main"
    assert len(set(identities)) == 3


def all_threads() -> None:
    go_on = threading.Event()
    threads = _started(go_on.wait, go_on.wait)
    assert set(threads) <= set(threading.enumerate())
    assert threading.active_count() == 3
    go_on.set()


def daemons_may_wait() -> None:
    never = threading.Event()
    threading.Thread(target=never.wait, daemon=True).start()
    lock = threading.Lock()
    for thread in _started(lock.acquire):
        thread.join()
    lock.release()


def futures_in_any_order() -> None:
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        futures = [pool.submit(abs, number) for number in (-1, -2)]
        done = concurrent.futures.as_completed(futures)
        assert sorted(future.result() for future in done) == [1, 2]


_PASS: dict[Callable[[], object], int] = {
    lock_of_a_module: 2,
    lock_released_by_another: 1,
    lock_in_time: 4,
    rlock_again: 2,
    event_set_and_cleared: 10,
    barrier: 2,
    semaphores: 4,
    timer_cancelled: 5,
    who_am_i: 2,
    all_threads: 8,
    daemons_may_wait: 1,
}


@pytest.mark.parametrize("build", _PASS, ids=lambda build: build.__name__)
def test_every_interleaving_passes(build: Callable[[], object]) -> None:
    result = _explored(build)
    assert (result.verdict(), result.classes) == (Verdict.PASS, _PASS[build]), result.summary()
    others = _explored(build, Options(substrate=SubstrateKind.THREADS, keep_going=True))
    assert (others.verdict(), others.digest) == (Verdict.PASS, result.digest)


def test_a_pool_of_two_threads() -> None:
    result = _explored(futures_in_any_order, Options(max_runs=300))
    assert result.counterexample is None, result.details()
    assert result.stopped == "the bound on runs was reached"


def test_the_optimal_engine_runs_what_the_brute_one_runs() -> None:
    for build in (lock_in_time, rlock_again, event_set_and_cleared, lock_released_by_another):
        brute = _explored(build, Options(engine=Engine.BRUTE, keep_going=True))
        assert _explored(build).digest == brute.digest


def test_a_time_out_takes_a_notification_with_it() -> None:
    """As in CPython: a waiter whose time is over stays in the queue until it has the lock."""

    def build() -> Scenario:
        lock = threading.Lock()
        changed = threading.Condition(lock)

        def wait(timeout: float | None) -> None:
            with changed:
                changed.wait(timeout)

        def change() -> None:
            with changed:
                changed.notify()

        return Scenario(
            threads={"patient": lambda: wait(None), "other": lambda: wait(1), "changes": change}
        )

    result = _explored(build)
    assert result.counterexample is not None
    assert "patient waits on changed and nobody will notify it" in result.summary()


@pytest.mark.parametrize("daemon", [None, False, True])
def test_who_is_no_daemon_may_not_wait_for_ever(daemon: bool | None) -> None:
    """As in Python, whose interpreter would not end: threads of the main thread are no daemons."""

    def leaves_one_behind() -> None:
        event, begun = threading.Event(), threading.Event()

        def wait() -> None:
            begun.set()
            event.wait()

        thread = threading.Thread(target=wait, daemon=daemon)
        thread.start()
        begun.wait()
        with pytest.raises(RuntimeError, match="cannot set daemon status"):
            thread.daemon = True

    result = _explored(leaves_one_behind)
    assert result.verdict() is (Verdict.PASS if daemon else Verdict.FAIL), result.summary()


def test_a_thread_may_begin_after_the_clock_has_moved() -> None:
    def sleeps_first() -> None:
        lock = threading.Lock()
        time.sleep(1)

        def use() -> None:
            with lock:
                pass

        for thread in _started(use, use):
            thread.join()

    program = threading_program("sleeps-first", sleeps_first)
    assert program is not None
    result = explore(replace(program, settings=Settings(time=TimeMode.LAZY)))
    assert result.verdict() is Verdict.PASS, result.summary()


def test_a_clock_that_moves_when_nothing_else_can() -> None:
    def build() -> Scenario:
        done = threading.Event()

        def look() -> None:
            while not done.is_set():
                time.sleep(0.5)
            assert 2 <= time.monotonic() <= 2.5

        def work() -> None:
            time.sleep(2)
            done.set()

        return Scenario(threads={"works": work, "polls": look})

    program = threading_program("polls", build)
    assert program is not None
    result = explore(replace(program, settings=Settings(time=TimeMode.LAZY)))
    assert result.verdict() is Verdict.PASS, result.details()


def _shared() -> queue.Queue[int]:
    return queue.Queue()


def _socket() -> None:
    socket.create_connection(("localhost", 9))


def _process() -> None:
    subprocess.run(["true"], check=True)


def _fork() -> None:
    os.fork()


def _behind_the_patch() -> None:
    _thread.start_new_thread(time.time, ())


def _never_ends() -> None:
    for number in itertools.count():
        str(number)


_BAD: dict[Callable[[], object], str] = {
    _socket: "opens a socket.*_socket",
    _process: "starts a process.*_process",
    _fork: "forks.*_fork",
    _behind_the_patch: "starts a thread behind the patch.*_behind_the_patch",
    _never_ends: "does not end within 2 s.*_never_ends",
}


@pytest.mark.parametrize("action", _BAD, ids=lambda action: action.__name__)
def test_what_cannot_be_modelled_is_refused(action: Callable[[], object]) -> None:
    def build() -> Scenario:
        shared = _shared()

        def swallows() -> None:
            shared.put(1)
            try:
                action()
            except Exception:
                shared.put(2)

        return Scenario(threads={"a": swallows, "b": swallows})

    with pytest.raises(ProgramRejectedError, match=_BAD[action]):
        _explored(build)


def _use(take: Callable[[], object], give_back: Callable[[], object]) -> Scenario:
    first = threading.Lock()

    def use() -> None:
        take()
        with first:
            pass
        give_back()

    return Scenario(threads={"a": use, "b": use})


def test_a_lock_that_is_older_than_the_run() -> None:
    held = _thread.allocate_lock()
    take = held.acquire

    def build() -> Scenario:
        return _use(take, held.release)

    assert _explored(build).verdict() is Verdict.PASS


def test_a_lock_that_python_knows_nothing_of() -> None:
    # As a key: a search does not look at those.
    held = {_thread.allocate_lock(): 1}

    def build() -> Scenario:
        return _use(lambda: next(iter(held)).acquire(), lambda: next(iter(held)).release())

    with pytest.raises(ProgramRejectedError, match=r"does not end within 2 s: <lambda> \(test_exp"):
        _explored(build)


def test_a_scenario_that_is_not_said_to_be_one() -> None:
    def helper() -> Scenario:
        return Scenario(threads={"a": print})

    result = _explored(lambda: helper())
    assert "it returns a Scenario: say so" in result.summary()


def test_a_clock_that_a_module_kept_from_a_run_reads_the_real_one() -> None:
    real = time.monotonic()
    with patched_threading():
        now = _imported_during_a_run()
    assert isinstance(now, float)
    assert real <= now
