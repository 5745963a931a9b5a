"""What the verb `demo` does: records runs, judges them on Spark, and compares the verdicts."""

import os
import shutil
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path

from wheelproof_lab.publish.demo.plan import DemoPlan, Recording, demo_plan
from wheelproof_lab.publish.demo.programs import run_programs
from wheelproof_lab.publish.demo.recording import BUG
from wheelproof_spark.base.options import Say, Workers
from wheelproof_spark.base.outcome import Outcome
from wheelproof_spark.check.job import CheckJob, check
from wheelproof_spark.report.page import write_page
from wheelproof_spark.tables.manifest import Manifest
from wheelproof_spark.tables.rows import Row, read_rows
from wheelproof_spec.base.errors import UsageError
from wheelproof_spec.base.results.reports import result_document
from wheelproof_spec.base.results.verdicts import CheckResult, Verdict, exit_code, overall
from wheelproof_spec.history.checkers import CheckOptions

SCHEMA = "wheelproof.pipeline.demo/1"
_RECORDED = "runs"
_JUDGED = "judged"
_MARK = ".demo"
_AT_LEAST_AT_ONCE = 4
"""The least number of programs at once: half of the recordings wait most of the time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoJob:
    """The output, the approximate number of runs, and the seed."""

    output: Path
    seed: int
    runs: int
    workers: Workers = field(default_factory=Workers)


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoResult:
    """The check of each implementation's verdicts, the manifest, and the path of the page."""

    results: tuple[CheckResult, ...]
    manifest: Manifest
    page: Path
    left_out: str


def demo(job: DemoJob, say: Say) -> DemoResult:
    """Record, judge and compare; `say` gets the progress.

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
        workers=job.workers,
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


def outcome_of(job: DemoJob, done: DemoResult) -> Outcome:
    """Return the outcome of the verb."""
    verdict = overall(result.verdict for result in done.results)
    return Outcome(
        code=exit_code(verdict),
        lines=[f"{result.verdict}  {result.name}: {result.summary}" for result in done.results],
        sentence=f"{verdict.value.upper()}: {done.page}",
        document={
            "schema": SCHEMA,
            "verdict": verdict.value,
            "seed": job.seed,
            "page": str(done.page),
            "left_out": done.left_out,
            "counts": asdict(done.manifest.counts),
            "versions": done.manifest.batches[-1].versions,
            "results": [result_document(result) for result in done.results],
        },
        suite="wheelproof.pipeline.demo",
        checks=done.results,
    )


def _prepare(output: Path) -> None:
    """Remove the folders of an earlier demo; raise UsageError if they are not a demo's.

    The mark is a hidden file, so it is not read as input.
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
    def ended(recording: Recording) -> None:
        say(f"recorded {recording.runs:,} runs: {recording.what}")

    at_once = max(os.cpu_count() or 1, _AT_LEAST_AT_ONCE)
    say(f"recording {plan.runs:,} runs by {len(plan.recordings)} programs")
    run_programs([(recording, recording.command) for recording in plan.recordings], at_once, ended)


def _compared(judged: Path, manifest: Manifest, plan: DemoPlan) -> tuple[CheckResult, ...]:
    rows = read_rows(judged / manifest.tables["summary"])
    ordered = sorted(rows, key=lambda row: [str(value) for value in row.values()])
    counts = manifest.counts
    all_there = counts.runs == plan.runs and not counts.quarantined
    whole = CheckResult(
        name="every run that was recorded",
        group="pipeline",
        verdict=Verdict.PASS if all_there else Verdict.FAIL,
        seconds=sum(batch.seconds for batch in manifest.batches),
        summary=f"{counts.runs:,} of {plan.runs:,} runs were judged, {counts.lines:,} lines, "
        f"{counts.quarantined:,} quarantined",
    )
    return (whole, *map(_subject, ordered))


def _subject(row: Row) -> CheckResult:
    """Return the check that the runs of one subject have the expected verdict."""
    faulty = row["version"] == BUG.id
    expected = Verdict.FAIL if faulty else Verdict.PASS
    told = ", ".join(f"{row[verdict]:,} {verdict}" for verdict in Verdict if row[verdict])
    as_expected = row[expected] == row["runs"]
    return CheckResult(
        name=f"{row['implementation']} {row['version']}: {row['component']}, {row['format']}",
        group="pipeline",
        verdict=Verdict.PASS if as_expected else Verdict.FAIL,
        summary=f"{told}, as it has to be"
        if as_expected
        else f"{told}, where every run has to {'fail' if faulty else 'pass'}",
    )
