"""The verb `wheelproof prove`: inductive invariants, for any number of threads."""

import argparse
import sys
from collections import Counter
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from wheelproof_spec.app.verbs import VERBS
from wheelproof_spec.app.verbs.declaring import Verbs
from wheelproof_spec.base.arguments import positive_seconds, unknown
from wheelproof_spec.base.errors import UsageError
from wheelproof_spec.base.results.publishing import Result, publish
from wheelproof_spec.base.results.terminal import coloured
from wheelproof_spec.base.results.verdicts import CheckResult, ExitCode, Verdict, overall

if TYPE_CHECKING:
    from wheelproof_spec.engines.prove.system import Proof

_SECONDS = 60.0


def register(verbs: Verbs) -> None:
    """Declare the verb and its arguments."""
    parser = verbs.add("prove", VERBS["prove"], run)
    parser.add_argument("proofs", nargs="*", metavar="NAME", help="proofs, by name or pattern")
    parser.add_argument("--all", action="store_true", help="make every proof")
    parser.add_argument("--list", action="store_true", help="list the proofs")
    parser.add_argument(
        "--details", action="store_true", help="show how each variant is refuted, state by state"
    )
    parser.add_argument(
        "--seconds",
        type=positive_seconds,
        default=_SECONDS,
        metavar="S",
        help="the limit for one obligation (default: %(default)g); beyond it is inconclusive",
    )


def run(arguments: argparse.Namespace) -> int:
    """Run the verb; the exit code is that of the worst verdict."""
    from wheelproof_spec.app.parts import proofs

    if arguments.list:
        for proof in proofs():
            print(f"{proof.name:36} {proof.summary}")
        return ExitCode.PASS
    if arguments.all == bool(arguments.proofs):
        raise UsageError("name the proofs to make, or give --all; --list lists them")
    chosen = _select(proofs(), ["*"] if arguments.all else arguments.proofs)
    # Only here the solver is needed.
    from wheelproof_spec.engines.prove.obligations import carry_out
    from wheelproof_spec.engines.prove.solver import version

    results: list[CheckResult] = []

    def tell(result: CheckResult) -> None:
        results.append(result)
        if not arguments.quiet:
            print(coloured(_line(result), sys.stdout), flush=True)
            if result.details and (arguments.details or result.verdict is not Verdict.PASS):
                print(result.details)

    interrupted = False
    try:
        for proof in chosen:
            carry_out(proof, seconds=arguments.seconds, on_result=tell)
    except KeyboardInterrupt:
        interrupted = True
    verdicts = [result.verdict for result in results]
    verdict = overall([*verdicts, Verdict.INCONCLUSIVE] if interrupted else verdicts)
    counts = Counter(verdicts)
    ended = ", ".join(f"{counts[one]} {one.value}" for one in Verdict if counts[one])
    line = f"{verdict.value}: {len(results)} obligations of {len(chosen)} proofs: {ended or 'none'}"
    result = Result(
        verb="prove",
        verdict=verdict,
        checks=results,
        line=f"{line}; interrupted" if interrupted else line,
        text=f"{line}; interrupted" if interrupted else line,
        given={
            "proofs": [proof.name for proof in chosen],
            "seconds": arguments.seconds,
            "z3": version(),
        },
    )
    return publish(result, arguments)


def _select(proofs: "tuple[Proof, ...]", patterns: list[str]) -> "list[Proof]":
    for pattern in patterns:
        if not any(fnmatchcase(proof.name, pattern) for proof in proofs):
            raise UsageError(unknown("prove", pattern, [proof.name for proof in proofs]))
    return [
        proof for proof in proofs if any(fnmatchcase(proof.name, pattern) for pattern in patterns)
    ]


def _line(result: CheckResult) -> str:
    return f"{result.group}: {result.name}: {result.verdict.value}, {result.summary}"
