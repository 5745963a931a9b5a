"""Recorded run by run, the reference's purgatory passes, and each known bug is seen."""

import pytest

from support.history.purgatory_worlds import BROKEN, DEADLOCKS, RIGHT
from support.history.recorded_worlds import explored, verdicts_of_a_deadlock
from wheelproof_lab.bugs.known_bug import Sight
from wheelproof_lab.bugs.purgatory import BUGS
from wheelproof_spec.base.results.verdicts import Verdict

pytestmark = pytest.mark.slow

ENOUGH_TO_FIND_IT = 3_000
_RULES = {
    "KAFKA-385": "Purgatory.AttemptsExclude",
    "KAFKA-19312": "Purgatory.AttemptsExclude",
    "left-at-error": "Purgatory.WatchedCountsWatches",
    "timeout-half-added": "Purgatory.DelayedCountsTimeouts",
    "tail-not-tested": "Purgatory.DelayedCountsTimeouts",
}
"""What the others break is that a trigger completes."""


@pytest.mark.parametrize("name", RIGHT)
def test_a_right_purgatory_passes(name: str) -> None:
    found = explored(RIGHT[name], max_runs=60)
    assert found.counterexample is None, found.details()


@pytest.mark.parametrize("bug", BROKEN)
def test_a_known_bug_is_seen(bug: str) -> None:
    found = explored(BROKEN[bug], ENOUGH_TO_FIND_IT)
    assert found.counterexample is not None
    assert _RULES.get(bug, "Purgatory.TriggerCompletes") in found.counterexample.failure.message


@pytest.mark.parametrize("bug", DEADLOCKS)
def test_a_deadlock_is_seen(bug: str) -> None:
    verdicts = verdicts_of_a_deadlock(DEADLOCKS[bug])
    broken = [one.violation for one in verdicts if one.verdict is Verdict.FAIL]
    assert [one.rule for one in broken if one is not None] == ["History.EveryCallReturns"]


def test_all_that_shows_in_recorded_runs_is_shown_here() -> None:
    recorded = {bug.id for bug in BUGS if Sight.RECORDED in bug.seen}
    assert {*BROKEN, *DEADLOCKS} == recorded
