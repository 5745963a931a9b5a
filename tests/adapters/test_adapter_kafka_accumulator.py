"""Apache Kafka's own RecordAccumulator, driven: its verdict, and where it differs."""

import pytest

from support.drive.adapters import KAFKA, conform
from wheelproof_spec.base.results.verdicts import Verdict
from wheelproof_spec.components.accumulator.component import AccumulatorClause, AccumulatorLimit
from wheelproof_spec.drive.plan import FUZZED_CASES

pytestmark = pytest.mark.slow

LIMITS = KAFKA / "known-limits-accumulator.txt"
EXPIRED = "batches expire, in a muted partition too"
ABORTED = "an abort runs all callbacks and leaves nothing"


def test_kafka_passes_under_its_own_profile(kafka: str) -> None:
    result = conform(kafka, 80, LIMITS, "kafka", "accumulator", must_fail=True)
    assert result.verdict is Verdict.PASS
    judged = [count for count in result.clauses if count.clause in tuple(AccumulatorClause)]
    assert all(count.checked > 0 for count in judged)


def test_callbacks_of_what_expires_or_is_aborted_run_in_another_order(kafka: str) -> None:
    result = conform(kafka, 5, LIMITS, "wheelproof", "accumulator")
    failures = {failure.case: failure.violation.rule for failure in result.failures}
    # An abort goes through a set whose order is that of the machine's memory.
    assert {EXPIRED} <= set(failures) <= {EXPIRED, ABORTED, FUZZED_CASES}
    assert set(failures.values()) == {AccumulatorClause.IN_ORDER}


def test_the_accumulator_takes_a_batch_of_one_record_to_split(kafka: str) -> None:
    result = conform(kafka, 1, profile="kafka", component="accumulator")
    assert [failure.violation.rule for failure in result.failures] == [
        AccumulatorClause.KEEPS_TO_ITS_DOMAIN
    ]
    limits = [count for count in result.clauses if count.clause == AccumulatorLimit.SPLIT_OF_ONE]
    assert limits == []
