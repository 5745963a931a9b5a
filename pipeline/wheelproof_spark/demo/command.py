"""The verb ``pipeline demo``: records a few thousand runs and judges them."""

import argparse
import secrets
from pathlib import Path

from wheelproof_spark.base.options import KEPT, add_number, add_workers, folder, say_of, workers_of
from wheelproof_spec.app.verbs.declaring import Verbs

_SEEDS = 2**31
_RUNS = 3_000


def register(verbs: Verbs) -> None:
    """Declare the verb."""
    parser = verbs.add(
        "demo", "record runs, good and bad, and judge them", run, reads=KEPT, writes=("output",)
    )
    parser.add_argument(
        "--output",
        type=folder,
        metavar="DIR",
        default=Path("out/pipeline"),
        help="the folder of runs, tables and page (default: %(default)s)",
    )
    add_number(parser, "--runs", "about how many runs", _RUNS)
    parser.add_argument("--seed", type=int, metavar="N", help="what the callers choose")
    add_workers(parser)


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
