"""Draws programs from an alphabet: three threads at one object, in every combination of calls.

The programs of the first seeds are an enumeration. First each call is made inside the callback of
another one, while a second thread makes each call. Then each combination of three calls is made, in
three threads. Arguments, the set-up, and what comes before the threads are drawn by the seed.
Behind the enumeration all is drawn.
"""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations_with_replacement, product
from typing import Generic, Protocol, TypeVar

from wheelproof_explore.program import Action, Program, Scenario
from wheelproof_lab.worlds.making import discarding
from wheelproof_spec.base.component import Call
from wheelproof_spec.base.history.lines import KeptHistory
from wheelproof_spec.base.results.violation import Violation
from wheelproof_spec.drive.work import (
    Alphabet,
    AndCall,
    Draw,
    Raise,
    SeededDraw,
    SetupT,
    StepT,
    Work,
    shown,
)
from wheelproof_spec.fuzz.stage import ExploredThreads, Programs
from wheelproof_spec.fuzz.threaded_case import Burst

PREFIX = "drawn/"
THREADS = 3

_MOST_WEIGHT = 4
"""What is rare in a load is not so rare here: a close, a purge, a cancel."""
_RAISE = "raise"
_CALLS_BACK_ONCE_IN = 3


class Subject(Protocol):
    """An object of the reference whose calls are recorded."""

    def programs(self, burst: Burst[Call]) -> Programs:
        """Return the calls of each thread."""
        ...

    def run(self, burst: Burst[Call]) -> Violation | None:
        """Make the calls of a burst, and return the violation of the history so far."""
        ...

    def finish(self) -> Violation | None:
        """End the history, and return its violation."""
        ...


KindT = TypeVar("KindT")
Keep = Callable[[KeptHistory], object]
Make = Callable[[KindT, SetupT, ExploredThreads, Keep | None], Subject]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Slot:
    """What a thread calls, by the name of its kind, and what the callback of that call does."""

    name: str
    then: str | None = None


_Plan = tuple[_Slot, ...]
"""What the first threads of a program call; what the others call is drawn."""


class Enumerated(Protocol):
    """The programs of a component, whatever its types are; see `DrawnPrograms`."""

    def plans(self) -> tuple[int, int]:
        """Return how many plans there are in which callbacks call, and of calls of three threads.

        They are those of the first seeds.
        """
        ...

    def program(self, seed: int, *, keep: Keep | None = None) -> Program:
        """Return the program of a seed, for the reference."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnPrograms(Generic[KindT, SetupT, StepT]):
    """The programs of a component.

    `make` makes an object of `sound`, or of a faulty kind. `before` are the kinds of calls that
    come before the threads start, one after the other. `callers` are those that have callbacks, in
    which every call may be made but `uncalled`. A thread makes at most `most` calls. `threads` is
    how many there are, without those that the object brings.
    """

    name: str
    sound: KindT
    make: Make[KindT, SetupT]
    work: Work[SetupT, StepT]
    callers: Sequence[str]
    uncalled: Sequence[str] = ()
    before: Sequence[str] = ()
    threads: int = THREADS
    most: int = 2

    def kinds(self) -> Alphabet[SetupT, StepT]:
        """Return the kinds of calls that threads make."""
        return {name: kind for name, kind in self.work.kinds().items() if kind.weight}

    def plans(self) -> tuple[int, int]:
        """Return how many plans there are; see `Enumerated.plans`."""
        calling = len(self._calling())
        return calling, len(self._enumerated()) - calling

    def _enumerated(self) -> Sequence[_Plan]:
        together = combinations_with_replacement(self.kinds(), self.threads)
        return (*self._calling(), *(tuple(_Slot(name=name) for name in some) for some in together))

    def _calling(self) -> Sequence[_Plan]:
        names = [*self.kinds()]
        called = [*(name for name in names if name not in self.uncalled), _RAISE]
        pairs = enumerate(product(called, names))
        return [
            (_Slot(name=self.callers[number % len(self.callers)], then=then), _Slot(name=name))
            for number, (then, name) in pairs
        ]

    def program(self, seed: int, kind: KindT | None = None, keep: Keep | None = None) -> Program:
        """Return the program of a seed, for the reference or for a faulty kind.

        `keep` gets the history of each run.
        """
        draw = SeededDraw(random.Random(f"{self.name} {seed}"))
        setup, plans = self.work.setup(draw), self._enumerated()
        before = self._before(draw, setup)
        if seed < len(plans):
            threads = self._planned(draw, setup, plans[seed])
        else:
            drawn = (draw.between(1, self.most) for _ in range(self.threads))
            threads = tuple(tuple(self._any(draw, setup) for _ in range(count)) for count in drawn)
        told = " | ".join(", ".join(map(shown, program)) for program in threads)
        first = ", ".join(shown(step) for program in before for step in program)
        make = partial(self.make, self.sound if kind is None else kind, setup)
        return Program(
            name=f"{PREFIX}{self.name}-{seed}",
            summary=f"{first}; then {told}" if first else told,
            build=partial(_build, make, keep, before, threads),
        )

    def _planned(self, draw: Draw, setup: SetupT, plan: _Plan) -> Burst[Call]:
        planned = [(self._step(draw, setup, slot),) for slot in plan]
        others = range(self.threads - len(plan))
        return (*planned, *((self._any(draw, setup),) for _ in others))

    def _any(self, draw: Draw, setup: SetupT) -> Call:
        kinds = self.kinds()
        weighted = [
            name for name, kind in kinds.items() for _ in range(min(kind.weight, _MOST_WEIGHT))
        ]
        name, then = draw.among(weighted), None
        if name in self.callers and draw.once_in(_CALLS_BACK_ONCE_IN):
            then = draw.among([*(one for one in weighted if one not in self.uncalled), _RAISE])
        return self._step(draw, setup, _Slot(name=name, then=then))

    def _step(self, draw: Draw, setup: SetupT, slot: _Slot) -> Call:
        kinds = self.work.kinds()
        step = kinds[slot.name].in_a_burst(draw, setup)
        if slot.then is None:
            return step
        raises = slot.then == _RAISE
        then = Raise() if raises else kinds[slot.then].in_a_burst(draw, setup)
        return AndCall(step=step, then=then)

    def _before(self, draw: Draw, setup: SetupT) -> Burst[Call]:
        if not self.before:
            return ()
        kinds, names = self.work.kinds(), self.before
        return (
            tuple(
                kinds[draw.among(names)].in_a_burst(draw, setup) for _ in range(draw.between(1, 2))
            ),
        )


def _build(
    make: Callable[[ExploredThreads, Keep | None], Subject],
    keep: Keep | None,
    before: Burst[Call],
    threads: Burst[Call],
) -> Scenario:
    subject = make(ExploredThreads(), keep)
    # Kept for the check: a set-up that raises is no counterexample.
    violation = subject.run(before) if before else None
    programs = subject.programs(threads)
    bodies = {f"t{number}": _actions(program) for number, program in enumerate(programs)}
    return Scenario(threads=bodies, check=partial(_check, subject, violation))


def _check(subject: Subject, before: Violation | None) -> None:
    _require_none(before)
    _require_none(subject.run(()))
    _require_none(subject.finish())


def _require_none(violation: Violation | None) -> None:
    assert violation is None, str(violation)


def _actions(program: Sequence[tuple[Call, Callable[[], object]]]) -> list[Action]:
    return [discarding(call) for _, call in program]
