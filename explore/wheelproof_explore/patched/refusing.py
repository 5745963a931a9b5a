"""Refusal of calls that block or start threads outside the model."""

import inspect
import sys
from asyncio.base_events import BaseEventLoop
from collections.abc import Callable, Generator
from contextlib import contextmanager
from unittest.mock import patch

from wheelproof_explore.failures.places import call_stack
from wheelproof_explore.patched.primitives import reject, running

_REFUSED = {
    "socket.__new__": ("opens a socket, on which it may wait", "put a queue.Queue in its place"),
    "subprocess.Popen": ("starts a process", "put a function in its place"),
    "os.system": ("starts a process", "put a function in its place"),
    "os.fork": ("forks", "explore what the process does as a thread"),
    "os.posix_spawn": ("starts a process", "put a function in its place"),
    "signal.pthread_kill": ("sends a signal", "call the handler in a thread"),
}
_begin_loop: Callable[..., None] = vars(BaseEventLoop)["__init__"]
_active = 0
_hooked = False


@contextmanager
def refused_calls() -> Generator[None]:
    """Refuse, inside the block, the calls that a thread under test must not make."""
    global _active, _hooked
    if not _hooked:
        # An audit hook cannot be removed.
        sys.addaudithook(_hook)
        _hooked = True
    _active += 1
    try:
        with patch.object(BaseEventLoop, "__init__", _refuse_loop):
            yield
    finally:
        _active -= 1


def _hook(event: str, args: tuple[object, ...]) -> None:
    del args
    if _active and event in _REFUSED:
        _refuse(*_REFUSED[event])


def _refuse_loop(loop: object, *given: object, **named: object) -> None:
    """Begin an event loop that does not belong to the program; refuse one of the program."""
    # Its finaliser tells of a loop that nobody has closed.
    vars(loop)["_closed"] = True
    _refuse("makes an event loop by itself", "give the coroutine to asyncio.run()")
    _begin_loop(loop, *given, **named)


def refuse_thread(start: Callable[..., int], *given: object) -> int:
    """Start a thread that does not belong to the program; refuse one of the program."""
    _refuse("starts a thread behind the patch", "start it with threading")
    return start(*given)


def _refuse(problem: str, remedy: str) -> None:
    runtime = running()
    if runtime is not None and runtime.current is not None:
        raise reject(runtime, f"{problem}: {call_stack(inspect.currentframe())}", remedy)
