"""One thread drives random cases of a component through a port, and each call is judged.

The cases are those of `wheelproof conform`: the reference and each known bug get the same calls as
an implementation under test.
"""

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Generic, TypeVar, Unpack

from wheelproof_spec.base.component import Request
from wheelproof_spec.base.port import BrokenDownError, Port, RefusedError, outcome_of
from wheelproof_spec.base.results.fuzz_report import FuzzReport
from wheelproof_spec.base.results.tally import Tally
from wheelproof_spec.base.suite import FuzzPlan, Suite
from wheelproof_spec.drive.drawn_cases import fuzz
from wheelproof_spec.fuzz.drawing import current_drawing
from wheelproof_spec.fuzz.order import Batch
from wheelproof_spec.fuzz.patience import current_patience

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
    *,
    tally: Tally | None = None,
    **batch: Unpack[Batch],
) -> FuzzReport:
    """Drive `port` through `cases` random cases and judge it by `profile`.

    Each case has its own seed, one more than that of the case before. With `seconds`, batches of
    `cases` are run until that time is over. `repeat` is the command that repeats a batch, with
    `{seed}` in it. `progress` gets a report after each batch, and one of a failure as soon as it is
    found.
    """
    started, patience = time.monotonic(), current_patience()
    seed, seconds, progress = batch["seed"], batch.get("seconds"), batch.get("progress")
    cases = steps = 0
    calls = Counter[str]()

    def report(found: FuzzReport) -> FuzzReport:
        whole = replace(
            found,
            machine=f"{suite.definition.name}, sequential",
            seed=seed,
            cases=cases + found.cases,
            steps=steps + found.steps,
            seconds=time.monotonic() - started,
            calls=calls + Counter(found.calls),
            interrupted=patience.stopped(),
        )
        if progress is not None:
            progress(whole)
        return whole

    plan = FuzzPlan(
        cases=batch["cases"],
        seed=seed,
        repeat=batch.get("repeat", ""),
        shrink_seconds=patience.shrink_seconds if current_drawing().shrinks else 0,
        stopped=patience.stopped,
        tell=report,
    )
    while True:
        done = report(fuzz(suite, InProcess(port), profile, tally or Tally(), plan))
        over = seconds is None or done.seconds >= seconds
        if done.failure is not None or done.interrupted or over:
            return done
        cases, steps, calls = done.cases, done.steps, Counter(done.calls)
        plan = replace(plan, seed=plan.seed + plan.cases)
