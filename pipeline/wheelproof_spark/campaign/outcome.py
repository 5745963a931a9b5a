"""What a campaign came to: the failures, one sentence, an exit code, JSON and JUnit."""

import argparse
from dataclasses import asdict

from wheelproof_spark.campaign.ledger import CampaignManifest, Failure, SeedCounts
from wheelproof_spec.reports import write_json, write_junit
from wheelproof_spec.verdicts import CheckResult, ExitCode, Verdict, exit_code

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
    """Return a failure as lines: how often, the smallest case, how to repeat it."""
    seeds = f"{failure.seeds:,} seeds, the first is {failure.seed}"
    lines = [f"{failure.target}: {failure.rule} ({seeds})"]
    if failure.summary:
        lines.append(f"  made small: {failure.summary}")
    lines += [line for line in failure.details.splitlines() if line.split()[:1] != ["repeat"]]
    return "\n".join([*lines, f"  repeat    {failure.repeat}"])


def show(manifest: CampaignManifest, arguments: argparse.Namespace) -> ExitCode:
    """Print the outcome, write the reports that were asked for, and return the exit code."""
    counts = manifest.counts()
    code = exit_code(verdict_of(counts))
    if arguments.json is not None:
        document = {
            "schema": SCHEMA,
            "exit_code": code.value,
            "counts": asdict(counts),
            **asdict(manifest),
        }
        write_json(arguments.json, document)
    if arguments.junit is not None:
        write_junit(arguments.junit, "wheelproof.campaign", _checks(manifest))
    if not arguments.quiet:
        for failure in manifest.failures:
            print(story(failure))
        calls = sum(sum(one.calls.values()) for one in manifest.targets.values())
        print(f"{calls:,} calls and schedules; the ledger is in {arguments.output}/ledger")
    print(sentence(manifest))
    return code


def _checks(manifest: CampaignManifest) -> list[CheckResult]:
    failures = {
        name: [one for one in manifest.failures if one.target == name] for name in manifest.targets
    }
    return [
        CheckResult(
            name=name,
            group="campaign",
            verdict=Verdict.FAIL
            if entry.failed
            else Verdict.ERROR
            if entry.failed_to_run
            else Verdict.PASS,
            seconds=0.0,
            summary=f"{entry.passed:,} pass, {entry.failed:,} fail, "
            f"{len(entry.failed_to_run):,} failed to run",
            details="\n".join(map(story, failures[name])),
        )
        for name, entry in sorted(manifest.targets.items())
    ]
