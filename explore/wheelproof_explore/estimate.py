"""An estimate of how many classes a program has, before they are all explored.

D. Knuth, "Estimating the efficiency of backtrack programs", Math. Comp. 29 (1975). The tree has all
steps under sleep sets alone: each class ends in exactly one leaf, and every other leaf is a run
that its sleep set blocks. A probe walks down at random and multiplies the numbers of branches; a
blocked probe counts 0. The mean over many probes estimates the number of classes. A step that no
probe so far has seen conflict with another thread is not branched: its other branches would nearly
always be blocked.
"""

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass

from wheelproof_explore.runs.execution import Execution, World
from wheelproof_explore.runtime.accesses import (
    Accesses,
    Event,
    conflicting_with,
    dependent,
)
from wheelproof_explore.runtime.numbers import THREAD_MASK, Actor, thread_of

_TOO_MANY = 10**30
_NOBODY: frozenset[Actor] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """The mean of a number of probes, and its standard error."""

    probes: int
    classes: float
    error: float

    def text(self) -> str:
        """Return the estimate in words, with two digits: it is not more precise."""
        if not 0 < self.classes < _TOO_MANY:
            return "too many classes for an estimate"
        low, high = max(self.classes - 2 * self.error, 1), self.classes + 2 * self.error
        return f"about {_rounded(self.classes)} classes ({_rounded(low)} to {_rounded(high)})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """The progress of an exploration.

    `fraction` is the explored part of the work known so far, None if the engine does not know it.
    """

    runs: int
    seconds: float
    estimate: Estimate | None = None
    fraction: float | None = None

    def text(self) -> str:
        """Return the progress in words."""
        words = [f"{self.runs:,} runs in {self.seconds:.0f} s"]
        if self.estimate is not None:
            words.append(self.estimate.text())
        if self.fraction:
            left = self.seconds * (1 - self.fraction) / self.fraction
            words.append(f"{self.fraction:.0%} of what is known, at least {left:.0f} s to go")
        return "; ".join(words)


class Estimator:
    """A series of probes, and the estimate that they give."""

    def __init__(self, world: World, seed: int = 0) -> None:
        self._world = world
        self._random = random.Random(seed)
        self._sizes: list[int] = []
        self._users: dict[int, set[Actor]] = {}

    def probe(self) -> None:
        """Walk down the tree once at random."""
        execution = Execution(self._world)
        try:
            self._sizes.append(min(self._go_down(execution), _TOO_MANY))
            execution.require_use()
        finally:
            execution.close()
        for actor, accesses in zip(execution.actors, execution.accesses, strict=True):
            for access in accesses:
                self._users.setdefault(access, set()).add(thread_of(actor))

    def estimate(self) -> Estimate:
        """Return the mean of the probes so far."""
        count = len(self._sizes)
        mean = sum(self._sizes) / count if count else 0.0
        spread = sum((size - mean) ** 2 for size in self._sizes) / max(count - 1, 1)
        return Estimate(probes=count, classes=mean, error=math.sqrt(spread / max(count, 1)))

    def _go_down(self, execution: Execution) -> int:
        size = 1
        sleep: dict[Actor, Accesses] = {}
        while not execution.is_too_long():
            enabled = [(actor, _peeked(execution, actor)) for actor in execution.options()]
            awake = [event for event in enabled if event[0] not in sleep]
            if not awake:
                return 0 if enabled else size
            branches = [event for event in awake if not self._conflicts(*event)][:1] or awake
            size *= len(branches)
            chosen = self._random.randrange(len(branches))
            actor, accesses = branches[chosen]
            sleep = _still_asleep(sleep, branches[:chosen], accesses)
            sleep.pop(actor, None)
            execution.step(actor, accesses)
            sleep = {asleep: _peeked(execution, asleep) for asleep in sleep}
        return size

    def _conflicts(self, actor: Actor, accesses: Accesses) -> bool:
        """Tell whether another thread was seen to conflict; true before the first probe."""
        if not self._sizes or actor > THREAD_MASK:
            return True
        return any(
            bool(self._users.get(other, _NOBODY) - {actor})
            for access in accesses
            for other in conflicting_with(access)
        )


def _still_asleep(
    sleep: dict[Actor, Accesses], explored: Sequence[Event], accesses: Accesses
) -> dict[Actor, Accesses]:
    """Return the steps that stay asleep after a step with these accesses: they commute with it."""
    return {
        actor: touched
        for actor, touched in (*sleep.items(), *explored)
        if not dependent(touched, accesses)
    }


def _peeked(execution: Execution, actor: Actor) -> Accesses:
    accesses = execution.peek(actor)
    return () if accesses is None else accesses


def _rounded(number: float) -> str:
    if number < 100:
        return f"{number:.0f}"
    digits = 10 ** (len(str(int(number))) - 2)
    return f"{round(number / digits) * digits:,}"
