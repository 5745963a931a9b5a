"""What a run of the pipeline came to: one sentence, an exit code, JSON and JUnit."""

import argparse
from dataclasses import asdict

from wheelproof_spark.tables.manifest import Counts, Manifest
from wheelproof_spec.reports import write_json, write_junit
from wheelproof_spec.verdicts import CheckResult, ExitCode, Verdict

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
    word = {
        ExitCode.PASS: "PASS",
        ExitCode.FAIL: "FAIL",
        ExitCode.INPUT_REJECTED: "REJECTED",
    }.get(code_of(counts), "INCONCLUSIVE")
    late = f"; {counts.late:,} of them came too late" if counts.late else ""
    return (
        f"{word}: {counts.runs:,} runs in {counts.files:,} files: {_verdicts(manifest)}; "
        f"{counts.lines:,} lines: {counts.good:,} good, {counts.quarantined:,} quarantined{late}"
    )


def progress(manifest: Manifest) -> str:
    """Return what the last batch did, and what all of them came to, in one line."""
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


def show(manifest: Manifest, arguments: argparse.Namespace) -> ExitCode:
    """Print the outcome, write the reports that were asked for, and return the exit code."""
    code = code_of(manifest.counts)
    if arguments.json is not None:
        document = {
            "schema": SCHEMA,
            "exit_code": code.value,
            "counts": asdict(manifest.counts),
            "batches": [asdict(one) for one in manifest.batches],
            "tables": manifest.tables,
        }
        write_json(arguments.json, document)
    if arguments.junit is not None:
        write_junit(arguments.junit, "wheelproof.pipeline", [_check(manifest, code)])
    if not arguments.quiet and manifest.batches:
        batch = manifest.batches[-1]
        rate = batch.lines / batch.seconds if batch.seconds else 0
        print(
            f"batch {batch.number}: {batch.files:,} files new or changed, {batch.judged:,} runs "
            f"judged, {batch.seconds:.1f} s, {rate:,.0f} lines/s; "
            f"tables in {arguments.output}, see manifest.json"
        )
    print(sentence(manifest))
    return code


def _check(manifest: Manifest, code: ExitCode) -> CheckResult:
    verdict = {
        ExitCode.PASS: Verdict.PASS,
        ExitCode.FAIL: Verdict.FAIL,
        ExitCode.INPUT_REJECTED: Verdict.ERROR,
    }.get(code, Verdict.INCONCLUSIVE)
    return CheckResult(
        name=manifest.input,
        group="pipeline",
        verdict=verdict,
        seconds=sum(one.seconds for one in manifest.batches),
        summary=sentence(manifest),
    )
