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

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from wheelproof_explore.program.inside import assume, controlled
from wheelproof_explore.runtime.thread_steps import MayFail

P = ParamSpec("P")
T = TypeVar("T")


class Faults:
    """The faults of one run, `most` at most; make it in the function that sets the run up.

    Raises RuntimeError outside a program that is being explored.
    """

    __slots__ = ("_most", "_raised", "_runtime")

    def __init__(self, most: int = 1) -> None:
        self._runtime = controlled()
        self._most = most
        self._raised = self._runtime.atomic_integer(0, "faults")

    def may_fail(self, call: str, *errors: type[BaseException]) -> None:
        """Return, or raise one of `errors`: the explorer tries each; `call` is its name in a trace.

        A run with more than `most` faults is cut off: it belongs to no class. Outside the threads
        of the run nothing fails.
        """
        if self._runtime.current is None:
            return
        chosen = self._runtime.perform(MayFail(call, [error.__name__ for error in errors]))
        if not chosen:
            return
        assume(self._raised.add_and_get(1) <= self._most)
        error = errors[chosen - 1](f"{call} fails")
        self._runtime.faults.append(error)
        raise error

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
