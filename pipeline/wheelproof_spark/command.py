"""The verb ``pipeline``: conformance at scale, on Apache Spark.

Spark is imported only when one of these verbs runs: the help needs only the standard library.
"""

import argparse
import importlib
import sys
from dataclasses import asdict
from pathlib import Path

from wheelproof_spark.base.options import (
    KEPT,
    add_runs,
    add_tables,
    add_workers,
    say_of,
    source,
    workers_of,
)
from wheelproof_spark.campaign.seed_ranges import seed_range
from wheelproof_spec.app.judging import add_judging, check_options
from wheelproof_spec.app.program import carries
from wheelproof_spec.base.arguments import bounded
from wheelproof_spec.base.errors import UsageError
from wheelproof_spec.base.results.publishing import deliver
from wheelproof_spec.base.results.reports import json_text
from wheelproof_spec.base.results.verdicts import ExitCode


def declare(parser: argparse.ArgumentParser) -> None:
    """Declare the verb and its own verbs; the entry point `pipeline` names this function."""
    verbs = parser.add_subparsers(required=True, metavar="VERB")
    for name, summary, add in (
        ("check", "judge a folder of traces and histories", _declare_check),
        ("report", "write one page of what was judged", _declare_report),
        ("campaign", "fan out fuzzing and model-checker samples by seed", _declare_campaign),
        ("stream", "judge runs as files are moved into a folder", _declare_stream),
        ("compact", "join the small files of the tables, remove old ones", _declare_compact),
    ):
        add(verbs.add_parser(name, help=summary, description=summary, allow_abbrev=False))


def _declare_check(parser: argparse.ArgumentParser) -> None:
    add_runs(parser)
    add_tables(parser)
    add_workers(parser)
    add_judging(parser)
    carries(parser, _check, reads=("input", *KEPT), writes=("output",))


def _declare_report(parser: argparse.ArgumentParser) -> None:
    add_tables(parser)
    parser.add_argument(
        "--html", type=Path, metavar="FILE", help="the page (default: DIR/report.html)"
    )
    carries(parser, _report, reads=KEPT, writes=("html",))


def _declare_compact(parser: argparse.ArgumentParser) -> None:
    add_tables(parser)
    carries(parser, _compact, reads=KEPT, writes=("output",))


def _declare_campaign(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--seeds",
        type=seed_range,
        required=True,
        metavar="A..B",
        help="the seeds of each target, both ends included",
    )
    parser.add_argument(
        "--targets",
        nargs="+",
        default=[],
        metavar="T",
        help="fuzz/MACHINE/THREADS, explore/PROGRAM, or a pattern ('fuzz/*/none'); by default all "
        "that do the same thing with the same seed",
    )
    parser.add_argument(
        "--bug",
        action="append",
        default=[],
        metavar="ID",
        help="the targets that find this known bug, with the bug brought back",
    )
    add_tables(parser)
    add_workers(parser)
    parser.add_argument(
        "--wave",
        type=bounded(1),
        metavar="N",
        help="commit after every N seeds (default: what takes about 10 s)",
    )
    carries(parser, _campaign, reads=KEPT, writes=("output",))


def _declare_stream(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--input",
        type=source,
        metavar="DIR",
        required=True,
        help="where files are moved into, as for check, or kafka://HOST:PORT/TOPIC",
    )
    add_tables(parser)
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
        type=bounded(1),
        default=10,
        metavar="N",
        help="lines may come until N batches after the end of their run (default: %(default)s)",
    )
    parser.add_argument(
        "--idle",
        type=bounded(1),
        metavar="N",
        help="give up a run without an end after N batches without a line of it (default: never)",
    )
    parser.add_argument(
        "--files",
        type=bounded(1),
        default=1000,
        metavar="N",
        help="at most so many files a batch (default: %(default)s)",
    )
    parser.add_argument(
        "--every",
        type=bounded(1),
        default=10,
        metavar="S",
        help="begin a batch every S seconds, if there are files (default: %(default)s)",
    )
    add_workers(parser)
    add_judging(parser)
    carries(parser, _stream, reads=("input", *KEPT), writes=("output",))


def _check(arguments: argparse.Namespace) -> int:
    """Judge the new files of the input."""
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


def _report(arguments: argparse.Namespace) -> int:
    """Write the page of the last committed batch."""
    from wheelproof_spark.report.page import write_page
    from wheelproof_spark.tables.outcome import sentence

    path: Path = arguments.html or arguments.output / "report.html"
    manifest = write_page(arguments.output, path)
    document = {"page": str(path), "counts": asdict(manifest.counts)}
    forms = {"json": lambda: json_text(document)}
    deliver(arguments, forms, f"{sentence(manifest)}\n{path}")
    return ExitCode.PASS


def _compact(arguments: argparse.Namespace) -> int:
    """Join the small files of the tables."""
    from wheelproof_spark.tables.compact import compact

    found = compact(arguments.output.resolve())
    forms = {"json": lambda: json_text({"tables": [asdict(table) for table in found]})}
    before, after = sum(one.before for one in found), sum(one.after for one in found)
    deliver(arguments, forms, f"{len(found)} tables: {before:,} files became {after:,}")
    return ExitCode.PASS


def _campaign(arguments: argparse.Namespace) -> int:
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


def _stream(arguments: argparse.Namespace) -> int:
    """Judge until all is judged or a stop is requested."""
    from wheelproof_spark.base.feeder import Pace, Stop
    from wheelproof_spark.base.outcome import show
    from wheelproof_spark.stream.job import StreamJob, stream
    from wheelproof_spark.stream.state import Patience
    from wheelproof_spark.tables.outcome import outcome_of, progress

    if arguments.close and not arguments.available_now:
        raise UsageError("--close needs --available-now: a stream that goes on has no end")
    job = StreamJob(
        input=arguments.input,
        output=arguments.output,
        options=check_options(arguments),
        patience=Patience(late=arguments.late, idle=arguments.idle),
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
    notice = "stopping after this batch; Ctrl-C once more to stop at once"
    print(notice, file=sys.stderr, flush=True)
