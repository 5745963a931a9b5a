"""Options that several verbs of the pipeline share."""

import argparse
from pathlib import Path

from wheelproof_spec.arguments import positive


def add_output(parser: argparse.ArgumentParser) -> None:
    """Declare where the tables are."""
    parser.add_argument(
        "--output", type=Path, metavar="DIR", required=True, help="the folder of the tables"
    )


def add_master(parser: argparse.ArgumentParser) -> None:
    """Declare where Spark works."""
    parser.add_argument(
        "--master", default="local[*]", metavar="M", help="Spark's master (default: %(default)s)"
    )
    parser.add_argument(
        "--partitions", type=positive, metavar="N", help="in how many parts the work is done"
    )
