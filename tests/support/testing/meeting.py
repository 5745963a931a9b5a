"""The threads of a burst in one fixed order, so that a race does not depend on how they run.

The first thread runs up to the place of the race, or to its end if it does not come there. Then the
others run, one after the other. Then the first thread goes on.
"""

import threading
from collections.abc import Callable, Sequence
from functools import partial

from wheelproof_spec.fuzz.burst import run_burst

_FIRST, *_OTHERS = (f"burst-{number}" for number in range(4))
_Program = Sequence[Callable[[], object]]
_reached = threading.Event()


def run_in_order(programs: Sequence[_Program], of: str) -> Sequence[object]:
    """Do what `run_burst` does, in the order of this module."""
    _reached.clear()
    first, *others = programs
    turns = [partial(_other, name, own) for name, own in zip(_OTHERS, others, strict=False)]
    return run_burst([[partial(_first, first)], *([turn] for turn in turns)], of)


def race() -> None:
    """Let all others run, if this is the first thread and they have not run yet."""
    if threading.current_thread().name == _FIRST and not _reached.is_set():
        _reached.set()
        _join(_OTHERS)


def _first(program: _Program) -> None:
    try:
        for call in program:
            call()
    finally:
        race()


def _other(name: str, program: _Program) -> None:
    _reached.wait()
    _join(_OTHERS[: _OTHERS.index(name)])
    for call in program:
        call()


def _join(names: Sequence[str]) -> None:
    for thread in threading.enumerate():
        if thread.name in names:
            thread.join()
