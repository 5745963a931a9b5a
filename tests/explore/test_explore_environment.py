"""`--faults`: calls that a program declares as its environment fail, each in some runs."""

import asyncio
import heapq
import os
import queue
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from threading import Thread

import pytest

from wheelproof_explore.__main__ import main as command
from wheelproof_explore.explorer import explore as run
from wheelproof_explore.failures.problems import OptionRejectedError, ProgramRejectedError
from wheelproof_explore.library import InterleavingError, check, explore
from wheelproof_explore.options import Engine, Options
from wheelproof_explore.program import Scenario
from wheelproof_explore.result import Exploration
from wheelproof_explore.tasks.plain import threading_program
from wheelproof_explore.verdicts import ExitCode, Verdict


class RefusedError(Exception):
    """An error of the program's own."""


def tell() -> None:
    """Tell somebody, who may be away."""


async def tell_later() -> None:
    """The same of a coroutine."""


def told() -> Iterator[int]:
    """The same of a generator."""
    yield 1


class Mail:
    """Somebody to tell."""

    @staticmethod
    def post() -> None:
        """Tell without an object."""

    @classmethod
    def deliver(cls) -> None:
        """Tell through the class."""

    def send(self) -> None:
        """Tell."""


MAIL = Mail()
ALIAS = tell
SENDS = [MAIL.send]
REMOVES = {"remove": os.remove}


def _by_default(call: Callable[[], None] = tell) -> None:
    call()


def _by_coroutine() -> None:
    asyncio.run(tell_later())


def _by_function_of_c(remove: Callable[[str], None]) -> None:
    try:
        remove("no such file")
    except FileNotFoundError:
        return


def _transfer(tells: Callable[[], object], *, mended: bool) -> None:
    accounts = {"from": 2, "to": 0}
    lock = threading.Lock()

    def move() -> None:
        with lock:
            accounts["from"] -= 1
            if not mended:
                tells()
            accounts["to"] += 1
        if mended:
            tells()

    def survive() -> None:
        try:
            move()
        except BaseException:
            return

    threads = [Thread(target=survive) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(accounts.values()) == 2


_WAYS: Sequence[tuple[str, Callable[[], object]]] = [
    ("tell", lambda: tell()),
    ("tell", ALIAS),
    ("tell", partial(ALIAS)),
    ("tell", _by_default),
    ("tell_later", _by_coroutine),
    ("told", lambda: [*told()]),
    ("Mail.send", lambda: MAIL.send()),
    ("MAIL.send", lambda: Mail().send()),
    ("Mail.post", lambda: MAIL.post()),
    ("Mail.deliver", Mail.deliver),
    ("Mail.send", SENDS[0]),
    ("os:remove", lambda: _by_function_of_c(os.remove)),
    ("os:remove", lambda: _by_function_of_c(REMOVES["remove"])),
]


_KINDS = (Exception, BaseException, KeyboardInterrupt, RefusedError)
_FAILURES = [
    *((*_WAYS[0], kind) for kind in _KINDS),
    *((*way, _KINDS[place % len(_KINDS)]) for place, way in enumerate(_WAYS[1:])),
]
"""Each kind of failure in the first way, and one kind in each other way."""


@pytest.mark.parametrize(("call", "way", "kind"), _FAILURES)
def test_whoever_calls_it_and_however_it_may_fail(
    call: str, way: Callable[[], object], kind: type[BaseException]
) -> None:
    own = ":" not in call and kind is RefusedError
    fault = (
        f"{call}={kind.__name__ if own or kind is not RefusedError else f'{__name__}:RefusedError'}"
    )
    with pytest.raises(InterleavingError, match=f"{call} raises {kind.__name__}") as caught:
        check(partial(_transfer, way, mended=False), faults=[fault])
    assert "sum(accounts.values()) == 2" in str(caught.value)
    passed = check(partial(_transfer, way, mended=True), faults=[fault])
    assert f"each single fault of {passed.faults[0]}" in passed.summary()
    # Without the fault nothing is wrong.
    check(partial(_transfer, way, mended=False))


def test_processes_side_by_side_know_of_the_calls_of_each_other() -> None:
    right = partial(_transfer, ALIAS, mended=True)
    passed = check(right, faults=["tell"], instrument=["none"], jobs=2)
    assert passed.classes == check(right, faults=["tell"], instrument=["none"]).classes


def test_without_errors_it_raises_one_that_the_usual_handler_misses() -> None:
    def careful() -> None:
        try:
            tell()
        except Exception:
            return

    with pytest.raises(InterleavingError, match=r"BaseException: .*tell fails"):
        check(careful, faults=["tell"])
    check(_with_second_thread(careful), faults=["tell=Exception"])


def _unseen(action: Callable[[], None], fault: str, engine: Engine) -> Exploration:
    """Explore without bringing back what the runs have shown."""
    program = threading_program("main", action)
    assert program is not None
    return run(replace(program, faults=(fault,)), Options(engine=engine))


def _with_second_thread(action: Callable[[], None]) -> Callable[[], None]:
    def main() -> None:
        lock = threading.Lock()

        def work() -> None:
            with lock:
                pass

        thread = Thread(target=work)
        thread.start()
        action()
        work()
        thread.join()

    return main


def test_a_run_has_one_fault_whoever_has_it() -> None:
    """Two threads make two calls each: nothing, or one error of two in one of four calls."""
    shown = set[tuple[str, ...]]()

    def main() -> None:
        log = {"a": "", "b": ""}

        def calls(name: str) -> None:
            for _ in range(2):
                try:
                    tell()
                except (KeyError, ValueError) as error:
                    log[name] += type(error).__name__[0]
                else:
                    log[name] += "-"

        threads = [Thread(target=calls, args=(name,)) for name in log]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        shown.add(tuple(log.values()))

    one = [(calls, "--") for calls in ("K-", "V-", "-K", "-V")]
    expected = {("--", "--"), *one, *(calls[::-1] for calls in one)}
    for engine in (Engine.OPTIMAL, Engine.BRUTE):
        shown.clear()
        assert _unseen(main, f"{__name__}:tell=KeyError,ValueError", engine).complete
        assert shown == expected


def test_what_no_run_calls_is_no_pass() -> None:
    found = explore(_with_second_thread(tell), faults=["tell", "Mail.send"])
    assert found.verdict() is Verdict.FAIL
    found = explore(_with_second_thread(lambda: None), faults=["tell"])
    assert found.verdict() is Verdict.INCONCLUSIVE
    assert f"no run has a call of {__name__}:tell" in found.summary()


def test_everything_is_as_before_afterwards() -> None:
    code, remove = tell.__code__, os.remove
    explore(_with_second_thread(tell), faults=["tell", "os:remove", "Mail.send"])
    assert tell.__code__ is code
    assert os.remove is remove
    assert REMOVES["remove"] is remove


def test_what_a_function_of_c_changes_is_seen_behind_its_fault() -> None:
    """A wrapper of ours in its place would hide that the list changes."""

    def main() -> None:
        heap = list[int]()

        def push() -> None:
            try:
                heapq.heappush(heap, 1)
            except MemoryError:
                return

        thread = Thread(target=push)
        thread.start()
        first, second = len(heap), len(heap)
        thread.join()
        assert first == second

    found = explore(main, faults=["heapq:heappush=MemoryError"]).counterexample
    assert found is not None
    assert found.failure.message.startswith("AssertionError")
    assert not any("raises MemoryError" in step.text for step in found.steps)


def test_a_run_with_a_fault_is_repeated() -> None:
    program = partial(_transfer, ALIAS, mended=False)
    found = explore(program, faults=["tell"]).counterexample
    assert found is not None
    again = explore(program, faults=["tell"], replay=found.schedule).counterexample
    assert again is not None
    assert again.steps == found.steps
    with pytest.raises(Exception, match="belongs to another program"):
        explore(program, replay=found.schedule)


def _interrupted(take: Callable[[threading.Lock], None]) -> Callable[[], None]:
    """A second thread needs the lock that main takes; it waits for ever if main keeps it."""

    def main() -> None:
        lock = threading.Lock()

        def work() -> None:
            with lock:
                pass

        Thread(target=work).start()
        take(lock)

    return main


def _takes_by_with(lock: threading.Lock) -> None:
    with lock:
        pass


def _takes_by_acquire(lock: threading.Lock) -> None:
    lock.acquire()
    try:
        pass
    finally:
        lock.release()


def _takes_nested(lock: threading.Lock) -> None:
    other = threading.RLock()
    with lock, other, other:
        pass


def _takes_nowhere_safe(lock: threading.Lock) -> None:
    acquired = False
    try:
        acquired = lock.acquire()
    finally:
        if acquired:
            lock.release()


@pytest.mark.parametrize("take", [_takes_by_with, _takes_nested])
def test_ctrl_c_does_not_keep_a_lock_from_its_release(
    take: Callable[[threading.Lock], None],
) -> None:
    """As on real threads: bench/interrupts.py loses none."""
    passed = check(_interrupted(take), faults=["KeyboardInterrupt"])
    assert "each single fault of KeyboardInterrupt" in passed.summary()
    assert passed.unseen == "Ctrl-C inside threading.Condition, and where nothing is called"


@pytest.mark.parametrize("take", [_takes_by_acquire, _takes_nowhere_safe])
def test_ctrl_c_comes_between_acquire_and_try(take: Callable[[threading.Lock], None]) -> None:
    """As on real threads: bench/interrupts.py loses some."""
    check(_interrupted(take))
    with pytest.raises(InterleavingError, match="held by main, which has ended"):
        check(_interrupted(take), faults=["KeyboardInterrupt"])


def _consumes(*, mended: bool) -> None:
    jobs = queue.SimpleQueue[int | None]()

    def work() -> None:
        while jobs.get() is not None:
            pass

    Thread(target=work).start()
    try:
        jobs.put(1)
    finally:
        if mended:
            jobs.put(None)
    if not mended:
        jobs.put(None)


def test_a_worker_that_nobody_ends_after_ctrl_c_is_found() -> None:
    check(partial(_consumes, mended=False))
    with pytest.raises(InterleavingError, match="waits"):
        check(partial(_consumes, mended=False), faults=["KeyboardInterrupt"])


class Busy:
    """Something that is busy, and says so to whoever waits for it."""

    def __init__(self) -> None:
        self.is_busy = False
        self.left = 0

    def end(self) -> None:
        """End it."""
        self.is_busy = False


def _ends(busy: Busy, how: str) -> None:
    sizes = list[int]()
    busy.left = 1
    busy.is_busy = True
    try:
        sizes.append(1)
    finally:
        if how == "by a store":
            busy.left -= 1
            busy.is_busy = False
        elif how == "by a function of C":
            vars(busy).update(is_busy=False)
        elif how == "behind a call":
            sizes.clear()
            busy.is_busy = False
        else:
            busy.end()


@pytest.mark.parametrize(
    ("how", "verdict"),
    [
        ("by a store", Verdict.PASS),
        ("by a function of C", Verdict.PASS),
        ("behind a call", Verdict.FAIL),
        ("by a function of Python", Verdict.FAIL),
    ],
)
def test_ctrl_c_comes_where_cpython_looks_for_it(how: str, verdict: Verdict) -> None:
    """It looks where a function of Python begins, and where a call of another one returns."""

    def main() -> None:
        busy = Busy()

        def look() -> None:
            _ = busy.is_busy

        other = Thread(target=look)
        other.start()
        try:
            _ends(busy, how)
        except KeyboardInterrupt:
            assert not busy.is_busy
        other.join()

    assert explore(main, faults=["KeyboardInterrupt"]).verdict() is verdict


def test_ctrl_c_in_a_wait_gives_the_lock_back() -> None:
    def main() -> None:
        condition, ready = threading.Condition(), list[int]()

        def work() -> None:
            with condition:
                ready.append(1)
                condition.notify()

        Thread(target=work).start()
        with condition:
            condition.wait_for(lambda: ready)

    check(main, faults=["KeyboardInterrupt"])


def test_a_permit_of_a_semaphore_is_lost_to_ctrl_c() -> None:
    """`Semaphore.__exit__` is code of Python's own: bench/interrupts.py loses some."""

    def main() -> None:
        permits = threading.Semaphore(1)

        def work() -> None:
            with permits:
                pass

        Thread(target=work).start()
        with permits:
            pass

    check(main)
    with pytest.raises(InterleavingError, match="waits on"):
        check(main, faults=["KeyboardInterrupt"])


def test_ctrl_c_reaches_each_step_of_main_and_no_other_thread() -> None:
    shown = set[tuple[int, bool]]()

    def main() -> None:
        lock, done = threading.Lock(), list[int]()

        def work() -> None:
            with lock:
                done.append(1)

        thread = Thread(target=work)
        steps = 0
        interrupted = False
        try:
            thread.start()
            steps = 1
            with lock:
                steps = 2
            steps = 3
        except KeyboardInterrupt:
            interrupted = True
        if steps:
            thread.join()
            assert done == [1]
        shown.add((steps, interrupted))

    for engine in (Engine.OPTIMAL, Engine.BRUTE):
        shown.clear()
        assert _unseen(main, "KeyboardInterrupt", engine).counterexample is None
        assert shown == {(0, True), (1, True), (2, True), (3, False)}


def test_tasks_are_interrupted_in_another_way() -> None:
    with pytest.raises(ProgramRejectedError, match="give the task to cancel_anywhere"):
        check(_by_coroutine, faults=["KeyboardInterrupt"])


def test_a_scenario_without_a_main_thread_is_not_interrupted() -> None:
    def work() -> None:
        with threading.Lock():
            pass

    def build() -> Scenario:
        return Scenario(threads={"a": work, "b": work})

    found = explore(build, faults=["KeyboardInterrupt"])
    assert "no run has a thread of the name main" in found.summary()


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("nothing", "has no attribute 'nothing'; name a function as module:function"),
        ("no_such_module:f", "ModuleNotFoundError"),
        ("Mail", "it is a class; name a method, as module:Class.__init__"),
        ("MAIL", "it is no function"),
        ("builtins:list.append", "immutable type 'list'; name the function of your own that calls"),
        ("time:sleep", "a run has a model in its place"),
        ("tell=Nothing", "name an exception that can be made with a message alone"),
        ("tell=UnicodeDecodeError", "name an exception that can be made with a message alone"),
        ("tell=int", "name an exception that can be made with a message alone"),
        ("tell=MAIL", "it is no exception"),
    ],
)
def test_what_cannot_fail_is_said_in_a_sentence(fault: str, said: str) -> None:
    with pytest.raises(OptionRejectedError, match=f"--faults .*{said}"):
        explore(_with_second_thread(tell), faults=[fault])


def test_the_verb_repeats_a_run_with_its_faults(capsys: pytest.CaptureFixture[str]) -> None:
    words = [f"{__name__}:broken", "--faults", "tell=RefusedError,OSError"]
    assert command(words) == ExitCode.FAIL
    printed = capsys.readouterr().out
    (repeat,) = (line for line in printed.splitlines() if line.startswith("  repeat: "))
    assert command(repeat.split()[3:]) == ExitCode.FAIL
    assert command([f"{__name__}:broken"]) == ExitCode.PASS


def broken() -> None:
    """Lose money if nobody can be told."""
    _transfer(ALIAS, mended=False)
