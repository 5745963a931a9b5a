"""The verb `prove`: inductive invariants, for any number of threads."""

import argparse
import os
import sys
import time
from collections import Counter
from fnmatch import fnmatchcase
from functools import partial
from typing import TYPE_CHECKING

from wheelproof_lab.processes import pool_of
from wheelproof_spec.app.program import carries
from wheelproof_spec.base.arguments import bounded, positive_seconds, unknown
from wheelproof_spec.base.errors import UsageError, WheelproofSpecError
from wheelproof_spec.base.results.publishing import Result, publish
from wheelproof_spec.base.results.terminal import coloured
from wheelproof_spec.base.results.verdicts import CheckResult, ExitCode, Verdict, overall

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wheelproof_lab.prove.system import Listed


def declare(parser: argparse.ArgumentParser) -> None:
    """Declare the verb."""
    parser.add_argument("proofs", nargs="*", metavar="NAME", help="proofs, by name or pattern")
    parser.add_argument("--all", action="store_true", help="make every proof")
    parser.add_argument("--list", action="store_true", help="list the proofs")
    parser.add_argument(
        "--details",
        action="store_true",
        help="show how each variant is refuted, state by state",
    )
    parser.add_argument(
        "--seconds",
        type=positive_seconds,
        default=60.0,
        metavar="S",
        help="the limit for one obligation (default: %(default)g); beyond it is inconclusive",
    )
    parser.add_argument(
        "--jobs",
        type=bounded(1),
        default=os.cpu_count() or 1,
        metavar="N",
        help="proofs at a time (default: one a processor)",
    )
    carries(parser, run)


def run(arguments: argparse.Namespace) -> int:
    """Run the verb; the exit code is that of the worst verdict."""
    from wheelproof_lab.prove.all_proofs import listed

    if arguments.list:
        for proof in listed():
            print(f"{proof.name:36} {proof.summary}")
        return ExitCode.PASS
    if arguments.all == bool(arguments.proofs):
        raise UsageError("name the proofs to make, or give --all; --list lists them")
    chosen = _select(listed(), ["*"] if arguments.all else arguments.proofs)
    # The solvers are imported only here, where they are needed.
    from wheelproof_lab.prove.obligations import BY_BOTH, BY_ONE
    from wheelproof_lab.prove.solvers import first, second

    results: list[CheckResult] = []

    def tell(result: CheckResult) -> None:
        results.append(result)
        if not arguments.quiet:
            print(coloured(_line(result), sys.stdout), flush=True)
            if result.details and (arguments.details or result.verdict is not Verdict.PASS):
                print(result.details)

    interrupted = False
    try:
        names = [one.name for one in chosen]
        for found in proved(names, jobs=arguments.jobs, seconds=arguments.seconds):
            tell(found)
    except KeyboardInterrupt:
        interrupted = True
    verdicts = [result.verdict for result in results]
    verdict = overall([*verdicts, Verdict.INCONCLUSIVE] if interrupted else verdicts)
    counts = Counter(verdicts)
    ended = ", ".join(f"{counts[one]} {one.value}" for one in Verdict if counts[one])
    both, alone = (sum(one.summary.startswith(how) for one in results) for how in (BY_BOTH, BY_ONE))
    line = (
        f"{verdict.value}: {len(results)} obligations of {len(chosen)} proofs: {ended or 'none'}; "
        f"{both} proved by both solvers, {alone} by z3 alone"
    )
    result = Result(
        verb="prove",
        verdict=verdict,
        checks=results,
        line=f"{line}; interrupted" if interrupted else line,
        text=f"{line}; interrupted" if interrupted else line,
        interrupted=interrupted,
        given={
            "proofs": [proof.name for proof in chosen],
            "seconds": arguments.seconds,
            "z3": first.version(),
            "cvc5": second.version(),
        },
    )
    return publish(result, arguments)


def proved(names: list[str], *, jobs: int = 1, seconds: float) -> "Iterator[CheckResult]":
    """Yield the result of each obligation of the proofs, in their order."""
    with pool_of(min(jobs, len(names)), tasks=1) as pool:
        for results in pool.imap(partial(_carried_out, seconds), names):
            yield from results


def _carried_out(seconds: float, name: str) -> list[CheckResult]:
    from wheelproof_lab.prove import ties
    from wheelproof_lab.prove.all_proofs import listed
    from wheelproof_lab.prove.obligations import carry_out

    (one,) = _select(listed(), [name])
    since = time.perf_counter()
    try:
        proof = one.make()
    except WheelproofSpecError as error:
        # Without Java, or with a text that cannot be translated, nothing is proved of this module.
        return [
            CheckResult(
                name="the text of the module",
                group=name,
                verdict=Verdict.INCONCLUSIVE,
                seconds=time.perf_counter() - since,
                summary=str(error),
            )
        ]
    return [*carry_out(proof, seconds=seconds), *ties.carry_out(proof)]


def _select(proofs: "tuple[Listed, ...]", patterns: list[str]) -> "list[Listed]":
    for pattern in patterns:
        if not any(fnmatchcase(proof.name, pattern) for proof in proofs):
            raise UsageError(unknown("prove", pattern, [proof.name for proof in proofs]))
    return [
        proof for proof in proofs if any(fnmatchcase(proof.name, pattern) for pattern in patterns)
    ]


def _line(result: CheckResult) -> str:
    return f"{result.group}: {result.name}: {result.verdict.value}, {result.summary}"
