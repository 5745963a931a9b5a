"""The executors: first in, first out, and how they end."""

import asyncio
import logging
import threading
from collections.abc import Callable
from functools import partial

import pytest

from support.reference.threads import await_event, started, take
from wheelproof.errors import RejectedExecutionError
from wheelproof.sync import DeferredExecutor, Executor, Thread, single_thread_executor
from wheelproof.sync.single_thread_executor import SingleThreadExecutor
from wheelproof.sync.threads import ThreadsRuntime
from wheelproof.units import Millis

_NO_TIME = Millis(0)
_LONG = Millis(30_000)


def _fail() -> None:
    raise ArithmeticError("the task fails on purpose")


def _finish(executor: Executor) -> None:
    executor.shutdown()
    assert executor.await_termination(_LONG)


@pytest.mark.repeats("timer-one-executor")
def test_tasks_run_in_the_order_of_their_submission() -> None:
    executor = single_thread_executor("ordered")
    ran: list[int] = []
    for number in range(100):
        executor.submit(partial(ran.append, number))
    _finish(executor)
    assert ran == list(range(100))


def test_all_tasks_run_on_one_thread_which_has_the_executors_name() -> None:
    executor = single_thread_executor("one thread")
    threads: list[threading.Thread] = []
    for _ in range(3):
        executor.submit(lambda: threads.append(threading.current_thread()))
    _finish(executor)
    assert len(set(threads)) == 1
    assert threads[0].name == "one thread"


def test_a_slow_task_delays_the_next_one() -> None:
    executor = single_thread_executor("slow")
    release, begun = threading.Event(), threading.Event()
    ran: list[str] = []

    def slow() -> None:
        begun.set()
        await_event(release)
        ran.append("slow")

    executor.submit(slow)
    executor.submit(lambda: ran.append("next"))
    await_event(begun)
    assert ran == []
    release.set()
    _finish(executor)
    assert ran == ["slow", "next"]


@pytest.mark.repeats("end-swallowed")
def test_an_exception_ends_its_task_alone_and_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    executor = single_thread_executor("failing")
    ran: list[str] = []
    with caplog.at_level(logging.ERROR, logger="wheelproof"):
        executor.submit(_fail)
        executor.submit(lambda: ran.append("next"))
        _finish(executor)
    assert ran == ["next"]
    (record,) = caplog.records
    assert record.getMessage() == "a task of failing raised; the next one runs"
    assert record.exc_info is not None
    assert isinstance(record.exc_info[1], ArithmeticError)


class _OddError(BaseException):
    pass


@pytest.mark.parametrize(
    "error",
    [
        ArithmeticError,
        SystemExit,
        KeyboardInterrupt,
        GeneratorExit,
        asyncio.CancelledError,
        _OddError,
    ],
)
def test_whatever_a_task_raises_the_next_one_runs(
    error: type[BaseException], caplog: pytest.LogCaptureFixture
) -> None:
    executor = single_thread_executor("failing")
    ran: list[str] = []

    def fail() -> None:
        raise error

    with caplog.at_level(logging.ERROR, logger="wheelproof"):
        executor.submit(fail)
        executor.submit(lambda: ran.append("next"))
        executor.shutdown()
        with pytest.raises(RejectedExecutionError):
            executor.submit(fail)
        assert executor.await_termination(Millis(10_000))
    assert ran == ["next"]
    (record,) = caplog.records
    assert record.exc_info is not None
    assert isinstance(record.exc_info[1], error)


class _ShortOfThreads(ThreadsRuntime):
    """Fails to start its first threads."""

    def __init__(self, failures: int) -> None:
        self.failures = failures

    def thread(self, target: Callable[[], None], name: str) -> Thread:
        return _ThreadThatMayFail(self, super().thread(target, name))


class _ThreadThatMayFail:
    def __init__(self, runtime: _ShortOfThreads, thread: Thread) -> None:
        self._runtime = runtime
        self._thread = thread
        self.join = thread.join
        self.interrupt = thread.interrupt
        self.is_current = thread.is_current

    def start(self) -> None:
        if self._runtime.failures:
            self._runtime.failures -= 1
            raise RuntimeError("can't start new thread")
        self._thread.start()


@pytest.mark.parametrize("failures", [1, 2])
def test_a_thread_that_does_not_start_refuses_its_task_alone(failures: int) -> None:
    executor = SingleThreadExecutor(_ShortOfThreads(failures), "short of threads")
    ran: list[str] = []
    for _ in range(failures):
        with pytest.raises(RuntimeError, match="can't start new thread"):
            executor.submit(lambda: ran.append("refused"))
    executor.submit(lambda: ran.append("taken"))
    _finish(executor)
    assert ran == ["taken"]


def test_an_executor_whose_thread_never_started_is_terminated_by_its_shutdown() -> None:
    executor = SingleThreadExecutor(_ShortOfThreads(1), "short of threads")
    with pytest.raises(RuntimeError, match="can't start new thread"):
        executor.submit(_fail)
    executor.shutdown()
    assert executor.await_termination(_NO_TIME)


def test_shutdown_runs_what_was_queued_and_takes_no_more() -> None:
    executor = single_thread_executor("shut down")
    release = threading.Event()
    ran: list[str] = []
    executor.submit(lambda: await_event(release))
    executor.submit(lambda: ran.append("queued"))
    executor.shutdown()
    with pytest.raises(RejectedExecutionError, match="shut down has been shut down"):
        executor.submit(lambda: ran.append("late"))
    release.set()
    assert executor.await_termination(_LONG)
    assert ran == ["queued"]


def test_a_task_may_submit_another_one() -> None:
    executor = single_thread_executor("nested")
    ran = threading.Semaphore(0)

    def outer() -> None:
        executor.submit(ran.release)

    executor.submit(outer)
    take(ran)
    _finish(executor)


def test_an_executor_without_tasks_is_terminated_by_its_shutdown() -> None:
    executor = single_thread_executor("idle")
    assert not executor.await_termination(_NO_TIME)
    executor.shutdown()
    executor.shutdown()
    assert executor.await_termination(_NO_TIME)


def test_await_termination_without_time_tells_that_tasks_are_left() -> None:
    executor = single_thread_executor("busy")
    release = threading.Event()
    executor.submit(lambda: await_event(release))
    executor.shutdown()
    assert not executor.await_termination(_NO_TIME)
    waiting = started(lambda: executor.await_termination(_LONG))
    release.set()
    assert waiting.result()


def test_await_termination_on_the_executors_own_thread_does_not_wait_for_itself() -> None:
    executor = single_thread_executor("own thread")
    answers: list[bool] = []

    def shut_down() -> None:
        executor.shutdown()
        answers.append(executor.await_termination(_LONG))

    executor.submit(shut_down)
    assert executor.await_termination(_LONG)
    assert answers == [False]


def test_the_thread_of_an_executor_ends() -> None:
    executor = single_thread_executor("ending")
    workers: list[threading.Thread] = []
    executor.submit(lambda: workers.append(threading.current_thread()))
    _finish(executor)
    workers[0].join()
    assert workers[0] not in threading.enumerate()


def test_a_deferred_executor_runs_tasks_when_told_on_the_callers_thread() -> None:
    executor = DeferredExecutor()
    ran: list[threading.Thread] = []
    for _ in range(2):
        executor.submit(lambda: ran.append(threading.current_thread()))
    assert ran == []
    assert executor.run_pending() == 2
    assert ran == [threading.current_thread()] * 2
    assert executor.run_pending() == 0


def test_a_deferred_executor_runs_what_its_tasks_submit_in_order() -> None:
    executor = DeferredExecutor()
    ran: list[str] = []

    def outer() -> None:
        ran.append("outer")
        executor.submit(lambda: ran.append("inner"))

    executor.submit(outer)
    executor.submit(lambda: ran.append("second"))
    assert executor.run_pending() == 3
    assert ran == ["outer", "second", "inner"]


def test_a_deferred_executor_lets_an_exception_reach_the_caller_and_keeps_the_rest() -> None:
    executor = DeferredExecutor()
    ran: list[str] = []
    executor.submit(_fail)
    executor.submit(lambda: ran.append("next"))
    with pytest.raises(ArithmeticError):
        executor.run_pending()
    assert executor.run_pending() == 1
    assert ran == ["next"]


def test_a_deferred_executor_takes_nothing_after_shutdown_and_runs_what_it_has() -> None:
    executor = DeferredExecutor()
    ran: list[str] = []
    executor.submit(lambda: ran.append("queued"))
    executor.shutdown()
    with pytest.raises(RejectedExecutionError, match="has been shut down"):
        executor.submit(_fail)
    assert not executor.await_termination(_LONG)
    executor.run_pending()
    assert executor.await_termination(_NO_TIME)
    assert ran == ["queued"]
