"""The verb ``pipeline stream``: judges runs as their files come."""

import argparse
import sys

from wheelproof_spark.base.options import KEPT, add_arguments, say_of, workers_of
from wheelproof_spec.app.judging import add_judging, check_options
from wheelproof_spec.app.verbs.declaring import Verbs
from wheelproof_spec.base.errors import UsageError


def register(verbs: Verbs) -> None:
    """Declare the verb."""
    parser = verbs.add(
        "stream",
        "judge runs as files are moved into a folder",
        run,
        reads=("input", *KEPT),
        writes=("output",),
    )
    add_arguments(parser, "stream")
    add_arguments(parser, "workers")
    add_judging(parser)


def run(arguments: argparse.Namespace) -> int:
    """Judge until told to stop."""
    from wheelproof_spark.base.outcome import show
    from wheelproof_spark.stream.batch import Judging
    from wheelproof_spark.stream.job import StreamJob, stream
    from wheelproof_spark.stream.query import Pace
    from wheelproof_spark.stream.state import Patience
    from wheelproof_spark.stream.stop import Stop
    from wheelproof_spark.tables.outcome import outcome_of, progress

    if arguments.close and not arguments.available_now:
        raise UsageError("--close needs --available-now: a stream that goes on has no end")
    job = StreamJob(
        input=arguments.input,
        output=arguments.output,
        judging=Judging(
            options=check_options(arguments),
            patience=Patience(late=arguments.late, idle=arguments.idle),
        ),
        pace=Pace(
            files=arguments.files, seconds=None if arguments.available_now else arguments.every
        ),
        closing=arguments.close,
        workers=workers_of(arguments),
    )
    say = say_of(arguments)
    manifest = stream(job, lambda committed: say(progress(committed)), Stop(_notice))
    return show(outcome_of(manifest, arguments.output), arguments)


def _notice() -> None:
    print(
        "stopping after this batch; Ctrl-C once more to stop at once", file=sys.stderr, flush=True
    )
