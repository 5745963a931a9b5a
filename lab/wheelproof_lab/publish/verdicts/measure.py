"""Drives and records the implementations, and judges the results."""

import json
import os
import re
import shlex
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from wheelproof_lab.publish.verdicts.subjects import PYTHON, DrivenRun, Implementation, RecordedRun
from wheelproof_spec.app.recorded import judge_lines, parse_line
from wheelproof_spec.base.codec.vocabulary import Wire
from wheelproof_spec.base.codec.writer import plain
from wheelproof_spec.base.errors import WheelproofSpecError
from wheelproof_spec.base.history.lines import HistoryHeader, HistoryOp
from wheelproof_spec.base.results.run_verdict import RunVerdict
from wheelproof_spec.base.results.verdicts import ExitCode, Verdict, overall
from wheelproof_spec.components.registry import suites
from wheelproof_spec.drive.conformance import conform
from wheelproof_spec.drive.plan import ConformancePlan
from wheelproof_spec.drive.result import ConformanceResult, Inferred
from wheelproof_spec.history.checkers import CheckOptions
from wheelproof_spec.history.reader import read_lines

_CASES_FOR_LIMITS = 100
"""With fewer cases, a limit that is still needed may not show."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Extent:
    """The extent of the measurements; `seed` is for the cases and for the callers' choices."""

    cases: int
    operations: int
    threads: int
    histories: int
    seed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DrivenVerdict:
    """The result of driving an implementation, and the command that repeats it.

    If the implementation declares the profile, `inferred` has the strongest one that it keeps.
    """

    run: DrivenRun
    result: ConformanceResult
    inferred: Inferred | None
    command: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedVerdict:
    """The verdicts on the histories of a component, judged under one profile."""

    component: str
    profile: str
    configs: tuple[str, ...]
    verdicts: tuple[RunVerdict, ...]
    calls: Counter[str]
    commands: tuple[str, str]

    @property
    def verdict(self) -> Verdict:
        """The verdict on all histories."""
        return overall(one.verdict for one in self.verdicts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """All verdicts on one implementation."""

    implementation: Implementation
    driven: tuple[DrivenVerdict, ...]
    recorded: tuple[RecordedVerdict, ...]


class MeasurementFailedError(WheelproofSpecError):
    """An error: there is no verdict, because a program failed."""

    exit_code = ExitCode.INTERNAL_ERROR


def java_version() -> str:
    """Return the version of the Java that the adapters run on, as their start scripts find it."""
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home) / "bin" / "java") if home else "java"
    try:
        completed = subprocess.run([java, "-version"], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise MeasurementFailedError(f"{java} cannot be run: {error}") from error
    return completed.stderr.partition('"')[2].partition('"')[0]


def measure(
    implementations: Iterable[Implementation],
    extent: Extent,
    folder: Path,
    tell: Callable[[str], None],
) -> tuple[Measured, ...]:
    """Judge the implementations, from the root of the checkout; `folder` takes the histories.

    `tell` gets the progress. Raises MeasurementFailedError.
    """
    measured: list[Measured] = []
    for one in implementations:
        if one.build:
            _run(one, one.build, "built")
        driven: list[DrivenVerdict] = []
        for run in one.driven:
            tell(f"{one.name}: driving the {run.component}, profile {run.profile}")
            driven.append(_drive(one, run, extent))
        recorded: list[RecordedVerdict] = []
        for history in one.recorded:
            tell(f"{one.name}: recording the {history.component}")
            recorded += _record(one, history, extent, folder)
        measured.append(
            Measured(implementation=one, driven=tuple(driven), recorded=tuple(recorded))
        )
    return tuple(measured)


def _drive(implementation: Implementation, run: DrivenRun, extent: Extent) -> DrivenVerdict:
    # An implementation that declares the profile must still need each of its limits.
    must_fail = run.skip is not None and run.share == 1 and extent.cases >= _CASES_FOR_LIMITS
    plan = ConformancePlan(
        driver=shlex.join(_words(implementation.driver)),
        profile=run.profile,
        cases=max(extent.cases // run.share, 1),
        seed=extent.seed,
        skip=None if run.skip is None else Path(run.skip),
        must_fail=must_fail,
    )
    result = conform(suites()[run.component], plan)
    if result.troubles or result.open_question is not None:
        problem = result.troubles[0].problem if result.troubles else result.open_question
        raise MeasurementFailedError(f"{implementation.name} cannot be driven: {problem}")
    told = {failure.case for failure in result.failures}
    for case in result.results:
        if case.verdict is not Verdict.PASS and case.name not in told:
            raise MeasurementFailedError(f"{implementation.name}, {case.name}: {case.summary}")
    words = ["wheelproof", "conform", "--driver", shlex.join(implementation.driver)]
    words += ["--component", run.component, "--profile", run.profile]
    words += ["--cases", str(plan.cases), "--seed", str(extent.seed)]
    words += [] if run.skip is None else ["--skip", run.skip]
    words += ["--must-fail"] if must_fail else []
    inferred: Inferred | None = None
    of_component = (one for one in implementation.driven if one.component == run.component)
    if run is next(of_component):
        # The first one has the profile that the implementation declares.
        plan = replace(plan, profile=None, must_fail=False, infer=True)
        inferred = conform(suites()[run.component], plan).inferred
    return DrivenVerdict(run=run, result=result, inferred=inferred, command=shlex.join(words))


def _record(
    implementation: Implementation, history: RecordedRun, extent: Extent, folder: Path
) -> Iterable[RecordedVerdict]:
    recorder = implementation.recorder
    assert recorder is not None
    name = f"{implementation.name} {history.component} {history.profiles[0]}"
    path = folder / f"{re.sub(r'[^a-z0-9.]+', '-', name.lower())}.jsonl"
    options = ["--component", history.component, "--threads", str(extent.threads)]
    options += ["--operations", str(extent.operations), "--histories", str(extent.histories)]
    options += ["--seed", str(extent.seed)]
    options += [] if history.promises is None else ["--promises", history.promises]
    options += ["--output"]
    _run(implementation, [*_words(recorder), *options, str(path)], "recorded")
    configs, calls = _seen_in(path)
    for profile in history.profiles:
        check = ["wheelproof", "check", "--profile", profile, path.name]
        yield RecordedVerdict(
            component=history.component,
            profile=profile,
            configs=configs,
            verdicts=_check(path, profile),
            calls=calls,
            commands=(shlex.join([*recorder, *options, path.name]), shlex.join(check)),
        )


def _run(implementation: Implementation, words: Sequence[str], what: str) -> None:
    # The ports in Python run on the interpreter that makes the page.
    environment = {"PYTHON": sys.executable, **os.environ}
    completed = subprocess.run(words, capture_output=True, text=True, check=False, env=environment)
    if completed.returncode != 0:
        said = completed.stderr.strip() or "it said nothing"
        raise MeasurementFailedError(f"{implementation.name} cannot be {what}: {said}")


def _check(path: Path, profile: str) -> tuple[RunVerdict, ...]:
    result = judge_lines(str(path), read_lines(path), CheckOptions(profile=profile))
    if result.rejections:
        first = result.rejections[0]
        raise MeasurementFailedError(f"{path}:{first.line}: the line {first.problem}")
    return tuple(result.verdicts)


def _seen_in(path: Path) -> tuple[tuple[str, ...], Counter[str]]:
    """Return the configurations in the headers, and the number of invocations by name."""
    configs: dict[str, None] = {}
    calls: Counter[str] = Counter()
    for line in read_lines(path):
        event = parse_line(line) if isinstance(line, bytes) else None
        if isinstance(event, HistoryHeader):
            configs[json.dumps(plain(event.config, Wire.RECORDED))] = None
        elif isinstance(event, HistoryOp) and event.type == "invoke":
            calls[event.f] += 1
    return tuple(configs), calls


def _words(words: Sequence[str]) -> list[str]:
    return [sys.executable if word == PYTHON else word for word in words]
