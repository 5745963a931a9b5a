"""The verb ``pipeline stream``: judges runs as their files come."""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from wheelproof_spark.options import add_master, add_output
from wheelproof_spec.app.judging import add_judging, check_options
from wheelproof_spec.app.verbs import Verbs
from wheelproof_spec.base.arguments import positive
from wheelproof_spec.base.errors import UsageError

if TYPE_CHECKING:
    from wheelproof_spark.manifest import Manifest

_LATE = 10
_FILES = 1_000
_SECONDS = 10


def register(verbs: Verbs) -> None:
    """Declare the verb."""
    parser = verbs.add("stream", "judge runs as files are moved into a folder", run)
    parser.add_argument(
        "--input", type=Path, metavar="DIR", required=True, help="where files are moved into"
    )
    add_output(parser)
    parser.add_argument(
        "--available-now", action="store_true", help="judge the files that are there, then end"
    )
    parser.add_argument(
        "--close",
        action="store_true",
        help="with --available-now: judge what is open at the end, as far as it goes",
    )
    parser.add_argument(
        "--late",
        type=positive,
        default=_LATE,
        metavar="N",
        help="lines may come until N batches after the end of their run (default: %(default)s)",
    )
    parser.add_argument(
        "--idle",
        type=positive,
        metavar="N",
        help="give up a run without an end after N batches without a line of it (default: never)",
    )
    parser.add_argument(
        "--files",
        type=positive,
        default=_FILES,
        metavar="N",
        help="at most so many files a batch (default: %(default)s)",
    )
    parser.add_argument(
        "--every",
        type=positive,
        default=_SECONDS,
        metavar="S",
        help="begin a batch every S seconds, if there are files (default: %(default)s)",
    )
    add_master(parser)
    add_judging(parser)


def run(arguments: argparse.Namespace) -> int:
    """Judge until told to stop."""
    from wheelproof_spark.outcome import show
    from wheelproof_spark.stop import Stop
    from wheelproof_spark.stream_batch import Judging
    from wheelproof_spark.stream_job import StreamJob, stream
    from wheelproof_spark.stream_query import Pace
    from wheelproof_spark.stream_state import Patience

    if arguments.close and not arguments.available_now:
        raise UsageError("--close needs --available-now: a stream that goes on has no end")
    job = StreamJob(
        input=arguments.input,
        output=arguments.output,
        judging=Judging(
            options=check_options(arguments),
            patience=Patience(late=arguments.late, idle=arguments.idle),
            partitions=arguments.partitions,
        ),
        pace=Pace(
            files=arguments.files, seconds=None if arguments.available_now else arguments.every
        ),
        closing=arguments.close,
        master=arguments.master,
        progress=not arguments.quiet and sys.stderr.isatty(),
    )
    after_batch = _nothing if arguments.quiet else _progress
    return show(stream(job, after_batch, Stop(_notice)), arguments)


def _progress(manifest: "Manifest") -> None:
    from wheelproof_spark.outcome import progress

    print(progress(manifest), flush=True)


def _nothing(manifest: "Manifest") -> None:
    del manifest


def _notice() -> None:
    print(
        "stopping after this batch; Ctrl-C once more to stop at once", file=sys.stderr, flush=True
    )
