"""The verb `conform`: drive another implementation and judge it."""

import argparse
import importlib
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from wheelproof_spec.app.program import carries
from wheelproof_spec.base.arguments import bounded, positive_seconds, unknown
from wheelproof_spec.base.errors import UsageError
from wheelproof_spec.base.results.publishing import Result, publish
from wheelproof_spec.base.results.terminal import progress
from wheelproof_spec.base.results.verdicts import ExitCode
from wheelproof_spec.components.registry import COMPONENTS
from wheelproof_spec.drive.usual import (
    CASES,
    LANGUAGES,
    MEMORY_MB,
    MOST_JOBS,
    RECORDER,
    SEED,
    TIMEOUT_S,
    template,
)

if TYPE_CHECKING:
    from wheelproof_spec.drive.result import ConformanceResult


def declare(parser: argparse.ArgumentParser) -> None:
    """Declare the verb."""
    asked = parser.add_mutually_exclusive_group(required=True)
    asked.add_argument(
        "--driver",
        metavar="CMD",
        help="the command that starts the driver; its words are split as a shell does, but no "
        "shell is started",
    )
    asked.add_argument(
        "--template",
        choices=[*LANGUAGES, RECORDER],
        help="print an adapter of the component to start from, or a recorder for `wheelproof "
        "check`, and do no more",
    )
    parser.add_argument(
        "--component",
        choices=COMPONENTS,
        default=COMPONENTS[0],
        help="what is judged (default: %(default)s)",
    )
    parser.add_argument(
        "--profile",
        metavar="NAME",
        help="the contract that the implementation promises (default: the one that the driver "
        "declares, or else kafka)",
    )
    parser.add_argument(
        "--infer",
        action="store_true",
        help="find the strongest profile that the implementation keeps, and judge by that one",
    )
    parser.add_argument(
        "--cases",
        type=bounded(1),
        default=CASES,
        metavar="N",
        help="how many cases are fuzzed after the named ones (default: %(default)s)",
    )
    parser.add_argument(
        "--seed",
        type=int,
        default=SEED,
        metavar="N",
        help="where the fuzzing starts (default: %(default)s)",
    )
    parser.add_argument(
        "--case",
        type=Path,
        metavar="FILE",
        help="drive one case and no other: its requests, a line each, as a failure shows them; "
        "- is standard input",
    )
    parser.add_argument(
        "--jobs",
        type=bounded(1, MOST_JOBS),
        default=1,
        metavar="N",
        help="let so many processes of the driver work at once, at most "
        f"{MOST_JOBS}, if it declares that several may; the verdict is that of one "
        "(default: %(default)s)",
    )
    parser.add_argument(
        "--skip",
        type=Path,
        metavar="FILE",
        help="known limits that are not judged: one a line, the clause and then the reason",
    )
    parser.add_argument(
        "--must-fail",
        action="store_true",
        help="with --skip: fail if a listed limit is no longer needed",
    )
    parser.add_argument(
        "--html",
        type=Path,
        metavar="FILE",
        help="write a page to FILE: clause by clause, and each failing case drawn, to step through",
    )
    parser.add_argument(
        "--vectors",
        action="append",
        default=[],
        metavar="GLOB",
        help="files of vectors, which are run first",
    )
    parser.add_argument(
        "--timeout",
        type=positive_seconds,
        default=TIMEOUT_S,
        metavar="S",
        help="how long the driver may take for an answer, the first one too, in seconds "
        "(default: %(default)g)",
    )
    parser.add_argument(
        "--memory-mb",
        type=bounded(1),
        default=MEMORY_MB,
        metavar="N",
        help="how much memory its processes may hold, in MiB (default: %(default)s)",
    )
    carries(parser, _run, reads=("driver", "skip", "case", "vectors"), writes=("html",))


def _run(arguments: argparse.Namespace) -> int:
    if arguments.template is not None:
        return _print_template(arguments.template, arguments.component)
    from wheelproof_spec.app.recorded import parse_line
    from wheelproof_spec.components.registry import suites
    from wheelproof_spec.drive.conformance import conform
    from wheelproof_spec.drive.driver.process import DriverLimits
    from wheelproof_spec.drive.plan import ConformancePlan
    from wheelproof_spec.drive.vector_files import find_vector_files, read_vectors

    skip: Path | None = arguments.skip
    suite = suites()[arguments.component]
    profile: str | None = arguments.profile
    profiles = suite.definition.profiles
    if profile is not None and not suite.definition.has_profile(profile):
        raise UsageError(unknown(f"the profiles of the {suite.definition.name}", profile, profiles))
    if arguments.infer and profile is not None:
        raise UsageError("--infer finds the profile; leave out --profile")
    if arguments.case is not None and (arguments.infer or arguments.must_fail or arguments.vectors):
        raise UsageError("--case drives one case; leave out --infer, --must-fail and --vectors")
    if arguments.must_fail and skip is None:
        raise UsageError("--must-fail tells of known limits; name their file with --skip FILE")
    plan = ConformancePlan(
        driver=arguments.driver,
        profile=profile,
        infer=arguments.infer,
        cases=arguments.cases,
        seed=arguments.seed,
        limits=DriverLimits(
            timeout_s=arguments.timeout,
            start_s=arguments.timeout,
            memory_mb=arguments.memory_mb,
        ),
        skip=skip,
        must_fail=arguments.must_fail,
        case=arguments.case,
        jobs=arguments.jobs,
        vectors=tuple(find_vector_files(arguments.vectors)),
    )
    vectors = [published.vector for published in read_vectors(plan.vectors, parse_line)]
    if arguments.html is not None:
        # Jinja is an extra: report that it is missing before anything is started.
        importlib.import_module("jinja2")
    with progress(quiet=arguments.quiet) as shown:
        result = conform(
            suite,
            plan,
            vectors,
            lambda cases, steps: shown.tell(f"{cases:,} cases, {steps:,} steps"),
        )
    return publish(_result_of(result), arguments, lambda: _page(result))


def _print_template(name: str, component: str) -> int:
    if name == RECORDER and component != COMPONENTS[0]:
        raise UsageError(
            f"the recorder to start from is one of a {COMPONENTS[0]}; for a {component} see "
            "docs/recording.md"
        )
    print(template(name, component), end="")
    return ExitCode.PASS


def _page(result: "ConformanceResult") -> str:
    from wheelproof_spec.app.pages.conformance.page import render_conformance

    return render_conformance(result)


def _result_of(result: "ConformanceResult") -> Result:
    from wheelproof_spec.drive.conformance import INTERRUPTED
    from wheelproof_spec.drive.result import check_results, given
    from wheelproof_spec.drive.text import render, verdict_line

    return Result(
        verb="conform",
        verdict=result.verdict,
        checks=check_results(result),
        line=verdict_line(result),
        text=render(result),
        given=given(result),
        document=asdict(result),
        repeat=result.repeat,
        interrupted=result.open_question == INTERRUPTED,
    )
