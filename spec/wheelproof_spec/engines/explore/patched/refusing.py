"""What blocks or starts threads outside the model: refused at the call."""

import inspect
import sys
from collections.abc import Generator
from contextlib import contextmanager

from wheelproof_spec.engines.explore.failures.places import call_stack
from wheelproof_spec.engines.explore.patched.primitives import reject, running

_REFUSED = {
    "_thread.start_new_thread": ("starts a thread behind the patch", "start it with threading"),
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
    """Refuse, inside the block, what a thread under test must not do."""
    global _active, _hooked
    if not _hooked:
        # A hook stays for as long as the process.
        sys.addaudithook(_hook)
        _hooked = True
    _active += 1
    try:
        yield
    finally:
        _active -= 1


def _hook(event: str, args: tuple[object, ...]) -> None:
    if not _active or event not in _REFUSED:
        return
    runtime = running()
    if runtime is None or runtime.current is None:
        return
    if str(getattr(args[0] if args else None, "__module__", "")).startswith("wheelproof_spec"):
        # A substrate.
        return
    problem, remedy = _REFUSED[event]
    raise reject(runtime, f"{problem}: {call_stack(inspect.currentframe())}", remedy)
