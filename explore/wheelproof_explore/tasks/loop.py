"""An event loop whose order of callbacks is chosen by the model checker.

A task is a thread that has a turn whenever a callback of the task is ready. Callbacks that belong
to no task share one thread and run first in, first out. So do those that other threads schedule, at
any time, even during a turn. A timer may fire at any time, before timers that are due later; with
TimeMode.LAZY only when nothing else is ready. With Settings(first_in_first_out=True) callbacks have
their turns in the order in which they became ready, as in asyncio's own loop.

A turn may make steps of its own. The loop is busy until it has ended, so no other turn begins, but
steps of threads come in between. Turns never overlap: what two of them do is no data race, but each
order of them is explored.
"""

import asyncio
import inspect
import sys
import threading
from asyncio import events
from collections import deque
from collections.abc import Callable, Coroutine, Generator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from contextvars import Context
from functools import partial
from typing import NoReturn, TypeVar, cast

from wheelproof.sync import Millis
from wheelproof_explore.failures.places import call_stack
from wheelproof_explore.patched.primitives import reject, running
from wheelproof_explore.runtime.model import ModelThread, UnwindError
from wheelproof_explore.runtime.runtime import ControlledRuntime
from wheelproof_explore.runtime.settings import TimeMode
from wheelproof_explore.runtime.signals import Look
from wheelproof_explore.runtime.thread_steps import ThreadHandle
from wheelproof_explore.tasks.futures import ModelFuture, ModelTask, on_a_thread
from wheelproof_explore.tasks.generators import Generators
from wheelproof_explore.tasks.turns import (
    Call,
    Called,
    Closing,
    LoopCalls,
    LoopModel,
    LoopState,
    Note,
    Turn,
)

T = TypeVar("T")

_CALLBACKS = -1
"""The key of callbacks that belong to no task."""


class ControlledLoop:
    """The loop of one `asyncio.run`; see the module. It refuses all other methods of a loop."""

    def __init__(self, runtime: ControlledRuntime) -> None:
        self._runtime = runtime
        self.as_loop = cast("asyncio.AbstractEventLoop", self)
        self._lazy = runtime.settings.time is TimeMode.LAZY
        self._in_line = runtime.settings.first_in_first_out
        self._model = LoopModel(runtime)
        self._calls = LoopCalls(runtime)
        self._handles: dict[int, deque[events.Handle]] = {}
        self._called: deque[events.Handle] = deque()
        self._timers: list[events.TimerHandle] = []
        self._tasks: list[ModelTask[object]] = []
        self._errors: list[BaseException] = []
        self._names: dict[str, int] = {}
        # The thread that makes the loop adds these, so each has the same number in every run.
        self._serve("callbacks", self._serve_callbacks)
        self._serve("timers", self._serve_timers)
        self._serve("calls of threads", self._serve_calls)
        self._generators = Generators(runtime, self.as_loop)
        self._unheard: set[int] = set()
        self._workers: list[threading.Thread] = []
        self._made = 0
        # The latest step that writes the loop.
        self._event = -1
        self._now = 0.0

    def run(self, main: Coroutine[object, object, T]) -> T:
        """Run a coroutine to its end, then cancel the tasks that remain, as `asyncio.run` does.

        Raises the coroutine's exception, or else a task's exception that no code has retrieved.
        """
        task = self._new_task(main, None, None)
        try:
            return self._run_to_end(task)
        except UnwindError:
            for left in self._tasks:
                with suppress(BaseException):
                    # The coroutine was not awaited to its end, and never will be.
                    left.get_coro().close()
            raise

    def __getattr__(self, name: str) -> NoReturn:
        runtime = running()
        if runtime is None or not hasattr(asyncio.AbstractEventLoop, name):
            raise AttributeError(name)
        raise reject(
            runtime,
            f"asks the event loop for {name}: {call_stack(inspect.currentframe())}",
            "put a queue or a future in its place",
        )

    def _run_to_end(self, task: "ModelTask[T]") -> T:
        while not task.done():
            self._turn(task.number, task.place)
        self._perform(Turn(self._model, _always, lambda: "cancel what is left"), self._cancel_all)
        if self._generators.left():
            self._end_generators()
        if self._workers:
            self._perform(Turn(self._model, _all_ended, _said_of_tasks), _nothing)
        for worker in self._workers:
            worker.join()
        self._perform(Closing(self._model, self._calls, _all_ended), self._close)
        result = task.result()
        for other in self._tasks:
            # Python would log it: "Task exception was never retrieved".
            error = None if other.cancelled() else other.exception()
            if error is not None and other.number in self._unheard:
                raise error
        return result

    def _end_generators(self) -> None:
        """Run a task that ends the generators that are left when all other tasks have ended."""
        ending: list[ModelTask[None]] = []

        def begin() -> None:
            ending.append(self._new_task(self._generators.end_all(), "the end of generators", None))

        self._perform(Turn(self._model, _all_ended, _said_of_tasks), begin)
        while not ending[0].done():
            self._turn(ending[0].number, ending[0].place)

    def _cancel_all(self) -> None:
        for task in self._tasks:
            if not task.done():
                task.cancel()

    def _close(self) -> None:
        self._generators.closed = True
        if self._generators.left():
            raise reject(
                self._runtime,
                "begins an asynchronous generator when its tasks have been cancelled",
                "end it with contextlib.aclosing()",
            )
        self._unheard = {task.number for task in self._tasks if task.is_unheard()}
        self._timers.clear()
        self._called.clear()
        self._change(ready=frozenset(), line=(), timers=0)

    # The methods of a loop that tasks and asyncio's own code call.

    def create_task(
        self,
        coro: Coroutine[object, object, T] | Generator[object, None, T],
        *,
        name: object = None,
        context: Context | None = None,
    ) -> ModelTask[T]:
        """Return a new task, which has a thread of its own."""
        assert isinstance(coro, Coroutine)
        task = self._new_task(coro, name, context)

        def body() -> None:
            while not task.done():
                self._turn(task.number, task.place)

        self._serve(task.get_name(), body)
        return task

    def create_future(self) -> ModelFuture[object]:
        """Return a new future."""
        return ModelFuture(self._number(), self.as_loop)

    def call_soon(
        self, callback: Callable[..., object], *args: object, context: Context | None = None
    ) -> events.Handle:
        """Schedule a callback for a turn of its task."""
        handle = events.Handle(callback, args, self.as_loop, context)
        owner: object = getattr(callback, "__self__", None)
        key = owner.number if isinstance(owner, ModelTask) else _CALLBACKS
        self._handles.setdefault(key, deque()).append(handle)
        state = self._model.state
        line = (*state.line, key) if self._in_line else ()
        self._change(ready=state.ready | {key}, line=line)
        return handle

    def call_soon_threadsafe(
        self, callback: Callable[..., object], *args: object, context: Context | None = None
    ) -> events.Handle:
        """Schedule a callback, from any thread, even while the loop is busy."""
        if events._get_running_loop() is self.as_loop:
            return self.call_soon(callback, *args, context=context)
        handle = events.Handle(callback, args, self.as_loop, context)
        if not self._runtime.perform(Call(self._calls)):
            raise RuntimeError("Event loop is closed")
        self._called.append(handle)
        return handle

    def call_later(
        self,
        delay: float,
        callback: Callable[..., object],
        *args: object,
        context: Context | None = None,
    ) -> events.TimerHandle:
        """Schedule a callback after a delay in seconds."""
        return self.call_at(self._now + delay, callback, *args, context=context)

    def call_at(
        self,
        when: float,
        callback: Callable[..., object],
        *args: object,
        context: Context | None = None,
    ) -> events.TimerHandle:
        """Schedule a callback at a time."""
        handle = events.TimerHandle(when, callback, args, self.as_loop, context)
        self._timers.append(handle)
        self._change(timers=len(self._timers))
        return handle

    def _timer_handle_cancelled(self, handle: events.TimerHandle) -> None:
        if handle in self._timers:
            self._timers.remove(handle)
            self._change(timers=len(self._timers))

    def time(self) -> float:
        """Return the time in seconds: that of the latest timer that has fired."""
        return self._now

    def call_exception_handler(self, context: dict[str, object]) -> None:
        """Record an exception of a callback as the failure of its turn."""
        error = context.get("exception")
        if isinstance(error, BaseException) and not isinstance(error, UnwindError):
            self._errors.append(error)

    def get_debug(self) -> bool:
        """Return False: the run itself shows everything."""
        return False

    def is_running(self) -> bool:
        """Return True."""
        return True

    def is_closed(self) -> bool:
        """Tell whether the loop is closed; a step of any other thread.

        The garbage collector may ask when the run has ended, through what the run left behind.
        """
        if events._get_running_loop() is self.as_loop:
            return False
        if self._runtime.closed:
            return True
        return self._runtime.perform(Look(self._calls)).closed

    def run_in_executor(
        self, executor: object, func: Callable[..., T], *args: object
    ) -> asyncio.Future[T]:
        """Run a function on a thread, of the executor if one is given."""
        submit: Callable[..., Future[T]] | None = getattr(executor, "submit", None)
        if submit is not None:
            future = submit(func, *args)
        else:
            future = on_a_thread(partial(func, *args), self._workers)
        return asyncio.wrap_future(future, loop=self.as_loop)

    def cancel_at_any_time(self, task: ModelTask[T]) -> None:
        """Add a thread that cancels the task at any time; see `cancel_anywhere`."""

        def stop() -> None:
            task.cancel()

        def body() -> None:
            self._perform(Turn(self._model, _always, lambda: f"cancel {task.get_name()}"), stop)

        self._serve(f"cancels {task.get_name()}", body)

    # Turns.

    def _number(self) -> int:
        self._made += 1
        return self._made

    def _change(
        self,
        *,
        ready: frozenset[int] | None = None,
        line: tuple[int, ...] | None = None,
        timers: int | None = None,
        unended: frozenset[int] | None = None,
        busy: bool | None = None,
    ) -> None:
        """Change the state as part of a step that writes the loop; make a new step if needed."""
        if self._runtime.event != self._event and self._runtime.current is not None:
            self._runtime.perform(Note(self._model))
            self._event = self._runtime.event
        state = self._model.state
        self._model.become(
            LoopState(
                ready=state.ready if ready is None else ready,
                line=state.line if line is None else line,
                timers=state.timers if timers is None else timers,
                unended=state.unended if unended is None else unended,
                busy=state.busy if busy is None else busy,
            )
        )

    def _new_task(
        self, coro: Coroutine[object, object, T], name: object, context: Context | None
    ) -> ModelTask[T]:
        given = str(name or getattr(coro, "__name__", "task"))
        count = self._names[given] = self._names.get(given, 0) + 1
        number = self._number()
        self._change(unended=self._model.state.unended | {number})
        name = given if count == 1 else f"{given}-{count}"
        task = ModelTask(number, coro, self.as_loop, name, context)
        self._tasks.append(cast("ModelTask[object]", task))
        return task

    def _serve(self, name: str, body: Callable[[], None]) -> None:
        """Add a thread for a task, the timers or the callbacks."""
        runtime = self._runtime
        handle = ThreadHandle(runtime, runtime.clock, body, name)
        handle.daemon = True
        runtime.spawn(handle, runtime.caller())

    def _serve_callbacks(self) -> None:
        while True:
            self._turn(_CALLBACKS, lambda: "a callback")

    def _serve_calls(self) -> None:
        while True:
            self._perform(Called(self._model, self._calls, _always), self._run_called)

    def _serve_timers(self) -> None:
        while True:
            self._perform(Turn(self._model, self._may_fire, lambda: "the next timer"), self._fire)

    def _may_fire(self, state: LoopState) -> bool:
        return state.timers > 0 and not (self._lazy and state.ready)

    def _fire(self) -> None:
        first = min(timer.when() for timer in self._timers)
        due = [timer for timer in self._timers if timer.when() == first]
        timer = due[self._runtime.choose(len(due)) if len(due) > 1 else 0]
        self._timers.remove(timer)
        self._change(timers=len(self._timers))
        self._now = max(self._now, first)
        timer._run()

    def _turn(self, key: int, place: Callable[[], str]) -> None:
        """Wait until a callback of `key` is ready, and run it."""

        def may(state: LoopState) -> bool:
            return state.line[:1] == (key,) if self._in_line else key in state.ready

        turn = Turn(self._model, may, place)
        self._perform(turn, partial(self._run_next, key))

    def _run_called(self) -> None:
        handle = self._called.popleft()
        if not handle.cancelled():
            handle._run()

    def _run_next(self, key: int) -> None:
        handles = self._handles[key]
        handle = handles.popleft()
        state = self._model.state
        if self._in_line or not handles:
            ready = state.ready if handles else state.ready - {key}
            self._change(ready=ready, line=state.line[1:])
        if not handle.cancelled():
            handle._run()

    def _perform(self, turn: Turn, action: Callable[[], None]) -> None:
        """Make one step of the loop; raises an exception of its callbacks."""
        runtime = self._runtime
        runtime.perform(turn)
        self._event = runtime.event
        thread = runtime.caller()
        thread.now_ms = Millis(max(thread.now_ms, round(self._now * 1000)))
        with self._running_on(thread):
            action()
        ended = {task.number for task in self._tasks if task.done()}
        self._change(busy=False, unended=self._model.state.unended - ended)
        if self._errors:
            raise self._errors.pop()

    @contextmanager
    def _running_on(self, thread: ModelThread) -> Generator[None]:
        """Be the running loop inside the block, but not while another thread makes its steps."""
        before, hooks = events._get_running_loop(), sys.get_asyncgen_hooks()
        suspend = thread.suspend

        def leave() -> None:
            events._set_running_loop(before)
            sys.set_asyncgen_hooks(*hooks)

        def enter() -> None:
            events._set_running_loop(self.as_loop)
            sys.set_asyncgen_hooks(*self._generators.hooks)

        def step_aside() -> None:
            leave()
            suspend()
            enter()

        thread.suspend = step_aside
        enter()
        try:
            yield
        finally:
            thread.suspend = suspend
            leave()


def run(main: Coroutine[object, object, T], *, debug: bool | None = None) -> T:
    """Run a coroutine as `asyncio.run` does, on a loop of the current run if there is one."""
    runtime = running()
    if runtime is None or runtime.current is None:
        return real_run(main, debug=debug)
    if isinstance(events._get_running_loop(), ControlledLoop):
        raise RuntimeError("asyncio.run() cannot be called from a running event loop")
    if runtime.current is runtime.interruptible:
        main.close()
        raise reject(
            runtime,
            "runs asyncio on its main thread, where Ctrl-C cancels a task",
            "leave --faults KeyboardInterrupt out, and give the task to cancel_anywhere()",
        )
    return ControlledLoop(runtime).run(main)


def cancel_anywhere(task: asyncio.Task[T]) -> None:
    """Have a task cancelled at any of its awaits, or not at all: each in some class of runs."""
    loop = task.get_loop()
    if isinstance(task, ModelTask) and isinstance(loop, ControlledLoop):
        loop.cancel_at_any_time(task)


def _nothing() -> None:
    pass


def _said_of_tasks() -> str:
    return "all tasks have ended"


def _always(_state: LoopState) -> bool:
    return True


def _all_ended(state: LoopState) -> bool:
    return not state.unended


real_run = asyncio.run
