"""`wheelproof bugs` and `wheelproof mutate`, end to end: a selection of both, in seconds."""

import json
from pathlib import Path

import pytest

from wheelproof_spec.app.cli import main

_POOL = "wheelproof.producer.buffer_pool.BufferPool"


@pytest.mark.slow
def test_engines_see_known_bugs_and_leave_the_reference_alone(tmp_path: Path) -> None:
    report, page = tmp_path / "report.json", tmp_path / "page.html"
    engines = ("model checker", "driven", "proof")
    words = [word for engine in engines for word in ("--engine", engine)]
    words += ["--seconds", "3", "--json", str(report), "--html", str(page), "--quiet"]
    assert main(["bugs", "KAFKA-3651", "KAFKA-8334", *words]) == 0
    cells = json.loads(report.read_text())["cells"]
    ends = {(one["cell"]["subject"], one["cell"]["engine"]): one["found"]["end"] for one in cells}
    assert ends == {
        ("KAFKA-3651", "model checker"): "found",
        ("KAFKA-3651", "driven"): "found",
        ("KAFKA-3651", "proof"): "found",
        ("KAFKA-8334", "model checker"): "found",
        ("KAFKA-8334", "driven"): "clean",
        ("KAFKA-8334", "proof"): "found",
    }
    assert "BufferPool.WaitersAreLiveThreads" in page.read_text()
    controls = ["bugs", "reference", "--engine", "model checker", "--seconds", "1"]
    assert main([*controls, "--controls", "1", "--quiet"]) == 0


@pytest.mark.slow
def test_mutants_are_killed_by_engines(tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    pattern = f"{_POOL}.close/deletion/*"
    assert main(["mutate", pattern, "--json", str(report), "--quiet"]) == 0
    checks = json.loads(report.read_text())["checks"]
    assert [check["summary"] for check in checks] == ["killed by driven, found"] * 2


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["bugs", "KAFKA-1"], "KAFKA-1"),
        (["bugs", "--engine", "luck"], "luck"),
        (["mutate", "no.such.mutant"], "no.such.mutant"),
    ],
)
def test_what_there_is_not_is_refused(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 2
    assert message in capsys.readouterr().err


@pytest.mark.slow
def test_a_mutant_of_a_module_breaks_a_property_or_a_pin(tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    words = ["mutate", "--tla", "tla:FifoAllocator.GiveBack/*", "--seconds", "60"]
    main([*words, "--json", str(report), "--quiet"])
    summaries = {
        check["name"].partition("/")[2]: check["summary"]
        for check in json.loads(report.read_text())["checks"]
    }
    assert summaries["boundary/1"] == "killed by TLC, pin"
    assert summaries["constant/1"] == "killed by TLC, found"
