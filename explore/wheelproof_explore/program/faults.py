"""Faults: calls into the environment of a program that fail in some runs.

What a component calls and does not own is its environment: an executor, a callback, an allocator, a
predicate. Each such call may raise, and the component has to be right all the same. So a fault is a
choice like any other: the explorer tries each call that may fail with each of its errors, in every
interleaving.

def submits() -> Scenario:
    faults = Faults()
    executor = DeferredExecutor()
    submit = faults.wrap(executor.submit, RejectedExecutionError)
    ...

One fault a run is the default: a component that survives every single fault is rarely broken by two
alone, and two multiply the runs.
"""

from collections.abc import Callable, Sequence
from functools import wraps
from typing import ParamSpec, TypeVar

from wheelproof_explore.program.inside import assume, controlled
from wheelproof_explore.runtime.cells import AddAndGet, IntegerCell
from wheelproof_explore.runtime.thread_steps import FAULT_COUNTED, NO_INTERRUPT, MayFail

P = ParamSpec("P")
T = TypeVar("T")

INTERRUPT = "KeyboardInterrupt"
"""In the place of a call that may fail: Ctrl-C, which reaches the main thread."""


class _Count(AddAndGet):
    """Counting a fault: two threads that have one each are told apart from one that has two."""

    __slots__ = ()
    shows_result = False

    def describe(self) -> str:
        """Return what a table leaves out."""
        return FAULT_COUNTED


class Faults:
    """The faults of one run, `most` at most; make it in the function that sets the run up.

    Raises RuntimeError outside a program that is being explored.
    """

    __slots__ = ("_most", "_raised", "_raised_by", "_runtime")

    def __init__(self, most: int = 1) -> None:
        self._runtime = controlled()
        self._most = most
        self._raised = IntegerCell(self._runtime, "faults", 0)
        self._raised_by: dict[int, int] = {}

    def may_fail(self, call: str, *errors: type[BaseException]) -> None:
        """Return, or raise one of `errors`: the explorer tries each; `call` is its name in a trace.

        A run with more than `most` faults is cut off: it belongs to no class. Outside the threads
        of the run nothing fails.
        """
        said = [f"{call} raises {error.__name__}" for error in errors]
        chosen = self._chosen(call, (f"{call} returns", *said))
        if chosen:
            error = errors[chosen - 1](f"{call} fails")
            self._runtime.faults.append(error)
            raise error

    def may_be_interrupted(self) -> None:
        """Return, or raise KeyboardInterrupt, as Ctrl-C makes the main thread do.

        Unlike another fault, it is no failure if it leaves the main thread.
        """
        if self._chosen(INTERRUPT, (NO_INTERRUPT, INTERRUPT)):
            self._runtime.interrupt = KeyboardInterrupt()
            raise self._runtime.interrupt

    def _chosen(self, call: str, words: Sequence[str]) -> int:
        thread = self._runtime.current
        if thread is None:
            return 0
        self._runtime.called.add(call)
        mine = self._raised_by.get(thread.number, 0)
        if mine >= self._most:
            # Another fault would only be cut off.
            return 0
        chosen = self._runtime.perform(MayFail(words))
        if chosen:
            assume(self._runtime.perform(_Count(self._raised, 1)) <= self._most)
            self._raised_by[thread.number] = mine + 1
        return chosen

    def wrap(
        self, function: Callable[P, T], *errors: type[BaseException], name: str = ""
    ) -> Callable[P, T]:
        """Return a function that calls `function`, or raises one of `errors` instead.

        `name` is its name in a trace, that of `function` by default.
        """
        call = name or str(getattr(function, "__name__", function))

        @wraps(function)
        def calls(*args: P.args, **kwargs: P.kwargs) -> T:
            self.may_fail(call, *errors)
            return function(*args, **kwargs)

        return calls
