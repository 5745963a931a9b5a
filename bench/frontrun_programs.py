"""The programs of the comparison in frontrun's form: plain attributes and `threading`.

Run it with frontrun's own command, which has to patch `threading` before anything else:
`frontrun python bench/frontrun_programs.py` prints the result of each program as JSON.
"""

import json
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Generic, TypeVar

from wheelproof_lab.corpus.with_frontrun import explored_by_frontrun

_LIMIT_S = 60.0

S = TypeVar("S")


@dataclass(frozen=True, slots=True, kw_only=True)
class PlainProgram:
    """The setup that makes new state for each run, and the work of each thread on that state."""

    setup: Callable[[], object]
    workers: Sequence[Callable[[object], None]]


@dataclass(frozen=True, slots=True)
class _On(Generic[S]):
    """A worker that takes any object and works on one of its own kind."""

    kind: type[S]
    work: Callable[[S], None]

    def __call__(self, state: object) -> None:
        assert isinstance(state, self.kind)
        self.work(state)


class _Counter:
    def __init__(self) -> None:
        self.value = 0
        self.lock = threading.Lock()

    def increment(self) -> None:
        value = self.value
        self.value = value + 1

    def increment_locked(self) -> None:
        with self.lock:
            value = self.value
            self.value = value + 1

    def read(self) -> None:
        _ = self.value

    def write(self) -> None:
        self.value = 1


class _Cell:
    def __init__(self) -> None:
        self.value = 0


class _Cells:
    def __init__(self, count: int) -> None:
        self.cells = [_Cell() for _ in range(count + 1)]


class _Table:
    def __init__(self, count: int) -> None:
        self.forks = [threading.Lock() for _ in range(count)]


class _Event:
    def __init__(self) -> None:
        self.flag = False
        self.raised = threading.Condition(threading.Lock())


def plain_increments(count: int) -> PlainProgram:
    """Return a program: each thread reads a counter, then writes it."""
    return PlainProgram(setup=_Counter, workers=[_On(_Counter, _Counter.increment)] * count)


def plain_locked_increments(count: int) -> PlainProgram:
    """Return a program: each thread reads and writes a counter under one lock."""
    return PlainProgram(setup=_Counter, workers=[_On(_Counter, _Counter.increment_locked)] * count)


def plain_readers(count: int) -> PlainProgram:
    """Return a program: one thread writes, `count` threads read."""
    reading = [_On(_Counter, _Counter.read)] * count
    return PlainProgram(setup=_Counter, workers=[_On(_Counter, _Counter.write), *reading])


def plain_last_zero(count: int) -> PlainProgram:
    """Return a program: threads each write a cell after its neighbour; one seeks the last zero."""

    def search(state: _Cells) -> None:
        number = count
        while state.cells[number].value != 0:
            number -= 1

    def write(number: int, state: _Cells) -> None:
        value = state.cells[number - 1].value
        state.cells[number].value = value + 1

    writers = [_On(_Cells, partial(write, number)) for number in range(1, count + 1)]
    return PlainProgram(setup=partial(_Cells, count), workers=[_On(_Cells, search), *writers])


def plain_philosophers(count: int, *, ordered: bool) -> PlainProgram:
    """Return a program: each philosopher takes the left fork first, or the lower-numbered."""

    def dine(number: int, state: _Table) -> None:
        pair = number, (number + 1) % count
        first, second = sorted(pair) if ordered else pair
        with state.forks[first], state.forks[second]:
            pass

    return PlainProgram(
        setup=partial(_Table, count),
        workers=[_On(_Table, partial(dine, number)) for number in range(count)],
    )


def event_tested_early() -> PlainProgram:
    """Return a program: a flag is tested before locking, so a wake-up can be lost."""

    def wait(state: _Event) -> None:
        if not state.flag:
            with state.raised:
                state.raised.wait()

    def raise_flag(state: _Event) -> None:
        state.flag = True
        with state.raised:
            state.raised.notify()

    return PlainProgram(setup=_Event, workers=[_On(_Event, wait), _On(_Event, raise_flag)])


PROGRAMS: dict[str, PlainProgram] = {
    "increments 2": plain_increments(2),
    "increments 3": plain_increments(3),
    "increments 4": plain_increments(4),
    "locked increments 3": plain_locked_increments(3),
    "locked increments 6": plain_locked_increments(6),
    "readers 8": plain_readers(8),
    "last zero 4": plain_last_zero(4),
    "philosophers 5, ordered": plain_philosophers(5, ordered=True),
    "philosophers 3": plain_philosophers(3, ordered=False),
    "event tested early": event_tested_early(),
}

FAILING = ("philosophers 3", "event tested early")
"""The programs that are run only up to the first failure."""


def _measure(plain: PlainProgram, *, to_the_end: bool) -> dict[str, object]:
    def run(limit: int) -> tuple[int, bool | None]:
        return explored_by_frontrun(
            plain.setup,
            plain.workers,
            lambda _state: True,
            stop_on_first=not to_the_end,
            max_executions=limit,
            seconds=_LIMIT_S,
        )

    # The first exploration of a process pays for imports and warm-up.
    run(1)
    begin = time.process_time()
    executions, holds = run(1_000_000)
    return {
        "seconds": time.process_time() - begin,
        "executions": executions,
        "found": not holds,
    }


if __name__ == "__main__":
    sides = {
        name: _measure(plain, to_the_end=name not in FAILING) for name, plain in PROGRAMS.items()
    }
    print(json.dumps(sides))
