"""The pipeline on a real standalone cluster: a master and two workers, and kill -9 among them."""

import os
import subprocess
import sys
from collections.abc import Generator
from dataclasses import replace
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from support.pipeline.pipeline_tables import Judged, committed, rows_of, run
from support.pipeline.recorded_fleet import histories, record_known_bug
from support.pipeline.started_program import await_end, members, parent_of, started
from wheelproof_spark.base.standalone import Cluster, standalone_cluster
from wheelproof_spark.campaign.job import CampaignJob, campaign
from wheelproof_spark.campaign.ledger import load
from wheelproof_spark.campaign.targets import selected_targets
from wheelproof_spark.tables.plan import Plan
from wheelproof_spec.base.results.verdicts import ExitCode

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def local(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Judged:
    del spark
    folder = tmp_path_factory.mktemp("local")
    source = folder / "in"
    source.mkdir()
    # Only runs that are spread over files are shuffled; the others are judged where they are read.
    spread = histories(range(40, 60))
    for number in range(4):
        lines = [*histories(range(number, 40, 4)), *spread[number::4]]
        (source / f"{number}.jsonl").write_bytes(b"".join(lines))
    record_known_bug(source / "bug.jsonl", 10)
    (source / "torn.jsonl").write_bytes(b'{"kind"')
    return run(source, folder / "out")


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Generator[Cluster]:
    with standalone_cluster(tmp_path_factory.mktemp("cluster")) as found:
        yield found
    left = [pid for session in found.processes for pid in members(session)]
    await_end(left)
    assert [members(session) for session in found.processes] == [[], [], []]


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """Return the environment of a driver: executors that fit into small workers."""
    folder = tmp_path / "conf"
    folder.mkdir()
    lines = ("spark.executor.memory 512m", "spark.driver.memory 512m", "spark.cores.max 2")
    (folder / "spark-defaults.conf").write_text("\n".join(lines), encoding="utf-8")
    return {"SPARK_CONF_DIR": str(folder), "SPARK_LOCAL_IP": "127.0.0.1"}


def test_kill_9_of_a_worker_and_of_an_executor_changes_nothing(
    local: Judged, cluster: Cluster, environment: dict[str, str], tmp_path: Path
) -> None:
    output = tmp_path / "out"
    words = ("--input", local.input, "--output", output, "--master", cluster.master)
    command = ("pipeline", "check", *words, "--partitions", 4)
    with started(tmp_path / "stops", ("parse", "judge"), command, environment) as program:
        worker = program.stopped()
        assert worker.place == "parse"
        os.kill(worker.pid, 9)
        worker.goes_on()
        worker = program.stopped()
        assert worker.place == "judge"
        executor = parent_of(parent_of(worker.pid))
        # The work is done in a process of the cluster, not in one of the driver's.
        assert any(executor in members(session) for session in cluster.processes[1:])
        # Its part of the shuffle is lost with it, and has to be made again.
        os.kill(executor, 9)
        worker.goes_on()
        family = program.family()
        code, printed = program.ended()
        assert code == ExitCode.FAIL, printed
        await_end(family)
        assert program.family() == []
    found = committed(local.input, output)
    found.adds_up()
    assert rows_of(found) == rows_of(local)
    assert found.manifest.counts == local.manifest.counts
    assert found.manifest.batches[0].master == cluster.master


def test_a_campaign_on_the_cluster_survives_kill_9_of_an_executor(
    spark: SparkSession, cluster: Cluster, environment: dict[str, str], tmp_path: Path
) -> None:
    del spark
    targets = ("fuzz/timer/none", "fuzz/timer/none/KAFKA-2226/no-cancelled-test")
    words = ["campaign", "--seeds", "0..9", "--targets", *targets, "--wave", "10"]
    words += ["--master", cluster.master, "--output", str(tmp_path / "cluster")]
    # One executor: another one has to take its place.
    words += ["--conf", "spark.cores.max=1"]
    with subprocess.Popen(
        [sys.executable, "-m", "wheelproof_spec", "pipeline", *words],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, **environment},
    ) as process:
        assert process.stdout is not None
        assert any(line.startswith("wave 1:") for line in process.stdout)
        workers = cluster.processes[1:]
        pids = [pid for worker in workers for pid in members(worker)]
        (executor,) = (pid for pid in pids if parent_of(pid) in workers)
        os.kill(executor, 9)
        assert any(line.startswith("wave 2:") for line in process.stdout)
        process.stdout.read()
    assert process.returncode == ExitCode.FAIL
    found = load(Plan(tmp_path / "cluster"))
    job = CampaignJob(
        targets=selected_targets(targets, []), seeds=(0, 9), output=tmp_path / "local"
    )
    expected = campaign(job, lambda _: None)
    assert found is not None
    assert found.targets == expected.targets
    # The summaries say how long it took to make a failure small.
    assert [replace(failure, summary="") for failure in found.failures] == [
        replace(failure, summary="") for failure in expected.failures
    ]
    assert [wave.master for wave in found.waves] == [cluster.master] * 2
