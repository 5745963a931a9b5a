"""The outcome of a campaign: the failures, one sentence, an exit code, and reports."""

from dataclasses import asdict
from pathlib import Path

from wheelproof_spark.base.outcome import Outcome
from wheelproof_spark.campaign.ledger import CampaignManifest, Failure, SeedCounts
from wheelproof_spec.base.results.verdicts import CheckResult, Verdict, exit_code

SCHEMA = "wheelproof.campaign.outcome/1"


def verdict_of(counts: SeedCounts) -> Verdict:
    """Return the verdict of all seeds together."""
    if counts.failed:
        return Verdict.FAIL
    if counts.failed_to_run:
        return Verdict.ERROR
    return Verdict.PASS if counts.passed else Verdict.INCONCLUSIVE


def sentence(manifest: CampaignManifest) -> str:
    """Return the verdict in one line."""
    counts = manifest.counts()
    return (
        f"{verdict_of(counts).value.upper()}: {counts.seeds:,} seeds of "
        f"{len(manifest.targets):,} targets: {counts.done:,} done ({counts.passed:,} pass, "
        f"{counts.failed:,} fail), {counts.failed_to_run:,} failed to run"
    )


def story(failure: Failure) -> str:
    """Return a failure as text: the number of seeds, the shrunk case, how to repeat it."""
    seeds = f"{failure.seeds:,} seeds, the first is {failure.seed}"
    lines = [f"{failure.target}: {failure.rule} ({seeds})"]
    if failure.summary:
        lines.append(f"  made small: {failure.summary}")
    lines += [line for line in failure.details.splitlines() if line.split()[:1] != ["repeat"]]
    return "\n".join([*lines, f"  repeat    {failure.repeat}"])


def outcome_of(manifest: CampaignManifest, output: Path) -> Outcome:
    """Return the outcome of the verb; the ledger is in `output`."""
    counts = manifest.counts()
    code = exit_code(verdict_of(counts))
    calls = sum(sum(entry.calls.values()) for entry in manifest.targets.values())
    told = f"{calls:,} calls and schedules; the ledger is in {output}/ledger"
    return Outcome(
        code=code,
        lines=[*map(story, manifest.failures), told],
        sentence=sentence(manifest),
        document={
            "schema": SCHEMA,
            "exit_code": code.value,
            "counts": asdict(counts),
            **asdict(manifest),
        },
        suite="wheelproof.campaign",
        checks=[_check(manifest, name) for name in sorted(manifest.targets)],
    )


def _check(manifest: CampaignManifest, target: str) -> CheckResult:
    entry = manifest.targets[target]
    verdict = Verdict.ERROR if entry.failed_to_run else Verdict.PASS
    return CheckResult(
        name=target,
        group="campaign",
        verdict=Verdict.FAIL if entry.failed else verdict,
        summary=f"{entry.passed:,} pass, {entry.failed:,} fail, "
        f"{len(entry.failed_to_run):,} failed to run",
        details="\n".join(
            story(failure) for failure in manifest.failures if failure.target == target
        ),
    )
