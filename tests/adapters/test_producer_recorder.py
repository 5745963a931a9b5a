"""Kafka's own producer, with a real broker, recorded by the agent that its users add.

What the recorder shows is judged as an accumulator's history: callbacks, offsets, flushes, the
close. Drains and looks for ready nodes are inside the producer, and nobody judges them.
"""

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import pytest

from support.drive.real_broker import producer_program
from wheelproof_spec.app.recorded import judge_lines
from wheelproof_spec.base.results.run_verdict import RunVerdict
from wheelproof_spec.base.results.verdicts import Verdict
from wheelproof_spec.components.accumulator.component import KAFKA, WHEELPROOF, AccumulatorClause
from wheelproof_spec.history.checkers import CheckOptions
from wheelproof_spec.history.reader import read_lines

pytestmark = pytest.mark.long

# The broker is ended in `stopped`.
SCENARIOS = (
    "healthy",
    "healthy twice",
    "healthy offset",
    "healthy lost",
    "slow",
    "forced",
    "left",
    "stopped",
)
INSIDE_THE_PRODUCER = {
    AccumulatorClause.DRAINS_THE_HEADS,
    AccumulatorClause.DRAIN_IS_FAIR,
    AccumulatorClause.READY_TELLS_THE_TRUTH,
    AccumulatorClause.NAMES_TOPICS,
    AccumulatorClause.CHECKS_AGAIN_IN_TIME,
    AccumulatorClause.FLUSH_ENDS,
    AccumulatorClause.NOTHING_IS_LEFT,
}


@pytest.fixture(scope="module")
def recordings(
    kafka_producer: str, kafka_broker: str, tmp_path_factory: pytest.TempPathFactory
) -> Mapping[str, Path]:
    """Return the recording of each scenario."""
    assert kafka_producer
    assert kafka_broker
    found: dict[str, Path] = {}
    folder = tmp_path_factory.mktemp("producer")
    with producer_program(folder) as program:
        for scenario in SCENARIOS:
            for path in program.run(scenario):
                found[scenario] = path
        program.end()
        (found["left"],) = set(program.recordings.iterdir()) - set(found.values())
    return found


def _verdict(path: Path, profile: str = KAFKA) -> RunVerdict:
    result = judge_lines(str(path), read_lines(path), CheckOptions(profile=profile))
    assert not result.rejections
    (verdict,) = result.verdicts
    return verdict


def _outcomes(path: Path) -> Counter[str]:
    """Count the errors of a recording: of callbacks and of calls."""
    found: Counter[str] = Counter()
    for line in path.read_text(encoding="utf-8").splitlines():
        fields = json.loads(line)
        if fields["kind"] == "op":
            error = fields.get("error") or fields["value"].get("error")
            found[str(error)] += 1
    return found


@pytest.mark.parametrize("scenario", ["healthy", "slow", "forced", "stopped"])
def test_the_real_producer_passes(recordings: Mapping[str, Path], scenario: str) -> None:
    verdict = _verdict(recordings[scenario])
    assert verdict.verdict is Verdict.PASS, verdict
    never = {name for name, count in verdict.checked.items() if not count}
    assert never >= INSIDE_THE_PRODUCER
    seen = {
        AccumulatorClause.COMPLETES_ONCE,
        AccumulatorClause.IN_ORDER,
        AccumulatorClause.RIGHT_OUTCOME,
        AccumulatorClause.FLUSH_WAITS,
    }
    assert not never & seen
    assert any("no drain shows their batch" in note for note in verdict.notes)
    assert not any("clock_resolution_ns" in note for note in verdict.notes)


def test_scenarios_are_what_their_names_say(recordings: Mapping[str, Path]) -> None:
    assert set(_outcomes(recordings["healthy"])) == {"None"}
    assert set(_outcomes(recordings["slow"])) == {"None"}
    # What was in flight may be told that the connection was lost.
    assert _outcomes(recordings["stopped"])["Expired"] > 0
    forced = _outcomes(recordings["forced"])
    assert forced["Aborted"] > 0
    assert forced["Closed"] > 1
    assert set(forced) == {"None", "Aborted", "Closed"}


@pytest.mark.parametrize(
    ("fault", "rule"),
    [
        ("twice", AccumulatorClause.COMPLETES_ONCE),
        ("offset", AccumulatorClause.RIGHT_OUTCOME),
        ("lost", AccumulatorClause.COMPLETES_ONCE),
    ],
)
def test_a_defect_planted_in_the_producer_fails(
    recordings: Mapping[str, Path], fault: str, rule: AccumulatorClause
) -> None:
    verdict = _verdict(recordings[f"healthy {fault}"])
    assert verdict.verdict is Verdict.FAIL
    assert verdict.violation is not None
    also = {one.violation.rule for one in verdict.also_broken}
    assert rule in {verdict.violation.rule, *also}


def test_callbacks_of_a_forced_close_have_no_order(recordings: Mapping[str, Path]) -> None:
    """As in docs/findings.md; there are 64 batches, so that it is no luck to see it."""
    verdict = _verdict(recordings["forced"], WHEELPROOF)
    assert verdict.verdict is Verdict.FAIL
    assert verdict.violation is not None
    assert verdict.violation.rule == AccumulatorClause.IN_ORDER


def test_a_producer_that_is_never_closed_does_not_pass(recordings: Mapping[str, Path]) -> None:
    verdict = _verdict(recordings["left"])
    assert verdict.verdict is Verdict.INCONCLUSIVE
    assert verdict.violation is None
