"""The verb ``pipeline stream``: judges runs as their files come."""

import argparse
import sys

from wheelproof_spark.base.options import (
    KEPT,
    add_input,
    add_number,
    add_output,
    add_workers,
    say_of,
    workers_of,
)
from wheelproof_spec.app.judging import add_judging, check_options
from wheelproof_spec.app.verbs.declaring import Verbs
from wheelproof_spec.base.errors import UsageError

_LATE = 10
_FILES = 1_000
_SECONDS = 10


def register(verbs: Verbs) -> None:
    """Declare the verb."""
    parser = verbs.add(
        "stream",
        "judge runs as files are moved into a folder",
        run,
        reads=("input", *KEPT),
        writes=("output",),
    )
    add_input(parser, "where files are moved into")
    add_output(parser)
    parser.add_argument(
        "--available-now", action="store_true", help="judge the files that are there, then end"
    )
    parser.add_argument(
        "--close",
        action="store_true",
        help="with --available-now: judge what is open at the end, as far as it goes",
    )
    late = "lines may come until N batches after the end of their run"
    add_number(parser, "--late", late, _LATE)
    idle = "give up a run without an end after N batches without a line of it (default: never)"
    add_number(parser, "--idle", idle)
    add_number(parser, "--files", "at most so many files a batch", _FILES)
    every = "begin a batch every S seconds, if there are files"
    add_number(parser, "--every", every, _SECONDS, "S")
    add_workers(parser)
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
