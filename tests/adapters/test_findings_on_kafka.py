"""The findings about Kafka's SystemTimer hold on the released classes."""

import json
import re
import subprocess

import pytest

from support.drive.adapters import ADAPTERS, KAFKA

FINDINGS = ADAPTERS.parent / "docs" / "findings.md"


def _documented() -> set[str]:
    """Return the ids of the findings that the document says to be repeated by the adapter."""
    text = FINDINGS.read_text(encoding="utf-8")
    return set(re.findall(r"^\| Confirmed \|.*`ConfirmFindings`: `([a-z-]+)`", text, re.MULTILINE))


@pytest.mark.slow
def test_kafka_still_breaks_what_the_findings_say(kafka: str) -> None:
    completed = subprocess.run(
        [kafka, "ConfirmFindings"], capture_output=True, text=True, check=True
    )
    answers = [json.loads(line) for line in completed.stdout.splitlines()]
    assert {answer["finding"] for answer in answers} == _documented()
    for answer in answers:
        assert answer["confirmed"] is True, answer
        jar = KAFKA / "target" / "lib" / f"kafka-server-common-{answer['version']}.jar"
        assert jar.is_file()


@pytest.mark.slow
@pytest.mark.repeats("end-swallowed", "end-daemon", "end-order")
def test_kafka_ends_as_rules_1_9_1_16_and_2_11_say(kafka: str) -> None:
    completed = subprocess.run(
        [kafka, "ObserveClosing"], capture_output=True, text=True, check=True
    )
    seen = json.loads(completed.stdout)
    # Neither reported nor logged: the next task runs on the same thread. No thread is a daemon.
    assert seen["tasks"] == ["thread executor-observed"] * 2
    closing = ["woken by a task of 0 ms", "closed behind its reaper"]
    assert seen["reaper"] == ["thread observed", *closing]
    assert seen["purgatory"] == ["thread ExpirationReaper-0-observed", *closing]
    assert completed.stderr == ""
