"""Apache Kafka's own DelayedOperationPurgatory, driven: its verdict, and where it differs."""

import pytest

from support.drive.adapters import conform
from wheelproof_spec.base.results.verdicts import Verdict
from wheelproof_spec.components.purgatory.component import PurgatoryClause
from wheelproof_spec.drive.plan import FUZZED_CASES

pytestmark = pytest.mark.slow


def test_kafka_passes_under_its_own_profile(kafka: str) -> None:
    result = conform(kafka, 150, profile="kafka", component="purgatory")
    assert result.verdict is Verdict.PASS
    assert all(count.checked > 0 for count in result.clauses)


def test_kafka_breaks_what_the_findings_say_and_nothing_else(kafka: str) -> None:
    result = conform(kafka, 100, profile="wheelproof", component="purgatory")
    failures = {failure.case: failure.violation.rule for failure in result.failures}
    assert failures.pop(FUZZED_CASES) in (
        PurgatoryClause.CANCELS_WHO_WAITS,
        PurgatoryClause.WATCHED_COUNTS,
    )
    assert failures == {
        "operations that expire together do not stay in the lists": PurgatoryClause.WATCHED_COUNTS,
        "an operation that is cancelled under one of its keys does not expire": (
            PurgatoryClause.WATCHED_COUNTS
        ),
    }
