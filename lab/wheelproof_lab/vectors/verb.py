"""The verb `vectors`: makes the published vectors of the timer again."""

import argparse
from pathlib import Path

from wheelproof_lab.checkout import required_checkout
from wheelproof_spec.app.program import carries
from wheelproof_spec.base.results.publishing import Result, publish
from wheelproof_spec.base.results.verdicts import CheckResult, Verdict


def declare(parser: argparse.ArgumentParser) -> None:
    """Declare the verb."""
    parser.add_argument(
        "--output", type=Path, metavar="DIR", help="the folder of the files (default: vectors/)"
    )
    carries(parser, run, writes=("output",))


def run(arguments: argparse.Namespace) -> int:
    """Write the vectors; raises DisagreementError if TLC and the contract differ."""
    from wheelproof_lab.vectors.generate import generate

    counts = generate(arguments.output or required_checkout() / "vectors")
    sizes = {path: path.stat().st_size for path in counts}
    summary = f"{sum(counts.values()):,} vectors"
    line = f"{summary}, {sum(sizes.values()):,} bytes"
    files = [f"{path}: {count:,} vectors, {sizes[path]:,} bytes" for path, count in counts.items()]
    result = Result(
        verb="vectors",
        verdict=Verdict.PASS,
        checks=[
            CheckResult(name="generate", group="vectors", verdict=Verdict.PASS, summary=summary)
        ],
        line=line,
        text="\n".join((*files, line)),
    )
    return publish(result, arguments)
