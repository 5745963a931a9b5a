"""The verb ``pipeline check``: judges a folder of recorded runs."""

import argparse

from wheelproof_spark.base.options import KEPT, add_arguments, workers_of
from wheelproof_spec.app.judging import add_judging, check_options
from wheelproof_spec.app.verbs.declaring import Verbs


def register(verbs: Verbs) -> None:
    """Declare the verb."""
    parser = verbs.add(
        "check",
        "judge a folder of traces and histories",
        run,
        reads=("input", *KEPT),
        writes=("output",),
    )
    add_arguments(parser, "check")
    add_arguments(parser, "workers")
    add_judging(parser)


def run(arguments: argparse.Namespace) -> int:
    """Judge what is new in the input."""
    from wheelproof_spark.base.outcome import show
    from wheelproof_spark.check.job import CheckJob, check
    from wheelproof_spark.tables.outcome import outcome_of

    job = CheckJob(
        input=arguments.input,
        output=arguments.output,
        options=check_options(arguments),
        workers=workers_of(arguments),
    )
    return show(outcome_of(check(job), arguments.output), arguments)
