"""One thread through random cases: batches, what is told of them, and calls that break down."""

import pytest

from wheelproof_spec.base.results.fuzz_report import FuzzReport
from wheelproof_spec.base.suite import FuzzPlan
from wheelproof_spec.components.purgatory.cases import PURGATORY
from wheelproof_spec.components.purgatory.component import (
    WHEELPROOF,
    ForceComplete,
    PurgatoryCall,
    PurgatoryObservation,
)
from wheelproof_spec.components.purgatory.reference import ReferencePurgatoryPort
from wheelproof_spec.fuzz.one_thread import fuzz_with_one_thread


class _BreaksDown(ReferencePurgatoryPort):
    def perform(self, call: PurgatoryCall) -> PurgatoryObservation:
        if isinstance(call, ForceComplete):
            raise ValueError("no operation is forced here")
        return super().perform(call)


def test_an_error_that_is_no_refusal_is_a_failure() -> None:
    report = fuzz_with_one_thread(PURGATORY, _BreaksDown(), WHEELPROOF, FuzzPlan(cases=50, seed=1))
    assert report.failure is not None
    assert report.failure.violation.rule == "EveryCallReturns"
    assert "ValueError: no operation is forced here" in report.failure.violation.observed
    assert len(report.failure.steps) == 3


@pytest.mark.parametrize("shrinks", [True, False])
def test_a_failure_is_told_of_before_it_is_made_smaller(*, shrinks: bool) -> None:
    told: list[FuzzReport] = []
    plan = FuzzPlan(cases=50, seed=1, tell=told.append, shrink_seconds=60 if shrinks else 0)
    done = fuzz_with_one_thread(PURGATORY, _BreaksDown(), WHEELPROOF, plan)
    first, last = (one.failure for one in told)
    assert first is not None
    assert last == done.failure
    assert not first.shrunk
    assert last is not None
    assert (len(last.steps) < len(first.steps)) is shrinks


def test_batches_go_on_behind_the_cases_before() -> None:
    told: list[FuzzReport] = []
    port = ReferencePurgatoryPort()
    plan = FuzzPlan(cases=5, seed=3, seconds=1e-9, tell=told.append)
    done = fuzz_with_one_thread(PURGATORY, port, WHEELPROOF, plan)
    assert [one.cases for one in told] == [5] == [done.cases]
    alone = [
        fuzz_with_one_thread(PURGATORY, port, WHEELPROOF, FuzzPlan(cases=1, seed=seed))
        for seed in range(3, 8)
    ]
    assert done.steps == sum(one.steps for one in alone)
