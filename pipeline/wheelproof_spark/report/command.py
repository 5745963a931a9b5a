"""The verb ``pipeline report``: one page from the tables of what was judged."""

import argparse
from dataclasses import asdict
from pathlib import Path

from wheelproof_spark.base.options import add_output
from wheelproof_spec.app.verbs import Verbs
from wheelproof_spec.base.reports import write_json
from wheelproof_spec.base.verdicts import ExitCode


def register(verbs: Verbs) -> None:
    """Declare the verb."""
    parser = verbs.add("report", "write one page of what was judged", run)
    add_output(parser)
    parser.add_argument(
        "--html", type=Path, metavar="FILE", help="the page (default: DIR/report.html)"
    )


def run(arguments: argparse.Namespace) -> int:
    """Write the page of the last committed batch."""
    from wheelproof_spark.report.page import write_page
    from wheelproof_spark.tables.outcome import sentence

    path: Path = arguments.html or arguments.output / "report.html"
    manifest = write_page(arguments.output, path)
    if arguments.json is not None:
        write_json(arguments.json, {"page": str(path), "counts": asdict(manifest.counts)})
    print(f"{sentence(manifest)}\n{path}")
    return ExitCode.PASS
