"""What is used of frontrun: one call, with the options that every comparison with it has."""

import importlib
from collections.abc import Callable, Sequence
from typing import Protocol


class _Explore(Protocol):
    """The package has no types of its own."""

    def __call__(
        self,
        *,
        setup: Callable[[], object],
        workers: Sequence[Callable[[object], None]],
        invariant: Callable[[object], bool],
        stop_on_first: bool,
        preemption_bound: None,
        detect_io: bool,
        max_executions: int,
        total_timeout: float,
        reproduce_on_failure: int,
    ) -> object: ...


def explored_by_frontrun(
    setup: Callable[[], object],
    workers: Sequence[Callable[[object], None]],
    invariant: Callable[[object], bool],
    *,
    stop_on_first: bool,
    max_executions: int,
    seconds: float,
) -> tuple[int, bool | None]:
    """Explore without a bound of preemptions; return the executions, and what frontrun says.

    That is whether the property holds; None if it came to no verdict.
    """
    explore: _Explore = importlib.import_module("frontrun").explore
    found = explore(
        setup=setup,
        workers=workers,
        invariant=invariant,
        stop_on_first=stop_on_first,
        preemption_bound=None,
        detect_io=False,
        max_executions=max_executions,
        total_timeout=seconds,
        reproduce_on_failure=0,
    )
    executions: int = getattr(found, "num_explored", 0)
    holds: bool | None = getattr(found, "property_holds", None)
    return executions, holds
