"""The verb ``pipeline campaign``: fuzzing and model-checker samples, fanned out by seed."""

import argparse
import importlib
import sys
from pathlib import Path

from wheelproof_spark.base.options import KEPT, add_arguments, say_of, workers_of
from wheelproof_spark.campaign.seed_ranges import seed_range
from wheelproof_spec.app.verbs.declaring import Verbs


def register(verbs: Verbs) -> None:
    """Declare the verb."""
    parser = verbs.add(
        "campaign",
        "fan out fuzzing and model-checker samples by seed",
        run,
        reads=KEPT,
        writes=("output",),
    )
    add_arguments(
        parser, "campaign", {"--seeds": {"type": seed_range}, "--targets": {"default": []}}
    )
    add_arguments(parser, "workers")
    add_arguments(parser, "wave")


def run(arguments: argparse.Namespace) -> int:
    """Run the seeds that are not in the ledger yet."""
    for needed in ("hypothesis", "greenlet"):
        importlib.import_module(needed)
    from wheelproof_spark.base.outcome import show
    from wheelproof_spark.campaign.job import CampaignJob, campaign
    from wheelproof_spark.campaign.outcome import outcome_of
    from wheelproof_spark.campaign.targets import selected_targets

    output: Path = arguments.output
    job = CampaignJob(
        targets=selected_targets(arguments.targets, arguments.bug),
        seeds=arguments.seeds,
        output=output.resolve(),
        workers=workers_of(arguments),
        wave=arguments.wave,
    )
    try:
        manifest = campaign(job, say_of(arguments))
    except KeyboardInterrupt:
        print("what is committed is done; the same command goes on from there", file=sys.stderr)
        raise
    return show(outcome_of(manifest, arguments.output), arguments)
