"""Random cases: drawn as plain numbers, turned into calls, and shrunk when a case fails.

Calls are sent before earlier answers arrive, unless a later call depends on those answers: the
`CaseSpace` of a component marks where a case needs the answers so far. Numbers shrink in the same
way for every component.
"""

import itertools
import random
import time
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Generic, TypeVar

from wheelproof_spec.base.component import Request
from wheelproof_spec.base.port import (
    BrokenDownError,
    Judge,
    RefusedError,
    SendingPort,
    judge_outcome,
)
from wheelproof_spec.base.results.tally import Tally
from wheelproof_spec.base.results.violation import Violation
from wheelproof_spec.base.shrinking import ever_smaller, within, without_chunks
from wheelproof_spec.base.suite import CaseSpace, DrawnCase, FuzzPlan, Suite
from wheelproof_spec.drive.driver.counting import starts_a_case
from wheelproof_spec.drive.driver.messages import request_line
from wheelproof_spec.drive.driver.process import DriverFailedError

if TYPE_CHECKING:
    from wheelproof_spec.base.results.fuzz_report import FuzzReport

CASES_AHEAD = 8
"""How many cases are sent ahead: enough to hide the switches between the two processes."""
MOST_ATTEMPTS = 3_000
"""The most smaller cases that shrinking tries before it returns the smallest so far."""

CallT = TypeVar("CallT", bound=Request)
SeenT = TypeVar("SeenT")


@dataclass(frozen=True, slots=True)
class _Failed(Generic[CallT]):
    case: DrawnCase
    calls: Sequence[CallT]
    violation: Violation


def fuzz(
    suite: Suite[CallT, SeenT],
    port: SendingPort[CallT, SeenT],
    profile: str,
    tally: Tally,
    plan: FuzzPlan,
) -> "FuzzReport":
    """Drive random cases of a component, judge by the contract of a profile, shrink a failure."""
    space, judge = suite.drawn(profile, tally)
    name = suite.definition.name.replace("_", " ")
    return run_drawn_cases(f"{name}, driven", space, port, judge, plan)


def run_drawn_cases(
    name: str,
    space: CaseSpace[CallT],
    port: SendingPort[CallT, SeenT],
    judge: Judge[CallT, SeenT],
    plan: FuzzPlan,
) -> "FuzzReport":
    """Drive `plan.cases` cases through `port`; shrink the first case that `judge` refutes."""
    from wheelproof_spec.base.results.fuzz_report import FuzzFailure, FuzzReport

    started = time.monotonic()
    run = _Run(space, port, judge)

    def report(failed: _Failed[CallT] | None, *, shrunk: bool) -> FuzzReport:
        failure = None
        if failed is not None:
            lines = (request_line(number, call) for number, call in enumerate(failed.calls, 1))
            failure = FuzzFailure(
                violation=failed.violation,
                steps=tuple(lines),
                repeat=plan.repeat.format(seed=plan.seed),
                shrunk=shrunk,
            )
        return FuzzReport(
            machine=name,
            seed=plan.seed,
            cases=run.cases,
            steps=run.calls.total(),
            seconds=time.monotonic() - started,
            failure=failure,
            calls=dict(run.calls),
        )

    failed = run.find(plan)
    if failed is not None:
        plan.tell(report(failed, shrunk=False))
        failed = run.shrink(failed, plan)
    return report(failed, shrunk=True)


def smaller_cases(case: DrawnCase) -> Iterator[DrawnCase]:
    """Yield simpler cases: without some steps, then with numbers nearer to 0."""
    for steps in without_chunks(case.steps):
        yield replace(case, steps=steps)
    for place, (kind, numbers) in enumerate(case.steps):
        for lower in _lowered(numbers):
            steps = (*case.steps[:place], (kind, lower), *case.steps[place + 1 :])
            yield replace(case, steps=steps)
    for config in _lowered(case.config):
        yield replace(case, config=config)
    # Two steps may fail only with the same number, so equal numbers are also lowered together.
    for number in sorted({one for _, numbers in case.steps for one in numbers}, key=abs):
        for nearer in _nearer_to_zero(number):
            together = tuple(
                (kind, tuple(nearer if one == number else one for one in numbers))
                for kind, numbers in case.steps
            )
            yield replace(case, steps=together)


@dataclass(frozen=True, slots=True)
class _Sent(Generic[CallT, SeenT]):
    """A case, or a part of one, that has been sent."""

    case: DrawnCase
    calls: Sequence[CallT]
    outcomes: Iterator[SeenT | RefusedError | BrokenDownError]


class _Run(Generic[CallT, SeenT]):
    def __init__(
        self,
        space: CaseSpace[CallT],
        port: SendingPort[CallT, SeenT],
        judge: Judge[CallT, SeenT],
    ) -> None:
        self._space = space
        self._port = port
        self._judge = judge
        self._sent: deque[_Sent[CallT, SeenT]] = deque()
        self._made: list[CallT] = []
        self.cases = 0
        self.calls: Counter[str] = Counter()

    def find(self, plan: FuzzPlan) -> _Failed[CallT] | None:
        """Return the first failing case among `plan.cases` cases; None if all pass."""
        seeds = range(plan.seed, plan.seed + plan.cases)
        drawn = (self._space.draw(random.Random(seed)) for seed in seeds)
        return self._drive(itertools.takewhile(lambda _: not plan.stopped(), drawn))

    def shrink(self, failed: _Failed[CallT], plan: FuzzPlan) -> _Failed[CallT]:
        """Return the smallest case found that breaks the same clause."""
        rule, left = failed.violation.rule, within(MOST_ATTEMPTS, plan.shrink_seconds)

        def failing(case: DrawnCase) -> _Failed[CallT] | None:
            found = self._drive([case])
            return found if found is not None and found.violation.rule == rule else None

        with suppress(DriverFailedError):
            for smaller in ever_smaller(
                failed,
                lambda one: smaller_cases(one.case),
                failing,
                lambda: left() and not plan.stopped(),
            ):
                failed = smaller
        return failed

    def _drive(self, cases: Iterable[DrawnCase]) -> _Failed[CallT] | None:
        """Drive the cases, sent ahead as far as they allow; send nothing after a violation."""
        for case in cases:
            calls: list[CallT] = []
            for call in self._space.calls(case):
                if call is not None:
                    calls.append(call)
                    continue
                self._send(case, calls)
                calls = []
                failed = self._settle(ahead=0)
                if failed is not None:
                    return failed
            self._send(case, calls)
            failed = self._settle(CASES_AHEAD)
            if failed is not None:
                return failed
        return self._settle(ahead=0)

    def _send(self, case: DrawnCase, calls: Sequence[CallT]) -> None:
        self._sent.append(_Sent(case, calls, self._port.perform_all(calls)))

    def _settle(self, ahead: int) -> _Failed[CallT] | None:
        """Judge the answers to all but `ahead` parts; read those after a violation unjudged."""
        failed: _Failed[CallT] | None = None
        try:
            while len(self._sent) > (0 if failed else ahead):
                failed = self._judge_part(self._sent.popleft(), failed)
        except DriverFailedError:
            self._sent.clear()
            if failed is None:
                raise
        return failed

    def _judge_part(
        self, sent: "_Sent[CallT, SeenT]", failed: _Failed[CallT] | None
    ) -> _Failed[CallT] | None:
        for call in sent.calls:
            if starts_a_case(call):
                self.cases += 1
                self._made = []
            self.calls[call.name_on_the_wire()] += 1
            outcome = next(sent.outcomes)
            if failed is None:
                self._made.append(call)
                violation = judge_outcome(self._judge, call, outcome)
                if violation is not None:
                    failed = _Failed(sent.case, tuple(self._made), violation)
        return failed


def _lowered(numbers: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    for place, number in enumerate(numbers):
        for lower in _nearer_to_zero(number):
            yield (*numbers[:place], lower, *numbers[place + 1 :])


def _nearer_to_zero(number: int) -> Sequence[int]:
    """Return candidates nearer to 0, smallest first: 0 to 3, half of it, and one less."""
    size = abs(number)
    sizes = {one for one in (0, 1, 2, 3, size // 2, size - 1) if 0 <= one < size}
    return [one if number > 0 else -one for one in sorted(sizes)]
