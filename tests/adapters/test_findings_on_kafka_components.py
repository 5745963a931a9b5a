"""The findings about the purgatory and the producer on the released classes, with their threads."""

import json
import subprocess
from typing import NamedTuple

import pytest

# What the models say and Kafka does not do: its walks drop what is completed without its lock.
REFUTED = {"callbacks-deadlock", "callbacks-deadlock-queued"}

FINDINGS = {
    "ConfirmBrokerRuns": {"epoch-blind-acknowledgement"},
    "ConfirmPurgatoryRuns": {
        "timeout-half-added",
        "estimate-overwritten",
        "expires-after-cancel-added",
        "expires-after-cancel-submitted",
        "completes-after-cancel",
        "stays-after-cancel",
        "cancelled-though-completed",
        "stop-at-error",
        "left-at-error",
        "watched-after-shutdown",
        "reaper-ends-at-error",
        "exclusive-expiry",
        "expiry-callback-deadlock",
        *REFUTED,
    },
    "ConfirmProducerRuns": {
        "barging",
        "barging-starves",
        "narrow-free-list",
        "given-back-twice",
        "negative-size",
        "queued-first",
        "unordered-abort",
        "unordered-forced-close",
        "late-behind-a-retry",
        "late-behind-a-retry-in-flight",
        "callback-throws-an-error",
        "split-into-itself",
    },
}


class Answer(NamedTuple):
    """One line of a program."""

    finding: str
    confirmed: bool
    observed: str
    version: str


@pytest.mark.slow
@pytest.mark.parametrize("program", FINDINGS)
def test_kafka_does_what_the_findings_say(program: str, kafka: str, kafka_broker: str) -> None:
    adapter = kafka_broker if program == "ConfirmBrokerRuns" else kafka
    completed = subprocess.run([adapter, program], capture_output=True, text=True, check=True)
    answers = [Answer(**json.loads(line)) for line in completed.stdout.splitlines()]
    assert {answer.finding for answer in answers} == FINDINGS[program]
    for answer in answers:
        assert answer.confirmed is (answer.finding not in REFUTED), answer
