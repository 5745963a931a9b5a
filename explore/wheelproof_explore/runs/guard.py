"""Checks for what a program under test must not do, at run time where possible."""

import signal
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from types import FrameType
from unittest.mock import patch

from wheelproof.sync import current_runtime
from wheelproof_explore.failures.places import call_stack
from wheelproof_explore.failures.problems import ProgramRejectedError
from wheelproof_explore.runtime.runtime import ControlledRuntime

PATIENCE_S = 2
"""The seconds that one step may run before it counts as endless."""
_PATIENCE_OUTSIDE_S = 10
"""The same for set-up and checks, which may import modules, and for the checker itself."""
_IDLE_S = 0.02
"""The CPU seconds below which a step counts as waiting: its limit is 2 * patience + 1 s."""


def require_assertions(program: str) -> None:
    """Raise ProgramRejectedError if Python leaves assertions out."""
    if not __debug__:
        raise ProgramRejectedError(
            program,
            "would be explored without its assertions, so that no check can fail",
            "run Python without -O and PYTHONOPTIMIZE",
        )


@contextmanager
def forbidden_calls(program: str) -> Generator[None]:
    """Reject, inside the block, threads and sleeps that the scheduler does not control.

    Threads that existed before are not affected: the program may run inside a larger process.
    """
    bystanders = set(threading.enumerate()) - {threading.current_thread()}
    start, sleep = threading.Thread.start, time.sleep

    def refuse_thread(thread: threading.Thread) -> None:
        if threading.current_thread() in bystanders:
            start(thread)
            return
        raise ProgramRejectedError(
            program,
            f"starts the thread {thread.name} by itself",
            "let it be patched: name a function, module:function, or give patch_threading=True",
        )

    def refuse_sleep(seconds: float, /) -> None:
        if threading.current_thread() in bystanders:
            sleep(seconds)
            return
        raise ProgramRejectedError(
            program,
            f"sleeps for {seconds} s of real time",
            "let it be patched: name a function, module:function, or give patch_threading=True",
        )

    with (
        patch.object(threading.Thread, "start", refuse_thread),
        patch.object(time, "sleep", refuse_sleep),
    ):
        yield


@contextmanager
def watchdog(program: str, progress: Callable[[], tuple[int, int]]) -> Generator[None]:
    """Reject, inside the block, a program whose `progress` does not change for PATIENCE_S.

    Works on the main thread only, where signals arrive; elsewhere nothing is watched.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    seen, used = progress(), time.thread_time()
    ticks = 0

    def look(number: int, frame: FrameType | None) -> None:
        nonlocal seen, ticks, used
        del number
        now = progress()
        if now != seen:
            seen, used, ticks = now, time.thread_time(), 0
            return
        ticks += 1
        # On a busy machine a step may take long without computing.
        computed = time.thread_time() - used
        runtime = current_runtime()
        in_step = isinstance(runtime, ControlledRuntime) and runtime.current is not None
        patience = PATIENCE_S if in_step else max(PATIENCE_S, _PATIENCE_OUTSIDE_S)
        if computed >= patience or (ticks > 2 * patience and computed < _IDLE_S):
            ticks = 0
            error = ProgramRejectedError(
                program,
                f"has a step that does not end within {patience} s: {call_stack(frame)}",
                "look for an endless loop, or for a wait that the checker does not see",
            )
            if isinstance(runtime, ControlledRuntime):
                # The program might catch the error.
                runtime.stop = error
            raise error

    before = signal.signal(signal.SIGALRM, look)
    signal.setitimer(signal.ITIMER_REAL, 1, 1)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
