"""The verb `pipeline demo`: records runs, judges them on Spark, and compares with what is known."""

import os
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pyarrow.parquet as parquet

from wheelproof_spark.base.session import LOCAL
from wheelproof_spark.check.job import CheckJob, check
from wheelproof_spark.demo.plan import DemoPlan, Recording, demo_plan
from wheelproof_spark.demo.programs import run_programs
from wheelproof_spark.demo.recording import BUG
from wheelproof_spark.report.page import write_page
from wheelproof_spark.tables.manifest import Manifest
from wheelproof_spec.check.checkers import CheckOptions
from wheelproof_spec.errors import UsageError
from wheelproof_spec.verdicts import CheckResult, Verdict

RUNS = 3_000
_RECORDED = "runs"
_JUDGED = "judged"
_MARK = ".demo"
_AT_LEAST_AT_ONCE = 4
"""Half of the recordings wait most of the time."""

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoJob:
    """Where everything goes, about how many runs are recorded, from which seed."""

    output: Path
    seed: int
    runs: int = RUNS
    master: str = LOCAL
    partitions: int | None = None
    progress: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoResult:
    """Whether each implementation got the verdicts that it has to; where the page is."""

    results: tuple[CheckResult, ...]
    manifest: Manifest
    page: Path
    left_out: str


def demo(job: DemoJob, say: Say) -> DemoResult:
    """Record, judge and compare; `say` is told what goes on.

    Raises UsageError, MissingToolError, and PipelineError if a part of it fails.
    """
    recorded, judged = job.output / _RECORDED, job.output / _JUDGED
    plan = demo_plan(recorded, job.runs, job.seed)
    _prepare(job.output)
    if plan.left_out:
        say(plan.left_out)
    started = time.monotonic()
    _record(plan, say)
    say(f"{plan.runs:,} runs recorded in {time.monotonic() - started:.0f} s; judging them on Spark")
    check_job = CheckJob(
        input=recorded,
        output=judged,
        options=CheckOptions(),
        master=job.master,
        partitions=job.partitions,
        progress=job.progress,
    )
    manifest = check(check_job)
    page = job.output / "report.html"
    write_page(judged, page)
    return DemoResult(
        results=_compared(judged, manifest, plan),
        manifest=manifest,
        page=page,
        left_out=plan.left_out,
    )


def _prepare(output: Path) -> None:
    """Remove what an earlier demo has left, and begin anew; raises UsageError if it is no demo's.

    The mark is hidden, so it is no input.
    """
    recorded, judged = output / _RECORDED, output / _JUDGED
    mark = recorded / _MARK
    ours = mark.is_file()
    for folder in (judged, recorded):
        if not ours and folder.exists():
            raise UsageError(f"{folder} is there, and no demo has made it; name another folder")
        if folder.exists():
            shutil.rmtree(folder)
    recorded.mkdir(parents=True)
    mark.touch()


def _record(plan: DemoPlan, say: Say) -> None:
    def ended(one: Recording) -> None:
        say(f"recorded {one.runs:,} runs: {one.what}")

    at_once = max(os.cpu_count() or 1, _AT_LEAST_AT_ONCE)
    say(f"recording {plan.runs:,} runs by {len(plan.recordings)} programs")
    run_programs([(one, one.command) for one in plan.recordings], at_once, ended)


def _compared(judged: Path, manifest: Manifest, plan: DemoPlan) -> tuple[CheckResult, ...]:
    rows = parquet.read_table(str(judged / manifest.tables["summary"])).to_pylist()
    by_subject = [
        _subject(row) for row in sorted(rows, key=lambda row: [str(one) for one in row.values()])
    ]
    counts = manifest.counts
    all_there = counts.runs == plan.runs and not counts.quarantined
    whole = CheckResult(
        name="every run that was recorded",
        group="pipeline",
        verdict=Verdict.PASS if all_there else Verdict.FAIL,
        seconds=sum(one.seconds for one in manifest.batches),
        summary=f"{counts.runs:,} of {plan.runs:,} runs were judged, {counts.lines:,} lines, "
        f"{counts.quarantined:,} quarantined",
    )
    return (whole, *by_subject)


def _subject(row: dict[str, object]) -> CheckResult:
    """Return whether the runs of one subject got the verdict that they have to."""
    faulty = row["version"] == BUG.id
    expected = Verdict.FAIL if faulty else Verdict.PASS
    told = ", ".join(f"{row[one.value]:,} {one.value}" for one in Verdict if row[one.value])
    return CheckResult(
        name=f"{row['implementation']} {row['version']}: {row['component']}, {row['format']}",
        group="pipeline",
        verdict=Verdict.PASS if row[expected.value] == row["runs"] else Verdict.FAIL,
        seconds=0.0,
        summary=f"{told}, as it has to be"
        if row[expected.value] == row["runs"]
        else f"{told}, where every run has to {'fail' if faulty else 'pass'}",
    )
