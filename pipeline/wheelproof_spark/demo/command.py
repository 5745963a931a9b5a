"""The verb ``pipeline demo``: records a few thousand runs and judges them."""

import argparse
import secrets
from pathlib import Path

from wheelproof_spark.base.options import KEPT, add_arguments, say_of, workers_of
from wheelproof_spec.app.verbs.declaring import Verbs

_SEEDS = 2**31


def register(verbs: Verbs) -> None:
    """Declare the verb."""
    parser = verbs.add(
        "demo", "record runs, good and bad, and judge them", run, reads=KEPT, writes=("output",)
    )
    add_arguments(parser, "demo", {"--output": {"default": Path("out/pipeline")}})
    add_arguments(parser, "workers")


def run(arguments: argparse.Namespace) -> int:
    """Run the demo."""
    from wheelproof_spark.base.outcome import show
    from wheelproof_spark.demo.job import DemoJob, demo, outcome_of

    seed = secrets.randbelow(_SEEDS) if arguments.seed is None else arguments.seed % _SEEDS
    output: Path = arguments.output
    job = DemoJob(
        output=output.resolve(), seed=seed, runs=arguments.runs, workers=workers_of(arguments)
    )
    say = say_of(arguments)
    say(f"demo of the pipeline, seed {seed}")
    return show(outcome_of(job, demo(job, say)), arguments)
