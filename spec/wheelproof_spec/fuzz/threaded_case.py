"""A case for real threads as plain data: it can be written down, run again, and shrunk."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Generic, TypeVar, cast

from wheelproof_spec.base.component import Call
from wheelproof_spec.base.results.violation import Violation
from wheelproof_spec.base.shrinking import ever_smaller, without_chunks
from wheelproof_spec.drive.work import SetupT, StepT, plain_record, shown
from wheelproof_spec.fuzz.hooks import Preemption

ATTEMPTS = 30
"""How often a smaller case is tried before it counts as passing."""

_StepT = TypeVar("_StepT")

Program = tuple[_StepT, ...]
"""The steps of one thread, one after the other."""

Burst = tuple[Program[_StepT], ...]
"""The programs that run at the same time, one for each thread."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadedCase(Generic[SetupT, StepT]):
    """A set-up, the seed of the preemptions, and bursts that run one after the other.

    The set-up is a dataclass: the configuration of the component, or one that has more.
    """

    setup: SetupT
    preemption_seed: int
    preempt_one_in: int
    bursts: tuple[Burst[StepT], ...] = ()

    def preemption(self) -> Preemption:
        """Return the hook that preempts the case's threads."""
        return Preemption(self.preemption_seed, self.preempt_one_in)

    def lines(self) -> tuple[str, ...]:
        """Return the case as JSON lines: the set-up, then a line for each burst."""
        preemption = [self.preemption_seed, self.preempt_one_in]
        bursts = (json.dumps({"burst": shown_burst(burst)}) for burst in self.bursts)
        return (setup_line(self.setup, preemption=preemption), *bursts)


_Found = tuple[ThreadedCase[SetupT, StepT], Violation | None]
Run = Callable[[ThreadedCase[SetupT, StepT]], Violation | None]
"""Runs a case from the beginning, and returns its violation, if any."""


def setup_line(setup: object, **more: object) -> str:
    """Return the set-up of a case as one line of JSON."""
    return json.dumps({"op": "reset", **plain_record(setup), **more})


def shown_burst(burst: Sequence[Sequence[Call]]) -> list[list[str]]:
    """Return a burst as text: the calls of each thread."""
    return [[shown(step) for step in program] for program in burst]


def shrink(
    case: ThreadedCase[SetupT, StepT],
    run: Run[SetupT, StepT],
    goes_on: Callable[[], bool],
    attempts: int = ATTEMPTS,
) -> tuple[ThreadedCase[SetupT, StepT], Violation | None]:
    """Return the smallest case found that still fails, with its violation.

    The search ends as soon as `goes_on` returns False.
    Bursts, then threads, then single calls are left out as long as `run` still fails. Threads are
    not deterministic, so each smaller case is run with up to `attempts` preemption seeds. The
    violation is None if not even `case` itself failed again.
    """
    found = cast("_Found[SetupT, StepT]", (case, None))
    for smaller in ever_smaller(
        found,
        lambda one: _smaller(one[0]),
        lambda tried: _fails(tried, run, goes_on, attempts),
        # Each run of a case is a try of its own.
        lambda: True,
    ):
        found = smaller
    return found if found[1] is not None else _fails(case, run, goes_on, attempts) or found


def _fails(
    case: ThreadedCase[SetupT, StepT],
    run: Run[SetupT, StepT],
    goes_on: Callable[[], bool],
    attempts: int,
) -> _Found[SetupT, StepT] | None:
    for attempt in range(attempts):
        if not goes_on():
            return None
        tried = replace(case, preemption_seed=case.preemption_seed + attempt)
        violation = run(tried)
        if violation is not None:
            return tried, violation
    return None


def _smaller(case: ThreadedCase[SetupT, StepT]) -> Iterator[ThreadedCase[SetupT, StepT]]:
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


def _with_burst(
    case: ThreadedCase[SetupT, StepT], number: int, burst: Burst[StepT]
) -> ThreadedCase[SetupT, StepT]:
    return replace(case, bursts=(*case.bursts[:number], burst, *case.bursts[number + 1 :]))
