"""A program of the corpus under frontrun: `frontrun_side FILE FUNCTION SECONDS`.

frontrun wants to start the threads itself, between a set-up and an invariant. So a program stops
where it would start its threads, and goes on in the invariant. The last word that is printed is the
number of executions and how they ended; absent, if the program starts no threads itself.
"""

import importlib
import sys
from collections.abc import Callable
from typing import Protocol

from wheelproof_lab.corpus.with_frontrun import explored_by_frontrun

_Actions = tuple[Callable[[], object], ...]


class _Greenlet(Protocol):
    """What is used of a greenlet; the package has no types of its own."""

    parent: "_Greenlet"

    def switch(self, *args: object) -> object: ...


class _Execution:
    """One execution of the program, stopped where it would start its threads."""

    def __init__(self, program: Callable[[], None]) -> None:
        self.body = _new(program)
        self.failed = False
        made = self.body.switch()
        self.actions: _Actions = made if isinstance(made, tuple) else ()

    def act(self, number: int) -> None:
        """Be one of the threads."""
        try:
            self.actions[number]()
        except Exception:
            self.failed = True

    def ends_well(self) -> bool:
        """Go on behind the threads, and tell whether nothing failed."""
        self.body.parent = _current()
        try:
            self.body.switch()
        except Exception:
            return False
        return not self.failed


_GREENLETS = importlib.import_module("greenlet")
_new: Callable[[Callable[[], None]], _Greenlet] = _GREENLETS.greenlet
_current: Callable[[], _Greenlet] = _GREENLETS.getcurrent


def _stop_where_threads_start(*actions: Callable[[], object]) -> None:
    _current().parent.switch(actions)


def main(file: str, name: str, seconds: float) -> None:
    """Explore a program for so long, and print what was found."""
    module = importlib.import_module(file)
    vars(module)["together"] = _stop_where_threads_start
    program: Callable[[], None] = vars(module)[name]
    actions = _Execution(program).actions
    if not actions:
        print("0:absent", flush=True)
        return

    def worker(number: int) -> Callable[[object], None]:
        def act(state: object) -> None:
            assert isinstance(state, _Execution)
            state.act(number)

        return act

    def invariant(state: object) -> bool:
        assert isinstance(state, _Execution)
        return state.ends_well()

    executions, holds = explored_by_frontrun(
        lambda: _Execution(program),
        [worker(number) for number in range(len(actions))],
        invariant,
        stop_on_first=True,
        max_executions=1_000_000,
        seconds=seconds,
    )
    print(f"{executions}:{'failed' if holds is False else 'passed'}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], float(sys.argv[3]))
