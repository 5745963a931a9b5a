"""What belongs to one thread stays with it, and what is not seen gives no verdict."""

import _thread
import calendar
import functools
import operator
import threading
import time
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import UTC, date, datetime

import pytest

from wheelproof_explore import library
from wheelproof_explore.explorer import explore
from wheelproof_explore.options import Options
from wheelproof_explore.patched.patching import patched_threading
from wheelproof_explore.patched.primitives import bystanders
from wheelproof_explore.program import Scenario
from wheelproof_explore.result import Exploration
from wheelproof_explore.tasks.plain import threading_program
from wheelproof_explore.verdicts import Verdict

_user: ContextVar[str] = ContextVar("_user", default="nobody")
_of_the_module: ContextVar[str] = ContextVar("_of_the_module", default="unset")
_of_the_module.set("set by the module")


def _explored(build: object) -> Exploration:
    program = threading_program("program", build)
    assert program is not None
    return explore(program, Options(keep_going=True))


def _contexts() -> Scenario:
    lock = threading.Lock()

    def work() -> None:
        with lock:
            assert _user.get() == "nobody"
            _user.set(threading.current_thread().name)
        with lock:
            assert _user.get() == threading.current_thread().name

    return Scenario(threads={"a": work, "b": work})


def test_a_context_belongs_to_one_thread_of_one_run() -> None:
    assert _explored(_contexts).verdict() is Verdict.PASS


def _main_has_the_context_of_its_module() -> None:
    lock, seen = threading.Lock(), list[str]()

    def work() -> None:
        with lock:
            seen.append(_of_the_module.get())

    thread = threading.Thread(target=work)
    thread.start()
    with lock:
        assert _of_the_module.get() == "set by the module"
    thread.join()
    assert seen == ["unset"]


def test_the_main_thread_has_the_context_of_its_module() -> None:
    assert _explored(_main_has_the_context_of_its_module).verdict() is Verdict.PASS


def _fail_in_a_thread() -> list[str]:
    lock, failed = threading.Lock(), list[str]()

    def work() -> None:
        with lock:
            raise ValueError("handled by the hook")

    def hook(args: threading.ExceptHookArgs) -> None:
        with lock:
            failed.append(str(args.exc_value))

    threading.excepthook = hook
    thread = threading.Thread(target=work)
    thread.start()
    with lock:
        pass
    thread.join()
    return failed


def _handled() -> None:
    assert _fail_in_a_thread() == ["handled by the hook"]


def test_a_hook_of_the_program_gets_the_exceptions_of_its_threads(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(threading, "excepthook", threading.excepthook)
    result = _explored(_handled)
    assert result.verdict() is Verdict.PASS, result.summary()


def _unseen() -> Scenario:
    """A thread takes another lock if a list, of which nothing is seen, was changed before."""
    said: list[int] = []
    first, second = threading.Lock(), threading.Lock()

    def use() -> None:
        with first if said else second:
            pass

    def use_often() -> None:
        for _ in range(4):
            use()

    def use_second() -> None:
        for _ in range(2):
            with second:
                pass

    def say() -> None:
        use()
        with first:
            said.append(1)

    return Scenario(threads={"uses": use_often, "uses the second": use_second, "says": say})


def test_unseen_state_that_steers_the_steps_is_inconclusive() -> None:
    result = _explored(_unseen)
    assert result.verdict() is Verdict.INCONCLUSIVE
    assert "state that is not seen steers the steps" in result.summary()


_BEGIN = 1_700_000_000


class _Stamps:
    # Functions of C are no methods.
    clock: Callable[[], float] = time.monotonic
    nap: Callable[[float], None] = time.sleep

    def __init__(self) -> None:
        self.seen = list[float]()
        self.lock = threading.Lock()


@dataclass
class _Stamped:
    at: float = field(default_factory=time.time)


@pytest.mark.parametrize(
    "look",
    [
        time.time,
        functools.partial(time.time),
        functools.partial(operator.call, time.time),
        lambda: time.time_ns() / 1e9,
        lambda: _BEGIN + _Stamps().clock() + time.process_time() + time.thread_time(),
        lambda: _Stamped().at,
        lambda: time.clock_gettime(time.CLOCK_REALTIME),
        lambda: _BEGIN + time.clock_gettime(time.CLOCK_MONOTONIC),
        lambda: time.mktime(time.localtime()),
        lambda: calendar.timegm(time.gmtime(None)),
        lambda: time.mktime(time.strptime(time.ctime())),
        lambda: time.mktime(time.strptime(time.asctime())),
        lambda: float(time.strftime("%s")),
        lambda: datetime.now().timestamp(),
        lambda: datetime.now(tz=UTC).timestamp(),
        lambda: datetime.today().timestamp(),
        lambda: float(date.today() == date.fromtimestamp(_BEGIN)) * _BEGIN,
    ],
)
def test_every_clock_shows_the_time_of_the_run_and_a_pass_says_so(
    look: Callable[[], float],
) -> None:
    def program() -> None:
        stamps = _Stamps()

        def work() -> None:
            with stamps.lock:
                stamps.seen.append(look())
            stamps.nap(1)

        threads = [threading.Thread(target=work) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert stamps.seen == [_BEGIN, _BEGIN]

    result = library.explore(program)
    assert result.verdict() is Verdict.PASS, result.summary()
    assert "not looked at: time that passes by itself" in result.summary()


def test_a_moment_that_is_given_is_no_look_at_a_clock() -> None:
    def program() -> None:
        stamps = _Stamps()

        def work() -> None:
            with stamps.lock:
                stamps.seen.append(time.gmtime(0).tm_year)
                assert time.strftime("%Y", time.gmtime(0)) == "1970"

        threads = [threading.Thread(target=work) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert stamps.seen == [1970, 1970]

    result = library.explore(program)
    assert result.verdict() is Verdict.PASS, result.summary()
    assert "not looked at" not in result.summary()


def test_a_thread_that_python_does_not_list_is_no_thread_of_a_run() -> None:
    """As the one by which pytest-xdist gets its messages."""
    numbers, begun, over = list[int](), _thread.allocate_lock(), _thread.allocate_lock()
    begun.acquire()
    over.acquire()

    def host() -> None:
        numbers.append(_thread.get_ident())
        begun.release()
        over.acquire()

    _thread.start_new_thread(host, ())
    begun.acquire()
    with patched_threading():
        assert numbers[0] in bystanders
    over.release()
