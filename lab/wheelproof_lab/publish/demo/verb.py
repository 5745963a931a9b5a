"""The verb `demo`: records runs, good and bad, judges them on Spark, and compares the verdicts."""

import argparse
import secrets
from pathlib import Path

from wheelproof_spark.base.options import KEPT, add_workers, folder, say_of, workers_of
from wheelproof_spec.app.program import carries
from wheelproof_spec.base.arguments import bounded

_SEEDS = 2**31


def declare(parser: argparse.ArgumentParser) -> None:
    """Declare the verb."""
    parser.add_argument(
        "--output",
        type=folder,
        default=Path("out/pipeline"),
        metavar="DIR",
        help="the folder of runs, tables and page (default: %(default)s)",
    )
    parser.add_argument(
        "--runs",
        type=bounded(1),
        default=3000,
        metavar="N",
        help="about how many runs (default: %(default)s)",
    )
    parser.add_argument("--seed", type=int, metavar="N", help="what the callers choose")
    add_workers(parser)
    carries(parser, run, reads=KEPT, writes=("output",))


def run(arguments: argparse.Namespace) -> int:
    """Run the demo."""
    from wheelproof_lab.publish.demo.job import DemoJob, demo, outcome_of
    from wheelproof_spark.base.outcome import show

    seed = secrets.randbelow(_SEEDS) if arguments.seed is None else arguments.seed % _SEEDS
    output: Path = arguments.output
    job = DemoJob(
        output=output.resolve(), seed=seed, runs=arguments.runs, workers=workers_of(arguments)
    )
    say = say_of(arguments)
    say(f"demo of the pipeline, seed {seed}")
    return show(outcome_of(job, demo(job, say)), arguments)
