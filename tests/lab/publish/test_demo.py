"""The demo: what it records gets the verdicts that it has to, and those of `wheelproof check`."""

import json
import sys
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from support.pipeline.recorded_fleet import check, shown, shown_by_check
from wheelproof_lab.publish.demo.job import DemoJob, DemoResult, demo
from wheelproof_lab.publish.demo.plan import demo_plan
from wheelproof_lab.publish.demo.programs import run_programs
from wheelproof_lab.publish.demo.recording import BUG, record_known_bug
from wheelproof_spark.base.errors import PipelineError
from wheelproof_spark.base.options import Workers
from wheelproof_spark.check.job import CheckJob
from wheelproof_spark.check.job import check as run_pipeline
from wheelproof_spark.tables.rows import read_rows
from wheelproof_spec.base.errors import MissingToolError, UsageError
from wheelproof_spec.base.results.verdicts import Verdict
from wheelproof_spec.history.checkers import CheckOptions

_FEW_RUNS = 60


@pytest.fixture(scope="module")
def demonstrated(
    spark: SparkSession, kafka: str, tmp_path_factory: pytest.TempPathFactory
) -> DemoResult:
    del spark, kafka
    folder = tmp_path_factory.mktemp("demo")
    job = DemoJob(output=folder, seed=3, runs=_FEW_RUNS, workers=Workers(partitions=2))
    return demo(job, lambda _: None)


@pytest.mark.slow
@pytest.mark.long
def test_everybody_gets_the_verdicts_that_have_to_be(demonstrated: DemoResult) -> None:
    assert {result.verdict for result in demonstrated.results} == {Verdict.PASS}
    names = " ".join(result.name for result in demonstrated.results)
    for subject in ("kafka-clients", "reference: timer, trace", f"{BUG.id}: timer"):
        assert subject in names
    assert demonstrated.manifest.counts.failed == _FEW_RUNS // 10
    assert BUG.id in demonstrated.page.read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.long
def test_kafkas_runs_get_the_verdicts_of_check(demonstrated: DemoResult, tmp_path: Path) -> None:
    recorded = Path(demonstrated.manifest.input)
    source, output = tmp_path / "in", tmp_path / "out"
    source.mkdir()
    for path in recorded.glob("kafka-*.jsonl"):
        (source / path.name).write_bytes(path.read_bytes())
        (source / f"spoiled-{path.name}").write_text(_spoiled(path), encoding="utf-8")
    manifest = run_pipeline(
        CheckJob(input=source, output=output, options=CheckOptions(), workers=Workers(partitions=2))
    )
    rows = read_rows(output / manifest.tables["verdicts"])
    assert shown(rows) == shown_by_check(source.iterdir())
    assert manifest.counts.failed > 4
    assert manifest.counts.passed >= manifest.counts.runs // 2


def _spoiled(path: Path) -> str:
    """Return the histories with an answer of each replaced by one that was there before."""
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    seen: dict[tuple[str, str], object] = {}
    spoiled: set[str] = set()
    for line in lines:
        history, kind = str(line["history"]), line["kind"]
        line["history"] = f"spoiled-{history}"
        if kind != "op" or line["type"] != "ok" or not line.get("value"):
            continue
        sort = (history, line["f"])
        if sort in seen and history not in spoiled and line["value"] != seen[sort]:
            line["value"] = seen[sort]
            spoiled.add(history)
        seen.setdefault(sort, line["value"])
    return "".join(json.dumps(line) + "\n" for line in lines)


def test_a_demo_leaves_alone_what_is_not_its_own(tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    mine = tmp_path / "runs" / "mine.jsonl"
    mine.write_text("{}", encoding="utf-8")
    job = DemoJob(output=tmp_path, seed=1, runs=1)
    with pytest.raises(UsageError, match="no demo has made it; name another folder"):
        demo(job, lambda _: None)
    assert mine.read_text(encoding="utf-8") == "{}"


def test_a_demo_that_was_cut_off_is_begun_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("wheelproof_lab.publish.demo.plan.built_adapter", lambda: None)
    monkeypatch.setattr("wheelproof_lab.publish.demo.job.run_programs", _cut_off)
    monkeypatch.delenv("CI", raising=False)
    job = DemoJob(output=tmp_path, seed=1, runs=1)
    for _ in range(2):
        with pytest.raises(PipelineError, match="cut off"):
            demo(job, lambda _: None)
        (tmp_path / "runs" / "reference-timer.jsonl").touch()


def _cut_off(*_: object) -> None:
    raise PipelineError("cut off")


def test_every_run_of_the_known_bug_fails(tmp_path: Path) -> None:
    path = tmp_path / "bug.jsonl"
    record_known_bug(str(path), 30, 4)
    verdicts = check(path).verdicts
    assert [run.verdict for run in verdicts] == [Verdict.FAIL] * 30


def test_without_the_adapter_it_goes_on_but_not_in_ci(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("wheelproof_lab.publish.demo.plan.built_adapter", lambda: None)
    monkeypatch.delenv("CI", raising=False)
    plan = demo_plan(tmp_path, 100, 1)
    assert "has not been built" in plan.left_out
    assert not any("kafka" in recording.what for recording in plan.recordings)
    monkeypatch.setenv("CI", "true")
    with pytest.raises(MissingToolError):
        demo_plan(tmp_path, 100, 1)


def test_a_program_that_fails_ends_the_others() -> None:
    waits = [sys.executable, "-c", "import signal; signal.pause()"]
    fails = [sys.executable, "-c", "import sys; sys.exit('no room')"]
    with pytest.raises(PipelineError, match="exit code 1: no room"):
        run_programs([("a", waits), ("b", fails), ("c", waits)], 2, lambda _: None)
