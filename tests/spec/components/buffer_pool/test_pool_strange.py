"""A pool that can do little passes within that, and fails within that."""

import shlex
import sys
from pathlib import Path

import pytest

from support.checkout import ROOT
from wheelproof_spec.base.results.verdicts import Verdict
from wheelproof_spec.components.buffer_pool.cases import SUITE
from wheelproof_spec.components.buffer_pool.component import PoolCapability, PoolClause, PoolLimit
from wheelproof_spec.drive.conformance import conform
from wheelproof_spec.drive.plan import FUZZED_CASES, ConformancePlan
from wheelproof_spec.drive.result import ConformanceResult
from wheelproof_spec.drive.text import render

_SMALL_POOL = ROOT / "tests" / "support" / "drive" / "small_pool.py"


def _driven(behaviour: str, skip: Path | None = None) -> ConformanceResult:
    driver = shlex.join([sys.executable, str(_SMALL_POOL), behaviour])
    plan = ConformancePlan(driver=driver, cases=20, skip=skip, must_fail=skip is not None)
    return conform(SUITE, plan)


def test_a_small_pool_that_is_right_passes_and_the_rest_is_counted() -> None:
    result = _driven("right")
    assert result.verdict is Verdict.PASS
    left_out = {case.case for case in result.not_applicable}
    assert "close wakes everyone; buffers still come back" in left_out
    assert "more than the total is refused, the total is not" in left_out
    skipped = {count.clause: count.skipped for count in result.clauses if count.undeclared}
    assert skipped.keys() == set(PoolCapability)
    assert all(skipped.values())
    assert f"{len(left_out)} named cases not applicable" in render(result)


@pytest.mark.parametrize(
    ("behaviour", "clause"),
    [("forgets", PoolClause.NO_LOST_WAKE_UP), ("late", PoolClause.WAIT_IS_BOUNDED)],
)
def test_a_small_pool_that_is_wrong_fails(behaviour: str, clause: PoolClause) -> None:
    result = _driven(behaviour)
    assert {failure.violation.rule for failure in result.failures} == {clause}


def test_a_small_pool_that_dies_is_an_error_and_every_case_has_its_result() -> None:
    result = _driven("dies")
    assert result.verdict is Verdict.ERROR
    assert {trouble.case for trouble in result.troubles} == {FUZZED_CASES}
    reported = {case.name for case in result.results}
    left_out = {case.case for case in result.not_applicable}
    assert reported | left_out == {FUZZED_CASES, *(one.name for one in SUITE.scenarios())}


@pytest.mark.parametrize(
    ("behaviour", "failures", "troubles"), [("right", 0, 0), ("forgets", 1, 0), ("dies", 0, 1)]
)
def test_a_run_may_end_at_its_first_failure(behaviour: str, failures: int, troubles: int) -> None:
    driver = shlex.join([sys.executable, str(_SMALL_POOL), behaviour])
    result = conform(SUITE, ConformancePlan(driver=driver, cases=20, first_failure=True))
    assert (len(result.failures), len(result.troubles)) == (failures, troubles)
    assert (result.verdict is Verdict.PASS) is (behaviour == "right")


def test_a_limit_of_what_is_never_asked_is_neither_needed_nor_stale(tmp_path: Path) -> None:
    skip = tmp_path / "known.txt"
    skip.write_text(f"{PoolLimit.SIZE_OUTSIDE}  one size alone\n", encoding="utf-8")
    result = _driven("right", skip)
    assert result.verdict is Verdict.INCONCLUSIVE
    assert "known.txt:1: not tried: no case that the driver can be asked needs" in (
        result.results[-1].summary
    )


def test_a_size_outside_the_pool_is_a_limit_of_every_case_that_asks_for_one() -> None:
    about = {
        scenario.name
        for scenario in SUITE.scenarios()
        if PoolLimit.SIZE_OUTSIDE in SUITE.needs_of(scenario)
    }
    assert about == {
        "more than the total is refused, the total is not",
        "sizes that a pool can never lend are refused",
    }
