"""The verb ``pipeline``: conformance at scale, on Apache Spark.

Spark is imported only when one of these verbs runs: the help needs only the standard library.
"""

import argparse
import importlib
import sys
from dataclasses import asdict
from pathlib import Path

from wheelproof_spark.base.options import KEPT, add_arguments, say_of, workers_of
from wheelproof_spark.campaign.seed_ranges import seed_range
from wheelproof_spec.app.judging import add_judging, check_options
from wheelproof_spec.app.verbs.declaring import Verbs
from wheelproof_spec.base.errors import UsageError
from wheelproof_spec.base.results.publishing import deliver
from wheelproof_spec.base.results.reports import json_text
from wheelproof_spec.base.results.verdicts import ExitCode

_OUTPUT = ("output",)


def register(verbs: Verbs) -> None:
    """Declare the verb and its own verbs."""
    group = verbs.group("pipeline", "judge recorded runs at scale, on Apache Spark")
    reads = ("input", *KEPT)
    parser = group.add(
        "check", "judge a folder of traces and histories", _check, reads=reads, writes=_OUTPUT
    )
    add_arguments(parser, "check")
    add_arguments(parser, "workers")
    add_judging(parser)
    parser = group.add(
        "report", "write one page of what was judged", _report, reads=KEPT, writes=("html",)
    )
    add_arguments(parser, "report")
    about = "fan out fuzzing and model-checker samples by seed"
    parser = group.add("campaign", about, _campaign, reads=KEPT, writes=_OUTPUT)
    add_arguments(
        parser, "campaign", {"--seeds": {"type": seed_range}, "--targets": {"default": []}}
    )
    add_arguments(parser, "workers")
    add_arguments(parser, "wave")
    parser = group.add(
        "stream",
        "judge runs as files are moved into a folder",
        _stream,
        reads=reads,
        writes=_OUTPUT,
    )
    add_arguments(parser, "stream")
    add_arguments(parser, "workers")
    add_judging(parser)


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
    notice = "stopping after this batch; Ctrl-C once more to stop at once"
    print(notice, file=sys.stderr, flush=True)
