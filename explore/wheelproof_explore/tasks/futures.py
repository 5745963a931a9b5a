"""Futures and tasks of a controlled loop, and calls that are made on a thread for it."""

import asyncio
import inspect
import threading
from collections.abc import Awaitable, Callable, Coroutine, Generator, Iterable
from concurrent.futures import Future
from contextvars import Context
from types import FrameType
from typing import TypeVar

from wheelproof_explore.patched.primitives import running
from wheelproof_explore.runtime.model import UnwindError

T = TypeVar("T")


class ModelFuture(asyncio.Future[T]):
    """A future with a hash that is the same in every run, so that sets have a fixed order."""

    def __init__(self, number: int, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(loop=loop)
        self.number = number

    def __hash__(self) -> int:
        return self.number


class ModelTask(asyncio.Task[T]):
    """A task with a hash that is the same in every run."""

    def __init__(
        self,
        number: int,
        coro: Coroutine[object, object, T],
        loop: asyncio.AbstractEventLoop,
        name: str,
        context: Context | None,
    ) -> None:
        self.number = number
        super().__init__(coro, loop=loop, name=name, context=context)

    def __hash__(self) -> int:
        return self.number

    def place(self) -> str:
        """Return the place at which the task goes on, in words."""
        frames: list[FrameType] = self.get_stack()
        if not frames:
            return "its end"
        return f"{frames[-1].f_code.co_name}, line {frames[-1].f_lineno}"

    def is_unheard(self) -> bool:
        """Tell whether it raised an exception that no code has retrieved."""
        return self.done() and bool(getattr(self, "_log_traceback", False))


def on_a_thread(call: Callable[[], T], workers: list[threading.Thread]) -> Future[T]:
    """Make a call on a thread of its own, which is added to `workers`; return its future.

    As in a pool, the call is not made if the future was cancelled before the thread comes to it.
    """
    future: Future[T] = Future()

    def work() -> None:
        if not future.set_running_or_notify_cancel():
            return
        try:
            future.set_result(call())
        except UnwindError:
            raise
        except BaseException as error:
            future.set_exception(error)

    worker = threading.Thread(target=work, name="executor")
    workers.append(worker)
    worker.start()
    return future


def as_completed(
    fs: Iterable[Awaitable[T]], *, timeout: float | None = None
) -> Iterable[Awaitable[T]]:
    """Do as `asyncio.as_completed` does; in a run, tasks begin in the order of the coroutines.

    Python makes a set of them, whose order depends on where they are in memory.
    """
    runtime = running()
    if runtime is None or asyncio.isfuture(fs) or asyncio.iscoroutine(fs):
        return real_as_completed(fs, timeout=timeout)
    if inspect.isgeneratorfunction(real_as_completed):
        return _when_asked(fs, timeout)
    return real_as_completed(_begun(fs), timeout=timeout)


def _when_asked(
    fs: Iterable[Awaitable[T]], timeout: float | None
) -> Generator[Awaitable[T], None, None]:
    """Begin the tasks when somebody asks for the first result, as Python does before 3.13."""
    yield from real_as_completed(_begun(fs), timeout=timeout)


def _begun(fs: Iterable[Awaitable[T]]) -> list[asyncio.Future[T]]:
    return [asyncio.ensure_future(one) for one in dict.fromkeys(fs)]


real_as_completed = asyncio.as_completed
