"""Replacement of Python's primitives by the models while a program is explored."""

import _thread
import concurrent.futures.thread
import gc
import inspect
import sys
import threading
import weakref
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from functools import partial
from types import BuiltinMethodType, FrameType
from typing import cast
from unittest.mock import patch

from wheelproof import sync
from wheelproof_explore.failures.places import call_stack, is_checkers
from wheelproof_explore.patched import threads
from wheelproof_explore.patched.primitives import (
    Lock,
    RLock,
    allocate_lock,
    bystanders,
    importing,
    real_ident,
    reject,
    running,
)
from wheelproof_explore.patched.refusing import refuse_thread, refused_calls
from wheelproof_explore.patched.search import MODELS, NAMES, REAL_LOCAL, Search, Standing
from wheelproof_explore.runtime.model import UnwindError
from wheelproof_explore.runtime.runtime import ControlledRuntime

_open: list[Standing] = []
_MISSED = (*MODELS, REAL_LOCAL)


def refuse_missed(value: object) -> None:
    """Raise ProgramRejectedError for a primitive of Python that no search has found.

    The scheduler does not know it: a thread that waits for it would block the whole run, or none.
    """
    kind = type(value)
    if kind is BuiltinMethodType:
        kind = type(cast("BuiltinMethodType", value).__self__)
    if not issubclass(kind, _MISSED):
        return
    runtime = running()
    if runtime is not None and _open:
        raise reject(
            runtime,
            f"uses a {kind.__name__} that was made before the run, where nobody looks for it: "
            f"{call_stack(inspect.currentframe())}",
            "make it inside the run, keep it in a variable, an attribute or a container, or name "
            "the package that keeps it with --instrument",
        )


@contextmanager
def replaced(pairs: Iterable[tuple[object, object]]) -> Generator[None]:
    """Have the searches inside the block replace these objects as well, each by the other one."""
    more = {id(value): (value, other) for value, other in pairs}
    NAMES.update(more)
    try:
        yield
    finally:
        for address in more:
            del NAMES[address]


@contextmanager
def patched_threading(given: object = None) -> Generator[list[object]]:
    """Make `threading`, and code built on it, use the current run, inside the block.

    The locks that the program `given` was made with are replaced as well. A nested block patches
    nothing else, because the search through all modules takes long. What is yielded was made
    before the run and has state that each run has to begin with: semaphores, queues and the like.
    """
    with ExitStack() as stack:
        standing = _open[0] if _open else Standing({}, [])
        if not _open:
            _patch(Search(stack, standing), stack)
        Search(stack, standing).inside(given, "given")
        _open.append(standing)
        stack.callback(_open.pop)
        yield standing.objects


def _patch(search: Search, stack: ExitStack) -> None:
    """Patch until the stack unwinds."""
    bystanders.update(_others())
    stack.callback(bystanders.clear)
    for module in list(sys.modules.values()):
        search.module(module)
    for kind, methods in (
        (threading.Thread, threads.THREAD),
        (threading.Event, threads.EVENT),
        (threading.Barrier, threads.BARRIER),
    ):
        for name, method in methods.items():
            stack.enter_context(patch.object(kind, name, method))
    stack.enter_context(patch.object(sys, "unraisablehook", _note_no_ends()))
    _patch_internals(stack)
    stack.enter_context(refused_calls())
    # Garbage collection could run finalisers, which would make steps at random.
    if gc.isenabled():
        gc.disable()
        stack.callback(gc.enable)


def _others() -> Iterator[int]:
    """Yield the threads that belong to no run, with those that `threading` knows nothing of."""
    frames: Callable[[], dict[int, FrameType]] = vars(sys)["_current_frames"]
    for number, frame in frames().items():
        while frame.f_back is not None:
            frame = frame.f_back
        # One of the checker has ended a run before, and may have its number again in the next.
        if number != real_ident() and not is_checkers(frame.f_code.co_filename):
            yield number


def _note_no_ends() -> Callable[["sys.UnraisableHookArgs"], None]:
    """Return a hook that shows no error of a finaliser if that is what ends a run."""
    before = sys.unraisablehook

    def note(error: "sys.UnraisableHookArgs") -> None:
        runtime = sync.current_runtime()
        if isinstance(runtime, ControlledRuntime):
            thread = runtime.current
            if runtime.stop is not None or runtime.closed or thread is None or thread.aborted:
                return
        before(error)

    return note


def _patch_internals(stack: ExitStack) -> None:
    def replace(owner: object, name: str, value: object) -> None:
        stack.enter_context(patch.object(owner, name, value, create=True))

    new_name: Callable[..., str] = vars(threading)["_newname"]
    replace(threading, "_allocate_lock", allocate_lock)
    for name, value in list(vars(_thread).items()):
        _, model = NAMES.get(id(value), (None, None))
        if model is Lock or model is RLock:
            replace(_thread, name, model)
    replace(threading, "_newname", partial(threads.new_name, new_name))
    pools, base = concurrent.futures.thread, sys.modules["concurrent.futures._base"]
    counter: Callable[[], int] = vars(ThreadPoolExecutor)["_counter"]
    replace(ThreadPoolExecutor, "_counter", staticmethod(partial(threads.count_of, counter)))
    queues: weakref.WeakKeyDictionary[object, object] = weakref.WeakKeyDictionary()
    replace(pools, "_threads_queues", queues)
    start_thread: Callable[..., int] = vars(_thread)["start_new_thread"]
    for owner, name in ((_thread, "start_new_thread"), (_thread, "start_new")):
        replace(owner, name, partial(refuse_thread, start_thread))
    replace(threading, "_start_new_thread", partial(refuse_thread, start_thread))
    machinery = sys.modules["_frozen_importlib"]
    load: Callable[[str, object], object] = vars(machinery)["_find_and_load"]
    replace(machinery, "_find_and_load", partial(_import, load))
    # Futures are ordered by creation, not by address.
    replace(Future, "__hash__", _number)
    replace(base, "id", _number)
    logger: object = vars(base)["LOGGER"]
    critical: Callable[..., None] = getattr(logger, "critical")  # noqa: B009
    replace(logger, "critical", partial(_unless_unwinding, critical))


def _import(load: Callable[[str, object], object], name: str, how: object) -> object:
    """Import a module for the first time; this is not part of the run."""
    importing.append(name)
    try:
        return load(name, how)
    finally:
        importing.pop()


def _number(future: object) -> int:
    """Return the number of a future's lock, which is the same in every run."""
    condition: object = vars(future).get("_condition")
    lock: object = vars(condition).get("_lock")
    runtime = running()
    if isinstance(lock, RLock) and runtime is not None:
        return lock.model(runtime).number
    return object.__hash__(future)


def _unless_unwinding(log: Callable[..., None], *args: object, **named: object) -> None:
    """Log an error that a pool caught; re-raise the checker's own UnwindError."""
    error = sys.exc_info()[1]
    if isinstance(error, UnwindError):
        raise error
    log(*args, **named)
