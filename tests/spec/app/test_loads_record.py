"""What is recorded under load is well-formed, is judged, and passes; bad usage is refused.

tests/verdict_page records the components that are missing here, and Netty's wheel.
"""

import json
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from wheelproof_spec.app.cli import main
from wheelproof_spec.app.recorded import (
    judge_lines,
)
from wheelproof_spec.base.results.verdicts import ExitCode, Verdict
from wheelproof_spec.history.reader import read_lines
from wheelproof_spec.history.recording.callers import Callers, LoadFailedError

OPTIONS = ("--threads", "4", "--operations", "400", "--histories", "2", "--seed", "5")


def _passes(path: Path) -> None:
    result = judge_lines(str(path), read_lines(path))
    assert result.rejections == []
    assert [one.violation for one in result.verdicts] == [None, None]
    assert {one.verdict for one in result.verdicts} == {Verdict.PASS}
    lines = [json.loads(line) for line in path.read_bytes().splitlines()]
    callers = Counter(
        history
        for history, process in {(one["history"], one.get("process", "")) for one in lines}
        if process.startswith("caller")
    )
    assert list(callers.values()) == [4, 4]
    assert [line["quiet"] for line in lines if line["kind"] == "end"] == [True, True]
    kinds = Counter(line.get("type") for line in lines)
    assert kinds["ok"] >= 2 * 400 - kinds["fail"]
    assert not kinds["info"]


@pytest.mark.slow
@pytest.mark.parametrize("component", ["timer", "purgatory", "buffer_pool"])
def test_the_reference_under_load_has_good_histories(component: str, tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    assert main(["record", "--component", component, "--output", str(path), *OPTIONS]) == 0
    _passes(path)
    notes = [
        note for one in judge_lines(str(path), read_lines(path)).verdicts for note in one.notes
    ]
    assert not any("clock_resolution_ns" in note for note in notes)


@pytest.mark.slow
@pytest.mark.parametrize("component", ["purgatory", "accumulator"])
def test_kafka_under_load_has_good_histories(component: str, kafka: str, tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    command = [kafka, "record", "--component", component, "--output", str(path), *OPTIONS]
    subprocess.run(command, check=True, capture_output=True)
    _passes(path)


@pytest.mark.slow
@pytest.mark.parametrize("component", ["buffer_pool", "accumulator", "replication"])
def test_kafka_does_the_work_of_a_load(
    component: str, kafka: str, kafka_broker: str, tmp_path: Path
) -> None:
    path = tmp_path / "history.jsonl"
    driver = f"{kafka_broker if component == 'replication' else kafka} load {component}"
    words = ["load", "--component", component, "--driver", driver, "--output", str(path)]
    assert main([*words, *OPTIONS]) == ExitCode.PASS
    _passes(path)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("--component", "timer"), "--output is missing"),
        (("--component", "wheel", "--output", "x"), "--component is one of accumulator"),
        (("--component", "timer", "--output", "x", "--threads", "no"), "--threads cannot be no"),
        (("--component", "timer", "--output", "x", "--thread", "1"), "there is no option"),
        (("--component",), "expected --option value"),
    ],
    ids=lambda one: one if isinstance(one, str) else "-".join(one),
)
def test_kafka_recorder_refuses_bad_usage(
    kafka: str, words: tuple[str, ...], complaint: str, tmp_path: Path
) -> None:
    completed = subprocess.run(
        [kafka, "record", *words], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert completed.returncode == ExitCode.USAGE
    assert complaint in completed.stderr
    assert list(tmp_path.iterdir()) == []


def test_record_refuses_bad_numbers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for number in ("0", "100000"):
        words = ("--output", str(tmp_path / "x"), "--threads", number)
        with pytest.raises(SystemExit, match="2"):
            main(["record", "--component", "timer", *words])
        assert f"{number!r} is no number from 1 to 1,000" in capsys.readouterr().err


def test_a_caller_that_fails_stops_all_of_them() -> None:
    acts = Counter[int]()

    def act(dice: object, caller: int) -> None:
        del dice
        acts[caller] += 1
        if caller == 1:
            raise ValueError("as the test wants it")

    with pytest.raises(LoadFailedError, match="as the test wants it"):
        Callers(threads=2, operations=1_000_000, seed=1, number=0).act(act)
    assert acts[1] == 1
