"""The verb ``pipeline check``: judges a folder of recorded runs."""

import argparse
import sys
from pathlib import Path

from wheelproof_spark.options import add_master, add_output
from wheelproof_spec.app.judging import add_judging, check_options
from wheelproof_spec.app.verbs import Verbs


def register(verbs: Verbs) -> None:
    """Declare the verb."""
    parser = verbs.add("check", "judge a folder of traces and histories", run)
    parser.add_argument(
        "--input", type=Path, metavar="DIR", required=True, help="a folder of traces and histories"
    )
    add_output(parser)
    add_master(parser)
    add_judging(parser)


def run(arguments: argparse.Namespace) -> int:
    """Judge what is new in the input."""
    from wheelproof_spark.check_job import CheckJob, check
    from wheelproof_spark.outcome import show

    job = CheckJob(
        input=arguments.input,
        output=arguments.output,
        options=check_options(arguments),
        master=arguments.master,
        partitions=arguments.partitions,
        progress=not arguments.quiet and sys.stderr.isatty(),
    )
    return show(check(job), arguments)
