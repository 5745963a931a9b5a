"""One thread drives random cases of a component through a port, and each call is judged.

The cases are those of `wheelproof conform`: the reference and each known bug get the same calls as
an implementation under test.
"""

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Generic, TypeVar

from wheelproof_spec.base.component import Request
from wheelproof_spec.base.port import BrokenDownError, Port, RefusedError, outcome_of
from wheelproof_spec.base.results.fuzz_report import FuzzReport
from wheelproof_spec.base.results.tally import Tally
from wheelproof_spec.base.suite import FuzzPlan, Suite
from wheelproof_spec.drive.drawn_cases import fuzz

Call = TypeVar("Call", bound=Request)
Seen = TypeVar("Seen")


class InProcess(Generic[Call, Seen]):
    """A sending port in this process: each call is made when its outcome is read."""

    def __init__(self, port: Port[Call, Seen]) -> None:
        self._port = port

    def perform(self, call: Call) -> Seen:
        """Make `call`; see `Port.perform`."""
        return self._port.perform(call)

    def perform_all(self, calls: Sequence[Call]) -> Iterator[Seen | RefusedError | BrokenDownError]:
        """Make the calls; see `SendingPort.perform_all`. Other exceptions are a breakdown."""
        for call in calls:
            try:
                yield outcome_of(self._port, call)
            except Exception as error:
                yield BrokenDownError("EveryCallReturns", f"{type(error).__name__}: {error}")


def fuzz_with_one_thread(
    suite: Suite[Call, Seen],
    port: Port[Call, Seen],
    profile: str,
    plan: FuzzPlan,
    *,
    tally: Tally | None = None,
) -> FuzzReport:
    """Drive `port` through random cases and judge it by `profile`.

    Each case has its own seed, one more than that of the case before.
    """
    started = time.monotonic()
    cases = steps = 0
    calls = Counter[str]()

    def report(found: FuzzReport) -> FuzzReport:
        whole = replace(
            found,
            machine=f"{suite.definition.name}, sequential",
            seed=plan.seed,
            cases=cases + found.cases,
            steps=steps + found.steps,
            seconds=time.monotonic() - started,
            calls=calls + Counter(found.calls),
            interrupted=plan.stopped(),
        )
        plan.tell(whole)
        return whole

    batch = replace(plan, tell=report)
    while True:
        done = report(fuzz(suite, InProcess(port), profile, tally or Tally(), batch))
        over = plan.seconds is None or done.seconds >= plan.seconds
        if done.failure is not None or done.interrupted or over:
            return done
        cases, steps, calls = done.cases, done.steps, Counter(done.calls)
        batch = replace(batch, seed=batch.seed + batch.cases)
