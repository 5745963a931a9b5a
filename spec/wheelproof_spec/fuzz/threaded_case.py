"""A case for real threads as plain data: it can be written down, run again, and shrunk."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import cast

from wheelproof_spec.base.results.violation import Violation
from wheelproof_spec.base.shrinking import ever_smaller, without_chunks
from wheelproof_spec.fuzz.hooks import Preemption

ATTEMPTS = 30
"""How often a smaller case is tried before it counts as passing."""

Program = tuple[str, ...]
"""The calls that one thread makes, in words: "add a", "cancel b", "clock to 25", "advance"."""

Burst = tuple[Program, ...]
"""The programs that run at the same time, one for each thread."""

Setup = tuple[tuple[str, int], ...]
"""The set-up before the first burst: names with numbers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadedCase:
    """A set-up, the seed of the preemptions, and bursts that run one after the other."""

    setup: Setup
    preemption_seed: int
    preempt_one_in: int
    bursts: tuple[Burst, ...] = ()

    def preemption(self) -> Preemption:
        """Return the hook that preempts the case's threads."""
        return Preemption(self.preemption_seed, self.preempt_one_in)

    def lines(self) -> tuple[str, ...]:
        """Return the case as JSON lines: the set-up, then a line for each burst."""
        preemption = [self.preemption_seed, self.preempt_one_in]
        bursts = (json.dumps({"burst": burst}) for burst in self.bursts)
        return (setup_line(self.setup, preemption=preemption), *bursts)


_Found = tuple[ThreadedCase, Violation | None]
Run = Callable[[ThreadedCase], Violation | None]
"""Runs a case from the beginning, and returns its violation, if any."""


def setup_line(setup: Setup, **more: object) -> str:
    """Return the set-up of a case as one line of JSON."""
    return json.dumps({"op": "reset", **dict(setup), **more})


def shrink(
    case: ThreadedCase, run: Run, goes_on: Callable[[], bool]
) -> tuple[ThreadedCase, Violation | None]:
    """Return the smallest case found that still fails, with its violation.

    The search ends as soon as `goes_on` returns False.
    Bursts, then threads, then single calls are left out as long as `run` still fails. Threads are
    not deterministic, so each smaller case is run with up to ATTEMPTS preemption seeds. The
    violation is None if not even `case` itself failed again.
    """
    found = cast(_Found, (case, None))
    for smaller in ever_smaller(
        found,
        lambda one: _smaller(one[0]),
        lambda tried: _fails(tried, run, goes_on),
        # Each run of a case is a try of its own.
        lambda: True,
    ):
        found = smaller
    return found if found[1] is not None else _fails(case, run, goes_on) or found


def _fails(case: ThreadedCase, run: Run, goes_on: Callable[[], bool]) -> _Found | None:
    for attempt in range(ATTEMPTS):
        if not goes_on():
            return None
        tried = replace(case, preemption_seed=case.preemption_seed + attempt)
        violation = run(tried)
        if violation is not None:
            return tried, violation
    return None


def _smaller(case: ThreadedCase) -> Iterator[ThreadedCase]:
    for bursts in without_chunks(case.bursts):
        yield replace(case, bursts=bursts)
    for number, burst in enumerate(case.bursts):
        for programs in without_chunks(burst):
            if programs:
                yield _with_burst(case, number, programs)
        for thread, program in enumerate(burst):
            for calls in without_chunks(program):
                if calls:
                    programs = (*burst[:thread], calls, *burst[thread + 1 :])
                    yield _with_burst(case, number, programs)


def _with_burst(case: ThreadedCase, number: int, burst: Burst) -> ThreadedCase:
    return replace(case, bursts=(*case.bursts[:number], burst, *case.bursts[number + 1 :]))
