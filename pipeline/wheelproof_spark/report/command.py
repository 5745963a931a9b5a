"""The verb ``pipeline report``: one page from the tables of what was judged."""

import argparse
from pathlib import Path

from wheelproof_spark.base.options import add_output
from wheelproof_spec.verbs import Verbs


def register(verbs: Verbs) -> None:
    """Declare the verb."""
    parser = verbs.add("report", "write one page of what was judged", run)
    add_output(parser)
    parser.add_argument(
        "--html", type=Path, metavar="FILE", help="the page (default: DIR/report.html)"
    )


def run(arguments: argparse.Namespace) -> int:
    """Write the page."""
    from wheelproof_spark.report.page import write_report

    return write_report(arguments)
