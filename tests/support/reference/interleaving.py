"""Threads that make their steps in an order that the test has chosen, without waiting by the clock.

Every object made inside an `Interleaving` announces its operations before it performs them. A
thread started by `Interleaving.run` goes on until the step at which the test wants it to stop; the
test's own thread is never stopped.
"""

import threading
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from types import TracebackType
from typing import Self, TypeVar

from wheelproof.sync import use_runtime
from wheelproof.sync.threads import ThreadsRuntime
from wheelproof_spec.fuzz.proxy_runtime import RELEASES, ProxyRuntime

R = TypeVar("R")
_STUCK_AFTER_S = 120.0
MAKE = "make"
"""The operation that announces a new object."""


@dataclass(frozen=True, slots=True)
class Step:
    """An operation on an object, both by name; taking a lock is `__enter__`."""

    target: str
    operation: str


class Interleaving:
    """A watcher whose threads stop where the test says; its runtime is ambient while entered."""

    def __init__(self) -> None:
        self._runs: list[Run] = []
        self._ambient = ExitStack()

    def __enter__(self) -> Self:
        self._ambient.enter_context(use_runtime(ProxyRuntime(ThreadsRuntime(), self)))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
        /,
    ) -> None:
        for run in self._runs:
            run.let_go()
        self._ambient.close()

    def run(self, target: Callable[[], object]) -> "Run":
        """Return a thread for `target`, which has not begun."""
        run = Run(target)
        self._runs.append(run)
        return run

    def making(self, name: str) -> None:
        self._announce(Step(name, MAKE))

    def around(
        self, name: str, primitive: object, how: str, perform: Callable[[], R], value: object
    ) -> R:
        del primitive, value
        if how not in RELEASES:
            target = name.removesuffix(".read").removesuffix(".write")
            self._announce(Step(target, how))
        return perform()

    def _announce(self, step: Step) -> None:
        for run in self._runs:
            if run.is_current():
                run.before(step)


class Run:
    """One thread of an interleaving; `ended` says whether the test has seen its end."""

    def __init__(self, target: Callable[[], object]) -> None:
        self._target = target
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._stop_before: Step | None = None
        self._orders: SimpleQueue[Step | None] = SimpleQueue()
        self._reached: SimpleQueue[bool] = SimpleQueue()
        self.ended = False
        self._error: BaseException | None = None

    def until(self, step: Step) -> bool:
        """Let the thread go on until it is about to make `step`; False if it ended before.

        Where the step is to take a lock that another thread holds, the thread is about to block.
        """
        if self.ended:
            return False
        self.resume(step)
        return self._await_report()

    def resume(self, until: Step | None = None) -> None:
        """Let the thread go on while the test does too: for a thread that is going to block."""
        if self._thread.ident is None:
            self._stop_before = until
            self._thread.start()
        else:
            self._orders.put(until)

    def finish(self) -> None:
        """Let the thread go on to its end, if it has not come there; raises what it raised."""
        if not self.ended:
            self.resume()
        self.join()

    def join(self) -> None:
        """Wait for the end of a thread that was resumed; raises what it raised."""
        while not self.ended:
            self._await_report()
        self._thread.join()
        if self._error is not None:
            raise self._error

    def let_go(self) -> None:
        """Stop the thread nowhere any more."""
        if self._thread.ident is not None:
            self._orders.put(None)
            self._thread.join(_STUCK_AFTER_S)

    def is_current(self) -> bool:
        """Tell whether the caller runs on this thread."""
        return self._thread is threading.current_thread()

    def before(self, step: Step) -> None:
        """Stop here if the test wants it; called on the thread itself."""
        if step == self._stop_before:
            self._reached.put(True)
            self._stop_before = self._orders.get()

    def _work(self) -> None:
        try:
            self._target()
        except BaseException as error:
            self._error = error
        self._reached.put(False)

    def _await_report(self) -> bool:
        try:
            reached = self._reached.get(timeout=_STUCK_AFTER_S)
        except Empty:
            raise AssertionError("the thread neither ended nor came to the step") from None
        self.ended = not reached
        return reached
