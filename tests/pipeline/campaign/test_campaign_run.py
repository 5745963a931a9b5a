"""The campaign on Spark: the same failures however it is spread, and nothing done twice."""

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from wheelproof_spark.base.options import Workers
from wheelproof_spark.campaign.job import CampaignJob
from wheelproof_spark.campaign.job import campaign as run_campaign
from wheelproof_spark.campaign.ledger import ROWS, CampaignManifest, load, text_of
from wheelproof_spark.campaign.targets import selected_targets
from wheelproof_spark.tables.plan import Move, Plan
from wheelproof_spark.tables.rows import read_rows
from wheelproof_spark.tables.store import Store
from wheelproof_spec.base.errors import UsageError
from wheelproof_spec.base.results.verdicts import ExitCode

pytestmark = pytest.mark.long

_TARGETS = (
    "fuzz/timer/none",
    "fuzz/timer/none/KAFKA-2226/no-cancelled-test",
    "explore/bug/poll-outside-lock",
)
_PROGRAM_NAME = (sys.executable, "-m", "wheelproof_spec.app.cli")
_LAST_SEED = 19
_SEEDS = len(_TARGETS) * (_LAST_SEED + 1)


def _job(output: Path, *, last: int = _LAST_SEED, partitions: int = 3) -> CampaignJob:
    targets = selected_targets(_TARGETS, [])
    workers = Workers(partitions=partitions)
    return CampaignJob(targets=targets, seeds=(0, last), output=output, workers=workers)


def _rows(output: Path) -> list[str]:
    return sorted(json.dumps(row, default=str) for row in read_rows(output / ROWS))


def _failures(manifest: CampaignManifest) -> set[tuple[str, str, int, int]]:
    return {
        (failure.target, failure.rule, failure.seed, failure.seeds) for failure in manifest.failures
    }


@pytest.fixture(scope="module")
def output(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    del spark
    folder = tmp_path_factory.mktemp("campaign") / "out"
    run_campaign(_job(folder), lambda _: None)
    return folder


def _manifest(output: Path) -> CampaignManifest:
    manifest = load(Plan(output))
    assert manifest is not None
    return manifest


def test_the_counts_add_up(output: Path) -> None:
    manifest = _manifest(output)
    counts = manifest.counts()
    assert (counts.seeds, counts.done, counts.failed_to_run) == (_SEEDS, _SEEDS, 0)
    assert len(_rows(output)) == _SEEDS == sum(wave.seeds for wave in manifest.waves)
    assert not manifest.targets[_TARGETS[0]].failed
    assert manifest.targets[_TARGETS[0]].calls["advance"] > 0
    assert {name for name, entry in manifest.targets.items() if entry.failed} == {*_TARGETS[1:]}


def test_a_failing_seed_fails_alone_and_is_small(output: Path) -> None:
    for failure in _manifest(output).failures:
        command = [*_PROGRAM_NAME, *failure.repeat.split()[1:]]
        completed = subprocess.run(command, capture_output=True, text=True, check=False)
        assert completed.returncode == ExitCode.FAIL
        assert failure.rule in completed.stdout
        assert failure.details
        assert len(failure.details.splitlines()) < 80


def test_a_second_run_does_what_is_new(output: Path, tmp_path: Path) -> None:
    said: list[str] = []
    before = Plan(output).version
    run_campaign(_job(output), said.append)
    assert not said
    assert Plan(output).version == before
    grown = tmp_path / "out"
    run_campaign(replace(_job(grown, last=9, partitions=1), wave=7), said.append)
    run_campaign(_job(grown, partitions=5), said.append)
    assert _rows(grown) == _rows(output)
    assert _failures(_manifest(grown)) == _failures(_manifest(output))


def test_another_meaning_of_the_seeds_is_refused(output: Path, tmp_path: Path) -> None:
    manifest = _manifest(output)
    other = replace(manifest, meaning={**manifest.meaning, "hypothesis": "1.0"})
    with Store(tmp_path) as store:
        store.save(text_of(other))
    with pytest.raises(UsageError, match=r"made with hypothesis 1\.0"):
        run_campaign(_job(tmp_path), lambda _: None)


def test_what_cannot_be_run_is_counted_and_tried_again(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "programs_of_a_test.py"
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    program.write_text(_PROGRAM, encoding="utf-8")
    [target] = selected_targets(["explore/programs_of_a_test:PROGRAM"], [])
    job = CampaignJob(targets=(target,), seeds=(0, 5), output=tmp_path / "out")
    said: list[str] = []
    # The executors do not find the module: they have another path.
    counts = run_campaign(job, said.append).counts()
    assert (counts.seeds, counts.done, counts.failed_to_run) == (6, 0, 6)
    assert any("cannot be run" in line for line in said)
    spark.sparkContext.addPyFile(str(program))
    manifest = run_campaign(job, said.append)
    counts = manifest.counts()
    assert (counts.seeds, counts.done, counts.failed_to_run) == (6, 6, 0)
    assert [wave.seeds for wave in manifest.waves] == [6, 6]


class _Killed(BaseException):
    """What nobody handles, as nobody handles SIGKILL."""


def test_a_killed_campaign_loses_nothing_and_does_nothing_twice(
    output: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit, committed = Store.commit, list[str]()

    def committing(
        store: Store, document: str, batch: int, attempt: Path, moves: Sequence[Move]
    ) -> None:
        if len(committed) == 2:
            raise _Killed
        committed.append(document)
        commit(store, document, batch, attempt, moves)

    def has_no_time(*_: object) -> None:
        pass

    with monkeypatch.context() as patched:
        patched.setattr(Store, "commit", committing)
        # A driver that is killed does not tidy up.
        patched.setattr(Store, "__exit__", has_no_time)
        with pytest.raises(_Killed):
            run_campaign(replace(_job(tmp_path), wave=15), lambda _: None)
    waves = _manifest(tmp_path).waves
    assert (len(waves), len(list((tmp_path / ".work").iterdir()))) == (2, 1)
    resumed = run_campaign(_job(tmp_path), lambda _: None)
    assert resumed.waves[: len(waves)] == waves
    assert list((tmp_path / ".work").iterdir()) == []
    assert _rows(tmp_path) == _rows(output)
    assert _failures(resumed) == _failures(_manifest(output))


_PROGRAM = """
from wheelproof_explore.program import Program, Scenario

PROGRAM = Program(name="p", summary="one step", build=lambda: Scenario(threads={"a": print}))
"""
