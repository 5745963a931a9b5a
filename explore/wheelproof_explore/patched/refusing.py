"""Refusal of calls that block or start threads outside the model."""

import inspect
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager

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
        yield
    finally:
        _active -= 1


def _hook(event: str, args: tuple[object, ...]) -> None:
    del args
    if _active and event in _REFUSED:
        _refuse(*_REFUSED[event])


def refuse_thread(start: Callable[..., int], *given: object) -> int:
    """Start a thread that does not belong to the program; refuse one of the program."""
    _refuse("starts a thread behind the patch", "start it with threading")
    return start(*given)


def _refuse(problem: str, remedy: str) -> None:
    runtime = running()
    if runtime is not None and runtime.current is not None:
        raise reject(runtime, f"{problem}: {call_stack(inspect.currentframe())}", remedy)
