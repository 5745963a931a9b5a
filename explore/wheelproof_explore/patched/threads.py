"""Threads, events and barriers: methods that replace those of Python's own classes.

The classes stay, so that their subclasses and existing instances work as well.
"""

import concurrent.futures.thread
import threading
import zlib
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import partial
from typing import cast
from unittest.mock import patch

from wheelproof.sync import Millis
from wheelproof_explore.failures.problems import ProgramRejectedError
from wheelproof_explore.patched.objects import FIRST_IDENT
from wheelproof_explore.patched.primitives import (
    Lock,
    made_in_earlier_run,
    millis,
    number_standing,
    place_name,
    reject,
    running,
    standing_index,
)
from wheelproof_explore.runtime.model import ModelThread, SharedObject
from wheelproof_explore.runtime.runtime import ControlledRuntime
from wheelproof_explore.runtime.settings import TimeMode
from wheelproof_explore.runtime.signals import ClearFlag, Look, Pulse, SetFlag
from wheelproof_explore.runtime.thread_steps import Life, ThreadHandle

_MODEL = "_wheelproof"
_HOOKS_OF_OTHERS = frozenset(("_pytest", "_thread", "pytest", "threading"))
"""The modules whose hooks only report an exception."""
_STARTED = "threads can only be started once"

real_current = threading.current_thread
real_enumerate = threading.enumerate
real_main = threading.main_thread
_start = threading.Thread.start
_join = threading.Thread.join
_is_alive = threading.Thread.is_alive
_thread_init: Callable[..., None] = threading.Thread.__init__
_daemon: Callable[[threading.Thread], bool] = vars(threading.Thread)["daemon"].fget
_set_daemon: Callable[[threading.Thread, bool], None] = vars(threading.Thread)["daemon"].fset
_init = threading.Event.__init__
_is_set = threading.Event.is_set
_set = threading.Event.set
_clear = threading.Event.clear
_wait = threading.Event.wait
_n_waiting: Callable[[threading.Barrier], int] = vars(threading.Barrier)["n_waiting"].fget
_broken: Callable[[threading.Barrier], bool] = vars(threading.Barrier)["broken"].fget


roster_kept: list[bool] = [False]
"""Whether the starts and ends of threads are steps on a list of all threads."""
_ROSTER = (1 << 19) - 1


@contextmanager
def keeping_roster(*, kept: bool) -> Generator[None]:
    """Make `threading.enumerate` work inside the block if `kept`."""
    roster_kept.append(kept)
    try:
        yield
    finally:
        roster_kept.pop()


_begun: list[Callable[[object], object]] = []


@contextmanager
def beginning(begun: Callable[[object], object]) -> Generator[None]:
    """Have each thread begin with what `begun` makes of its function, inside the block.

    So has a call of a pool. Code that nobody looks into may have started either.
    """
    work = cast("type", vars(concurrent.futures.thread)["_WorkItem"])
    make: Callable[..., None] = vars(work)["__init__"]

    def make_work(item: object, future: object, function: object, *given: object) -> None:
        make(item, future, begun(function), *given)

    _begun.append(begun)
    try:
        with patch.object(work, "__init__", make_work):
            yield
    finally:
        _begun.pop()


class RosterNeededError(ProgramRejectedError):
    """The error that a program lists its threads: it has to be explored with a list of them."""


class _Run:
    """The threads of the latest run."""

    def __init__(self, runtime: ControlledRuntime) -> None:
        self.runtime = runtime
        self.threads: dict[int, threading.Thread] = {}
        self.named: dict[int, int] = {}
        self.started: list[threading.Thread] = []
        self.main: ModelThread | None = None
        self.roster = SharedObject(runtime, "threads", None)
        number_standing(self.roster, _ROSTER)


_latest: _Run | None = None


def _run_of(runtime: ControlledRuntime) -> _Run:
    global _latest
    if _latest is None or _latest.runtime is not runtime:
        _latest = _Run(runtime)
    return _latest


def count_of(real: Callable[[], int]) -> int:
    """Return the next number, from 1, for a numbered name that the running thread gives."""
    runtime = running()
    if runtime is None:
        return real()
    named = _run_of(runtime).named
    number = runtime.caller().number
    named[number] = named.get(number, 0) + 1
    return named[number]


def new_name(real: Callable[..., str], template: str = "Thread-%d") -> str:
    """Return a new thread's name: the creator's number makes it the same in every run."""
    runtime = running()
    if runtime is None:
        return real(template)
    maker = "" if runtime.current is None else f"{runtime.current.number}."
    return template.replace("%d", f"{maker}{count_of(lambda: 0)}")


def hash_of(thread: threading.Thread) -> int:
    """Return a hash that is the same in every run, so that sets of threads have a fixed order."""
    return zlib.crc32(thread.name.encode())


def current_thread() -> threading.Thread:
    """Return the running thread."""
    runtime = running()
    model = None if runtime is None else runtime.current
    if runtime is None or model is None:
        return real_current()
    threads = _run_of(runtime).threads
    known = threads.get(model.number)
    if known is None:
        name = "MainThread" if model is _run_of(runtime).main else model.name
        known = threads[model.number] = threading.Thread(name=name, daemon=False)
        vars(known)[_MODEL] = model
    return known


def become_main() -> None:
    """Have the running thread be the one that Python's main thread would be."""
    runtime = running()
    if runtime is not None:
        _run_of(runtime).main = runtime.current
        if roster_kept[-1]:
            # It has the same number, whoever asks for it first.
            current_thread()


def main_thread() -> threading.Thread:
    """Return the main thread of the program; Python's own if its threads are those of a scenario.

    The first call of another thread restarts the exploration, as `enumerate_threads` does.
    """
    runtime = running()
    main = None if runtime is None or runtime.current is None else _run_of(runtime).main
    if runtime is None or main is None:
        return real_main()
    if main is runtime.current:
        return current_thread()
    known = _run_of(runtime).threads.get(main.number)
    if known is None:
        runtime.stop = stop = RosterNeededError(runtime.program, "asks for its threads", "")
        raise stop
    return known


def enumerate_threads() -> list[threading.Thread]:
    """Return the live threads, without those of the scenario, but with the main thread.

    The first call restarts the exploration, with every start and every end as a write.
    """
    runtime = running()
    if runtime is None or runtime.current is None:
        return real_enumerate()
    run = _run_of(runtime)
    if not roster_kept[-1]:
        runtime.stop = stop = RosterNeededError(runtime.program, "asks for its threads", "")
        raise stop
    runtime.perform(Look(run.roster))
    current = current_thread()
    alive = [thread for thread in run.started if _is_running(thread)]
    if run.main is not None:
        alive.insert(0, main_thread())
    return alive if current in alive else [current, *alive]


def _is_running(thread: threading.Thread) -> bool:
    handle: object = vars(thread)[_MODEL]
    return isinstance(handle, ThreadHandle) and handle.state is Life.STARTED


def active_count() -> int:
    """Return how many threads are alive."""
    return len(enumerate_threads())


def thread_init(thread: threading.Thread, *args: object, **named: object) -> None:
    """`Thread.__init__`: the thread that makes it gives it its number, whoever starts it."""
    _thread_init(thread, *args, **named)
    runtime = running()
    if runtime is not None:
        _begin_seen(thread, "_target")
        _new_handle(runtime, thread)


def _new_handle(runtime: ControlledRuntime, thread: threading.Thread) -> ThreadHandle:
    body = partial(_run_thread, runtime, thread)
    handle = vars(thread)[_MODEL] = ThreadHandle(runtime, runtime.clock, body, thread.name)
    if roster_kept[-1]:
        handle.write += _run_of(runtime).roster.write
    return handle


def start(thread: threading.Thread) -> None:
    """`Thread.start`."""
    runtime = running()
    if runtime is None:
        _start(thread)
        return
    if "_initialized" not in vars(thread):
        raise RuntimeError("thread.__init__() not called")
    handle = _handle(thread, runtime)
    if handle is None:
        raise RuntimeError(_STARTED)
    handle.name, handle.daemon = thread.name, thread.daemon
    try:
        handle.start()
    except RuntimeError:
        raise RuntimeError(_STARTED) from None
    # Nobody waits for it here: a thread's text says whether it has started.
    started: threading.Event = vars(thread)["_started"]
    _pulse(started, runtime).state = True, 0
    if roster_kept[-1]:
        _run_of(runtime).started.append(thread)


def _begin_seen(thread: threading.Thread, name: str) -> None:
    function = vars(thread).get(name)
    if _begun and function is not None:
        vars(thread)[name] = _begun[-1](function)


def _run_thread(runtime: ControlledRuntime, thread: threading.Thread) -> None:
    _run_of(runtime).threads[runtime.caller().number] = thread
    _begin_seen(thread, "function" if issubclass(type(thread), threading.Timer) else "")
    run = _begun[-1](thread.run) if _begun else thread.run
    try:
        cast("Callable[[], None]", run)()
    except SystemExit:
        return
    except ProgramRejectedError:
        raise
    except Exception as error:
        hook = threading.excepthook
        if not _is_programs(hook):
            raise
        hook(threading.ExceptHookArgs((type(error), error, error.__traceback__, thread)))


def _is_programs(hook: object) -> bool:
    """Tell whether the program handles the exceptions of its threads by a hook of its own."""
    module = str(getattr(getattr(hook, "func", hook), "__module__", ""))
    return module.partition(".")[0] not in _HOOKS_OF_OTHERS


def _handle(thread: threading.Thread, runtime: ControlledRuntime) -> ThreadHandle | None:
    """Return the handle of a thread, None for a thread that runs from the beginning.

    Raises ProgramRejectedError for a thread of an earlier run.
    """
    handle: object = vars(thread).get(_MODEL)
    if isinstance(handle, ModelThread):
        return None
    if not isinstance(handle, ThreadHandle):
        return _new_handle(runtime, thread)
    if handle.runtime is not runtime:
        raise made_in_earlier_run(runtime)
    return handle


def _life(thread: threading.Thread, runtime: ControlledRuntime) -> Life:
    """Return the stage of a thread's life; a step, unless the thread asks about itself."""
    handle = _handle(thread, runtime)
    if handle is None or handle.is_current():
        return Life.STARTED
    return runtime.perform(Look(handle))


def join(thread: threading.Thread, timeout: float | None = None) -> None:
    """`Thread.join`."""
    runtime = running()
    if runtime is None:
        if _MODEL not in vars(thread):
            _join(thread, timeout)
        return
    if "_initialized" not in vars(thread):
        raise RuntimeError("Thread.__init__() not called")
    handle = _handle(thread, runtime)
    if thread is current_thread():
        raise RuntimeError("cannot join current thread")
    if handle is None:
        raise reject(
            runtime,
            f"joins {thread.name}, a thread that it has not started",
            "start it in the program, or let the end of the scenario join it",
        )
    timeout_ms = None if timeout is None else millis(timeout)
    try:
        ended = handle.join(timeout_ms)
    except RuntimeError:
        raise RuntimeError("cannot join thread before it is started") from None
    if not ended and timeout_ms is not None and runtime.settings.time is TimeMode.ANY:
        caller = runtime.caller()
        caller.now_ms = Millis(caller.now_ms + timeout_ms)


def is_alive(thread: threading.Thread) -> bool:
    """`Thread.is_alive`."""
    runtime = running()
    if runtime is None:
        return _MODEL not in vars(thread) and _is_alive(thread)
    return _life(thread, runtime) is Life.STARTED


def ident(thread: threading.Thread) -> int | None:
    """`Thread.ident`, and `native_id`."""
    known = vars(thread).get(_MODEL)
    if known is None:
        real: object = vars(thread).get("_ident")
        return real if isinstance(real, int) else None
    runtime = running()
    if runtime is not None and _life(thread, runtime) is Life.NEW:
        return None
    model = known.thread if isinstance(known, ThreadHandle) else known
    return FIRST_IDENT + model.number if isinstance(model, ModelThread) else None


def set_daemon(thread: threading.Thread, daemonic: bool) -> None:
    """Set `Thread.daemon`."""
    runtime = running()
    if runtime is not None and "_initialized" in vars(thread):
        if _life(thread, runtime) is not Life.NEW:
            raise RuntimeError("cannot set daemon status of active thread")
        vars(thread)["_daemonic"] = daemonic
        return
    _set_daemon(thread, daemonic)


def _pulse(event: threading.Event, runtime: ControlledRuntime) -> Pulse:
    """Return the model of an event in this run."""
    known: tuple[Pulse | None, int] = vars(event).get(_MODEL) or (None, standing_index())
    pulse, index = known
    if pulse is None or pulse.runtime is not runtime:
        if not index:
            raise made_in_earlier_run(runtime)
        pulse = Pulse(runtime, runtime.clock, "event")
        number_standing(pulse, index)
        pulse.state = bool(vars(event).get("_flag")), 0
        vars(event)[_MODEL] = pulse, index
    return pulse


def number_event(event: threading.Event, index: int) -> Callable[[], None]:
    """Give a number to an event that was made before a run; return how to take it away."""
    of_event = vars(event)
    before = of_event.setdefault(_MODEL, (None, index))
    if before[1] != index:
        return lambda: None
    return partial(of_event.pop, _MODEL, None)


def event_init(event: threading.Event) -> None:
    """`Event.__init__`."""
    runtime = running()
    if runtime is not None:
        vars(event)[_MODEL] = Pulse(runtime, runtime.clock, place_name("event")), 0
    _init(event)


def event_is_set(event: threading.Event) -> bool:
    """`Event.is_set`."""
    runtime = running()
    if runtime is None:
        return _is_set(event)
    return runtime.perform(Look(_pulse(event, runtime)))[0]


def event_set(event: threading.Event) -> None:
    """`Event.set`."""
    runtime = running()
    if runtime is None:
        _set(event)
    else:
        # Unlike a release, this begins with code of Python.
        runtime.may_interrupt()
        runtime.perform(SetFlag(_pulse(event, runtime), "set"))


def event_clear(event: threading.Event) -> None:
    """`Event.clear`."""
    runtime = running()
    if runtime is None:
        _clear(event)
    else:
        runtime.perform(ClearFlag(_pulse(event, runtime)))


def event_wait(event: threading.Event, timeout: float | None = None) -> bool:
    """`Event.wait`; a woken thread goes on even if the flag is cleared again."""
    runtime = running()
    if runtime is None:
        return _wait(event, timeout)
    pulse = _pulse(event, runtime)
    given, times = runtime.perform(Look(pulse))
    return given or pulse.wait(times, None if timeout is None else millis(timeout))


def event_repr(event: threading.Event) -> str:
    """`Event.__repr__`, as that of locks: without an address, and without the state."""
    return f"<threading.{type(event).__name__}>"


def _settled(barrier: threading.Barrier) -> None:
    """Make a step that reads the lock of a barrier, under which all of its state changes."""
    runtime = running()
    condition: threading.Condition = vars(barrier)["_cond"]
    lock: object = vars(condition)["_lock"]
    if runtime is not None and isinstance(lock, Lock):
        runtime.perform(Look(lock.model(runtime)))


def barrier_n_waiting(barrier: threading.Barrier) -> int:
    """`Barrier.n_waiting`."""
    _settled(barrier)
    return _n_waiting(barrier)


def barrier_broken(barrier: threading.Barrier) -> bool:
    """`Barrier.broken`."""
    _settled(barrier)
    return _broken(barrier)


BARRIER = {"n_waiting": property(barrier_n_waiting), "broken": property(barrier_broken)}
THREAD = {
    "__hash__": hash_of,
    "__init__": thread_init,
    "daemon": property(_daemon, set_daemon),
    "start": start,
    "join": join,
    "is_alive": is_alive,
    "ident": property(ident),
    "native_id": property(ident),
}
EVENT = {
    "__init__": event_init,
    "__repr__": event_repr,
    "is_set": event_is_set,
    "isSet": event_is_set,
    "set": event_set,
    "clear": event_clear,
    "wait": event_wait,
}
