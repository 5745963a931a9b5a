"""The verb `conform`: drive another implementation and judge it."""

import argparse
import importlib
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from wheelproof_spec.app.verbs.declaring import Verbs
from wheelproof_spec.base.arguments import unknown
from wheelproof_spec.base.errors import UsageError
from wheelproof_spec.base.results.publishing import Result, publish
from wheelproof_spec.base.results.terminal import progress
from wheelproof_spec.components.registry import COMPONENTS
from wheelproof_spec.drive.usual import (
    CASES,
    MEMORY_MB,
    SEED,
    TEMPLATES,
    TIMEOUT_S,
    PrintTemplate,
)

if TYPE_CHECKING:
    from wheelproof_spec.drive.result import ConformanceResult


def register(verbs: Verbs) -> None:
    """Add the verb to the program."""
    verbs.own(
        "conform",
        _run,
        {
            "--template": {"action": PrintTemplate, "choices": TEMPLATES},
            "--component": {"choices": COMPONENTS, "default": COMPONENTS[0]},
            "--cases": {"default": CASES},
            "--seed": {"default": SEED},
            "--timeout": {"default": TIMEOUT_S},
            "--memory-mb": {"default": MEMORY_MB},
        },
    )


def _run(arguments: argparse.Namespace) -> int:
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
    if profile is not None and profile not in profiles:
        raise UsageError(unknown(f"the profiles of the {suite.definition.name}", profile, profiles))
    if arguments.must_fail and skip is None:
        raise UsageError("--must-fail tells of known limits; name their file with --skip FILE")
    plan = ConformancePlan(
        driver=arguments.driver,
        profile=profile,
        cases=arguments.cases,
        seed=arguments.seed,
        limits=DriverLimits(
            timeout_s=arguments.timeout,
            start_s=arguments.timeout,
            memory_mb=arguments.memory_mb,
        ),
        skip=skip,
        must_fail=arguments.must_fail,
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


def _page(result: "ConformanceResult") -> str:
    from wheelproof_spec.app.pages.conformance.page import render_conformance

    return render_conformance(result)


def _result_of(result: "ConformanceResult") -> Result:
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
    )
