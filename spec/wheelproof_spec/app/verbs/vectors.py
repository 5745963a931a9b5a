"""The verb `vectors`: lists, verifies and runs the published vectors."""

import argparse
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from wheelproof_spec.app.program import carries
from wheelproof_spec.base.arguments import unknown
from wheelproof_spec.base.errors import UsageError, printable
from wheelproof_spec.base.results.outputs import require_separate_files
from wheelproof_spec.base.results.publishing import deliver
from wheelproof_spec.base.results.reports import json_text, junit_text
from wheelproof_spec.base.results.terminal import progress
from wheelproof_spec.base.results.verdicts import CheckResult, ExitCode, Verdict, exit_code, overall

if TYPE_CHECKING:
    from wheelproof_spec.base.history.lines import Vector
    from wheelproof_spec.drive.vector_files import PublishedVector
    from wheelproof_spec.drive.vector_run import VectorTally

_MOST_SHOWN = 5


def declare(parser: argparse.ArgumentParser) -> None:
    """Declare the verb."""
    parser.add_argument(
        "what", choices=["list", "verify", "run"], help="what to do with the vectors"
    )
    parser.add_argument(
        "files",
        nargs="*",
        metavar="GLOB",
        help="files of vectors (default: the published ones)",
    )
    parser.add_argument("--driver", metavar="CMD", help="for run: the command of the driver")
    parser.add_argument(
        "--profile",
        metavar="NAME",
        help="for run: the contract that the implementation promises (default: the one that the "
        "driver declares, or else kafka)",
    )
    parser.add_argument(
        "--skip", type=Path, metavar="FILE", help="for run: known limits that are not judged"
    )
    carries(parser, _run, reads=("files", "driver", "skip"))
    parser.set_defaults(late_files=True)


def _run(arguments: argparse.Namespace) -> int:
    from wheelproof_spec.app.recorded import parse_line
    from wheelproof_spec.drive.vector_files import read_vectors

    files = _files(arguments.files)
    arguments.files = files
    require_separate_files(arguments, arguments.reads, arguments.writes)
    with progress(quiet=arguments.quiet) as shown:
        read = shown.counting(read_vectors(files, parse_line), "vectors read")
        vectors = list(read)
    if arguments.what == "list":
        return _list(arguments, vectors)
    if arguments.what == "verify":
        return _verify(arguments, vectors)
    return _drive(arguments, [published.vector for published in vectors])


def _files(patterns: Sequence[str]) -> list[Path]:
    from wheelproof_spec.base.resources import vectors_directory
    from wheelproof_spec.drive.vector_files import find_vector_files

    return find_vector_files(patterns or [str(vectors_directory() / "*.jsonl")])


def _list(arguments: argparse.Namespace, vectors: "Sequence[PublishedVector]") -> int:
    files = Counter(published.source for published in vectors)
    flags = Counter(flag for published in vectors for flag in published.vector.flags)
    profiles = Counter(name for published in vectors for name in published.vector.profiles)
    steps = sum(len(published.vector.steps) for published in vectors)
    if not arguments.quiet:
        for title, counts in (("file", files), ("flag", flags), ("profile", profiles)):
            print(f"{title:<52}{'vectors':>8}")
            for name, count in counts.items():
                print(f"{printable(Path(name).name):<52}{count:>8,}")
            print()
    summary = f"{len(vectors):,} vectors with {steps:,} steps"
    _report(arguments, Verdict.PASS, summary, summary, files=files, flags=flags, profiles=profiles)
    return ExitCode.PASS


def _verify(arguments: argparse.Namespace, vectors: "Sequence[PublishedVector]") -> int:
    from wheelproof_spec.components.timer.vector_answers import disagreement

    problems: list[str] = []
    with progress(quiet=arguments.quiet) as shown:
        for published in shown.counting(vectors, f"of {len(vectors):,} vectors verified"):
            problem = disagreement(published.vector)
            if problem is not None:
                place = f"{published.source}:{published.line}: {published.vector.id}"
                problems.append(printable(f"{place}: {problem}"))
    verdict = Verdict.PASS if vectors else Verdict.INCONCLUSIVE
    if problems:
        verdict = Verdict.FAIL
    if problems and not arguments.quiet:
        print("\n".join(problems[:_MOST_SHOWN]))
    summary = (
        f"{len(vectors):,} vectors: schema, hash and answers verified, {len(problems):,} wrong"
    )
    _report(arguments, verdict, f"{verdict.upper()}: {summary}", summary, problems=problems)
    return exit_code(verdict)


def _drive(arguments: argparse.Namespace, vectors: "Sequence[Vector[object, object]]") -> int:
    if arguments.driver is None:
        raise UsageError("vectors run needs --driver CMD, the command that starts the driver")
    from wheelproof_spec.base.component import any_definition
    from wheelproof_spec.base.results.known_limits import read_known_limits
    from wheelproof_spec.components.timer.component import DEFINITION
    from wheelproof_spec.drive.conformance import MOST_FAILURES
    from wheelproof_spec.drive.driver.process import DriverFailedError
    from wheelproof_spec.drive.driver.session import DriverSession
    from wheelproof_spec.drive.vector_run import VectorRunner, VectorTally, run_vectors

    if arguments.profile is not None and not DEFINITION.has_profile(arguments.profile):
        raise UsageError(unknown("--profile", arguments.profile, DEFINITION.profiles))
    skippable = DEFINITION.may_be_limits()
    limits = () if arguments.skip is None else read_known_limits(arguments.skip, skippable)
    tally = VectorTally()
    troubles: list[str] = []
    profile: str = arguments.profile or DEFINITION.profiles[0]
    with (
        DriverSession(arguments.driver) as session,
        progress(quiet=arguments.quiet) as shown,
    ):
        runner = VectorRunner(session, any_definition(DEFINITION), limits)
        # One iterator for all tries: a vector on which the driver failed is not sent again.
        waiting = shown.counting(vectors, f"of {len(vectors):,} vectors driven")
        begin = session.introduce
        while len(troubles) < MOST_FAILURES:
            try:
                introduction = begin()
                profile = arguments.profile or introduction.profiles.get(DEFINITION.name, profile)
                begin = session.begin_again
                run_vectors(runner, waiting, profile, introduction, tally)
                session.say_goodbye()
                break
            except DriverFailedError as failure:
                troubles.append(str(failure))
                if begin == session.introduce:
                    break
    verdict = overall([tally.verdict, *(Verdict.ERROR for _ in troubles)])
    if not arguments.quiet:
        for line in _story(tally, troubles):
            print(line)
    line = f"{verdict.upper()}: profile {profile}: {tally.summary}"
    _report(arguments, verdict, line, tally.summary, troubles=troubles, **asdict(tally))
    return exit_code(verdict)


def _story(tally: "VectorTally", troubles: Sequence[str]) -> list[str]:
    lines = [f"error: {trouble}" for trouble in troubles]
    for failure in tally.failures[:_MOST_SHOWN]:
        violation = failure.violation
        lines += [f"{failure.vector}: {violation.reason}"]
        lines += [f"  expected: {violation.expected}", f"  observed: {violation.observed}"]
        lines += [f"    {line}" for line in failure.lines]
    if len(tally.failures) > _MOST_SHOWN:
        lines.append(f"and {len(tally.failures) - _MOST_SHOWN:,} more")
    return lines


def _report(
    arguments: argparse.Namespace, verdict: Verdict, line: str, summary: str, **more: object
) -> None:
    document = {"schema": "wheelproof.vectors/1", "verdict": verdict, "summary": summary, **more}
    check = CheckResult(name=arguments.what, group="vectors", verdict=verdict, summary=summary)
    forms = {
        "json": lambda: json_text(document),
        "junit": lambda: junit_text("wheelproof.vectors", [check]),
    }
    deliver(arguments, forms, line)
