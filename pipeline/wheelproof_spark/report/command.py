"""The verb ``pipeline report``: one page from the tables of what was judged."""

import argparse
from dataclasses import asdict
from pathlib import Path

from wheelproof_spark.base.options import KEPT, add_arguments
from wheelproof_spec.app.verbs.declaring import Verbs
from wheelproof_spec.base.results.publishing import deliver
from wheelproof_spec.base.results.reports import json_text
from wheelproof_spec.base.results.verdicts import ExitCode


def register(verbs: Verbs) -> None:
    """Declare the verb."""
    parser = verbs.add(
        "report", "write one page of what was judged", run, reads=KEPT, writes=("html",)
    )
    add_arguments(parser, "report")


def run(arguments: argparse.Namespace) -> int:
    """Write the page of the last committed batch."""
    from wheelproof_spark.report.page import write_page
    from wheelproof_spark.tables.outcome import sentence

    path: Path = arguments.html or arguments.output / "report.html"
    manifest = write_page(arguments.output, path)
    document = {"page": str(path), "counts": asdict(manifest.counts)}
    forms = {"json": lambda: json_text(document)}
    deliver(arguments, forms, f"{sentence(manifest)}\n{path}")
    return ExitCode.PASS
