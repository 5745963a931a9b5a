"""Runs the calls of several threads at once, and knows which of them can be interrupted."""

import faulthandler
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import Never, TypeVar

from wheelproof.sync import DeferredExecutor, Executor
from wheelproof.sync.threads_condition import InterruptibleThread, Interruption
from wheelproof_spec.base.results.violation import Violation

STUCK_AFTER_S = 20.0
"""How long a burst may take, in seconds, before its threads are declared stuck."""

Answer = TypeVar("Answer")


class BurstError(Exception):
    """A thread of a burst did not complete its calls."""

    def __init__(self, rule: str, expected: str, observed: str, *, stuck: bool = False) -> None:
        super().__init__(observed)
        self.stuck = stuck
        """Whether a thread did not come back: it may hold a lock for ever."""
        self.violation = Violation(
            rule=rule,
            expected=expected,
            observed=observed,
            reason=f"a thread of the burst did not get through its calls: {observed}",
        )


class CallbackError(Exception):
    """What a callback raises whose step is `Raise`."""


def raise_it() -> Never:
    """Take the step `Raise`."""
    raise CallbackError


def surviving(call: Callable[[], object]) -> Callable[[], None]:
    """Return a call that makes `call`, and goes on after a CallbackError."""

    def survive() -> None:
        with suppress(CallbackError):
            call()

    return survive


def run_submitted(executor: DeferredExecutor) -> None:
    """Run what was submitted; like every executor, it goes on after a task that raises."""
    while True:
        with suppress(CallbackError):
            executor.run_pending()
            return


def run_burst(
    programs: Sequence[Sequence[Callable[[], Answer]]], of: str, name: str = "burst"
) -> list[Answer]:
    """Run each program on its own thread, all at once, and return the results of the calls.

    The threads are called `name`-0, `name`-1 and so on.
    Raises BurstError if a thread does not end or if a call raises; it names a rule of what `of` is,
    as in `Timer.EveryCallReturns`.
    """
    answers: list[Answer] = []
    errors: list[str] = []
    together = threading.Barrier(len(programs))

    def work(program: Sequence[Callable[[], Answer]]) -> None:
        together.wait()
        try:
            answers.extend(call() for call in program)
        except Exception:
            errors.append(traceback.format_exc(limit=-4))

    # The thread names determine where a seeded preemption happens.
    threads = [
        _interruptible(partial(work, program), f"{name}-{number}")
        for number, program in enumerate(programs)
    ]
    with _eager_switching():
        for thread in threads:
            thread.start()
        until = time.monotonic() + STUCK_AFTER_S
        for thread in threads:
            thread.join(max(0.0, until - time.monotonic()))
    stuck = [thread.name for thread in threads if thread.is_alive()]
    if stuck:
        observed = f"{', '.join(stuck)} do not end\n{_where_threads_stand()}"
        raise BurstError(f"{of}.EveryCallReturns", "every call returns", observed, stuck=True)
    if errors:
        raise BurstError(f"{of}.NoCallFails", "no call raises", "\n".join(errors))
    return answers


def _interruptible(work: Callable[[], None], name: str) -> InterruptibleThread:
    """Return a thread that another thread can interrupt, like the threads of `wheelproof.sync`."""
    thread = InterruptibleThread(target=work, name=name, daemon=True)
    thread.interruption = Interruption()
    return thread


def await_submitted(executor: Executor, rule: str) -> None:
    """Wait until `executor` has run everything that was submitted to it.

    Raises BurstError, with the rule `rule`, if it does not finish.
    """
    done = threading.Event()
    executor.submit(done.set)
    if not done.wait(STUCK_AFTER_S):
        raise BurstError(
            rule,
            "the executor runs what is submitted",
            "it did not run the task that was submitted last",
        )


@contextmanager
def _eager_switching() -> Generator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        yield
    finally:
        sys.setswitchinterval(before)


def _where_threads_stand() -> str:
    with tempfile.TemporaryFile("w+") as stream:
        faulthandler.dump_traceback(stream, all_threads=True)
        stream.seek(0)
        return stream.read()


@dataclass(frozen=True, slots=True)
class Victim:
    """An interruptible thread: its name in the history, and the call that interrupts it."""

    name: str
    interrupt: Callable[[], None]


class Interruptions:
    """The threads of one burst, each known from its first call on."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._victims: dict[str, Victim] = {}

    def join_in(self, name: str) -> None:
        """Record that the current thread, `name` in the history, can be interrupted."""
        thread = threading.current_thread()
        if isinstance(thread, InterruptibleThread):
            with self._lock:
                self._victims.setdefault(name, Victim(name, thread.interruption.request))

    def victim(self, number: int) -> Victim:
        """Return the thread that `number` selects; the current thread must have joined in."""
        with self._lock:
            victims = tuple(self._victims.values())
        return victims[number % len(victims)]
