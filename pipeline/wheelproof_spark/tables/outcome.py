"""The outcome of a manifest: one sentence, an exit code, and reports."""

from dataclasses import asdict
from pathlib import Path

from wheelproof_spark.base.outcome import Outcome
from wheelproof_spark.tables.manifest import BatchRecord, Counts, Manifest
from wheelproof_spec.base.results.verdicts import CheckResult, ExitCode, Verdict

SCHEMA = "wheelproof.pipeline.outcome/1"


def code_of(counts: Counts) -> ExitCode:
    """Return the exit code that `wheelproof check` has for the same lines."""
    if counts.failed:
        return ExitCode.FAIL
    if counts.quarantined or counts.error or counts.late:
        return ExitCode.INPUT_REJECTED
    return ExitCode.PASS if counts.passed and not counts.inconclusive else ExitCode.INCONCLUSIVE


def sentence(manifest: Manifest) -> str:
    """Return the verdict in one line."""
    counts = manifest.counts
    code = code_of(counts)
    word = "REJECTED" if code is ExitCode.INPUT_REJECTED else code.name
    late = f"; {counts.late:,} of them came too late" if counts.late else ""
    return (
        f"{word}: {counts.runs:,} runs in {counts.files:,} files: {_verdicts(manifest)}; "
        f"{counts.lines:,} lines: {counts.good:,} good, {counts.quarantined:,} quarantined{late}"
    )


def progress(manifest: Manifest) -> str:
    """Return the figures of the last batch, and all verdicts so far, in one line."""
    batch = manifest.batches[-1]
    return (
        f"batch {batch.number}: {batch.files:,} files, {batch.lines:,} lines, "
        f"{batch.judged:,} runs judged, {batch.seconds:.1f} s; so far {_verdicts(manifest)}"
    )


def _verdicts(manifest: Manifest) -> str:
    counts = manifest.counts
    waiting = "" if manifest.stream is None else f", {counts.open:,} open"
    return (
        f"{counts.passed:,} pass, {counts.failed:,} fail, {counts.inconclusive:,} inconclusive, "
        f"{counts.error:,} error{waiting}"
    )


def outcome_of(manifest: Manifest, output: Path) -> Outcome:
    """Return the outcome of a verb whose tables are in `output`."""
    code = code_of(manifest.counts)
    return Outcome(
        code=code,
        lines=[_told(manifest.batches[-1], output)] if manifest.batches else (),
        sentence=sentence(manifest),
        document={
            "schema": SCHEMA,
            "exit_code": code.value,
            "counts": asdict(manifest.counts),
            "batches": [asdict(batch) for batch in manifest.batches],
            "tables": manifest.tables,
        },
        suite="wheelproof.pipeline",
        checks=[_check(manifest, code)],
    )


def _told(batch: BatchRecord, output: Path) -> str:
    rate = batch.lines / batch.seconds if batch.seconds else 0
    return (
        f"batch {batch.number}: {batch.files:,} files new or changed, {batch.judged:,} runs "
        f"judged, {batch.seconds:.1f} s, {rate:,.0f} lines/s; "
        f"`wheelproof pipeline report --output {output}` draws the tables"
    )


def _check(manifest: Manifest, code: ExitCode) -> CheckResult:
    verdict = Verdict.ERROR if code is ExitCode.INPUT_REJECTED else Verdict[code.name]
    return CheckResult(
        name=manifest.input,
        group="pipeline",
        verdict=verdict,
        seconds=sum(batch.seconds for batch in manifest.batches),
        summary=sentence(manifest),
    )
