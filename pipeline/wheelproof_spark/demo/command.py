"""The verb ``pipeline demo``: records a few thousand runs and judges them."""

import argparse
import secrets
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from wheelproof_spark.base.options import add_master
from wheelproof_spec.arguments import positive
from wheelproof_spec.reports import result_document, write_json, write_junit
from wheelproof_spec.verbs import Verbs
from wheelproof_spec.verdicts import exit_code, overall

if TYPE_CHECKING:
    from wheelproof_spark.demo.job import DemoResult

SCHEMA = "wheelproof.pipeline.demo/1"
_SEEDS = 2**31


def register(verbs: Verbs) -> None:
    """Declare the verb."""
    parser = verbs.add("demo", "record runs, good and bad, and judge them", run)
    parser.add_argument(
        "--output",
        type=Path,
        metavar="DIR",
        default=Path("out/pipeline"),
        help="the folder of runs, tables and page (default: %(default)s)",
    )
    parser.add_argument(
        "--runs",
        type=positive,
        metavar="N",
        default=3_000,
        help="about how many runs (default: %(default)s)",
    )
    parser.add_argument("--seed", type=int, metavar="N", help="what the callers choose")
    add_master(parser)


def run(arguments: argparse.Namespace) -> int:
    """Run the demo."""
    from wheelproof_spark.demo.job import DemoJob, demo

    seed = secrets.randbelow(_SEEDS) if arguments.seed is None else arguments.seed % _SEEDS
    output: Path = arguments.output
    job = DemoJob(
        output=output.resolve(),
        seed=seed,
        runs=arguments.runs,
        master=arguments.master,
        partitions=arguments.partitions,
        progress=not arguments.quiet and sys.stderr.isatty(),
    )
    if not arguments.quiet:
        print(f"demo of the pipeline, seed {seed}", flush=True)
    done = demo(job, lambda line: None if arguments.quiet else print(line, flush=True))
    return _show(done, seed, arguments)


def _show(done: "DemoResult", seed: int, arguments: argparse.Namespace) -> int:
    verdict = overall(one.verdict for one in done.results)
    if arguments.json is not None:
        write_json(
            arguments.json,
            {
                "schema": SCHEMA,
                "verdict": verdict.value,
                "seed": seed,
                "page": str(done.page),
                "left_out": done.left_out,
                "counts": asdict(done.manifest.counts),
                "versions": done.manifest.batches[-1].versions,
                "results": [result_document(one) for one in done.results],
            },
        )
    if arguments.junit is not None:
        write_junit(arguments.junit, "wheelproof.pipeline.demo", done.results)
    if not arguments.quiet:
        for one in done.results:
            print(f"{one.verdict.value}  {one.name}: {one.summary}")
    print(f"{verdict.value.upper()}: {done.page}")
    return exit_code(verdict)
