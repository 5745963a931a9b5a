"""Apache Kafka's own ReplicaManager, driven and recorded: its verdict, and the cases of 2.14."""

import json
import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from support.drive.adapters import ADAPTERS, conform
from wheelproof_spec.app.recorded import judge_lines
from wheelproof_spec.base.results.verdicts import Verdict
from wheelproof_spec.components.replication.cases import REPLICATION
from wheelproof_spec.components.replication.component import (
    FetchMessages,
    ReplicationCall,
    ReplicationClause,
)
from wheelproof_spec.drive.driver.messages import request_line
from wheelproof_spec.drive.plan import FUZZED_CASES
from wheelproof_spec.history.checkers import CheckOptions
from wheelproof_spec.history.reader import read_lines

pytestmark = pytest.mark.slow

LIMITS = ADAPTERS / "kafka-broker-java" / "known-limits.txt"
REFERENCE = shlex.join([sys.executable, "-m", "wheelproof_spec.app.reference_driver"])
DEVIATIONS = {
    "a fetch that is fenced by a new epoch of the same leader is told so": (
        ReplicationClause.ANSWERED_WHEN_IT_CAN_BE
    ),
    "a follower at the end of a segment waits for enough of the next one": (
        ReplicationClause.NOT_ANSWERED_BEFORE
    ),
    "a consumer does not wait for more of a segment that the log has left": (
        ReplicationClause.ANSWERED_WHEN_IT_CAN_BE
    ),
}
"""The cases in which Kafka differs from the reference: findings 30 and 31."""


def test_kafka_passes_under_its_own_profile(kafka_broker: str) -> None:
    result = conform(kafka_broker, 60, LIMITS, component="replication", must_fail=True)
    assert result.verdict is Verdict.PASS
    assert all(count.checked > 0 for count in result.clauses if not count.reason)


def test_kafka_breaks_what_the_findings_say_and_nothing_else(kafka_broker: str) -> None:
    result = conform(kafka_broker, 40, LIMITS, "wheelproof", "replication")
    failures = {failure.case: failure.violation.rule for failure in result.failures}
    assert failures.pop(FUZZED_CASES, None) in (None, *DEVIATIONS.values())
    assert failures == DEVIATIONS


def test_kafka_and_the_reference_answer_each_fetch_alike(kafka_broker: str) -> None:
    """Rule 5.2 on Kafka's own DelayedFetch: what is answered, by which call, with what."""
    cases = [case for case in REPLICATION.scenarios() if case.limit is None]
    calls = [call for case in cases if case.name not in DEVIATIONS for call in case.calls]
    assert any(isinstance(call, FetchMessages) and call.replica_id is None for call in calls)
    found = [_fetched(driver, calls) for driver in (kafka_broker, REFERENCE)]
    for call, of_kafka, of_reference in zip(calls, *found, strict=True):
        assert of_kafka == of_reference, call


def test_a_recording_of_kafka_passes(kafka_broker: str, tmp_path: Path) -> None:
    path = tmp_path / "recorded.jsonl"
    options = ["--component", "replication", "--operations", "1000", "--histories", "2"]
    subprocess.run([kafka_broker, "record", *options, "--output", str(path)], check=True)
    result = judge_lines(str(path), read_lines(path), CheckOptions())
    assert not result.rejections
    assert [verdict.verdict for verdict in result.verdicts] == [Verdict.PASS] * 2


def _fetched(driver: str, calls: Sequence[ReplicationCall]) -> list[object]:
    """Return which fetches each call of a driver has answered, and how."""
    hello = '{"id":0,"op":"hello","schema":"wheelproof.driver/1"}'
    lines = [hello, *(request_line(at, call) for at, call in enumerate(calls, 1)), ""]
    words = shlex.split(driver)
    done = subprocess.run(words, input="\n".join(lines), capture_output=True, text=True, check=True)
    return [json.loads(line).get("ok", {}).get("fetched") for line in done.stdout.splitlines()[1:]]
