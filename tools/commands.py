"""The verbs of ``bootstrap.py``."""

import argparse
import math
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from tools import maven, python_environment
from tools.checkout import Checkout, job_environment
from tools.compiled import compile_engine
from tools.errors import SetupError
from tools.hunt import hunt
from tools.java import Java, ensure_java
from tools.processes import Job, end_on_signals, run_shown, run_together
from tools.pythons import (
    FOLDERS,
    LEFT_OUT,
    MARKS,
    ensure_environment,
    find_python,
    newer_versions,
)
from tools.release import rehearse, release, require_releasable
from tools.requirements import make_lock
from tools.stamps import exclusive
from tools.system_packages import ensure_browser

_SETUP_FAILED = 2
_INTERRUPTED = 130

# Pyright takes longer than all other checks together, and caches nothing.
_LONG_CHECKS = {"pyright": ("pyright",)}
_STATIC_CHECKS = {
    "mypy": ("mypy",),
    "ruff check": ("ruff", "check", "."),
    "ruff format": ("ruff", "format", "--check", "."),
}
# The tests of a file share costly fixtures, so a file goes to one process; conftest.py sorts the
# files.
_TESTS = ("pytest", "-n", "auto", "--dist", "loadfile", "--no-loadscope-reorder", "-m")
# Each exploration goes through all modules that are loaded, so these have processes of their own:
# the other tests load pandas and the like.
_EXPLORING = (*FOLDERS, "tests/lab/worlds")
_NO_TESTS = 5
# Where the order of a set is that of its hashes, it is the same in each run.
_SAME_EACH_TIME = {"PYTHONHASHSEED": "0"}
_FAST_TESTS = {"unit tests": (*_TESTS, "not slow and not long and not hunt", "-q")}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Verb:
    run: Callable[..., int]
    summary: str


def main(arguments: Sequence[str]) -> int:
    """Run the verb; return 2 if the set-up fails, 130 after Ctrl-C, otherwise the job's code."""
    parser = argparse.ArgumentParser(prog="bootstrap.py", description="Set-up and jobs.")
    verbs = parser.add_subparsers(required=True, metavar="VERB")
    for name, verb in _VERBS.items():
        words = verbs.add_parser(name, help=verb.summary)
        words.set_defaults(run=verb.run)
        if verb.run is _hunt:
            words.add_argument("--minutes", type=_minutes, default=10.0, help="how long; 10")
        if verb.run is _release:
            text = "build and try what would be published, and change nothing"
            words.add_argument("--dry-run", action="store_true", help=text)
    options = vars(parser.parse_args(arguments))
    run: Callable[..., int] = options.pop("run")
    end_on_signals()
    try:
        return run(Checkout(root=Path(__file__).resolve().parent.parent), **options)
    except SetupError as error:
        return _report(str(error), error.details)
    except OSError as error:
        return _report(f"{error.filename or 'the system'}: {error.strerror}")
    except KeyboardInterrupt:
        print("bootstrap: interrupted", file=sys.stderr)
        return _INTERRUPTED


def _set_up(checkout: Checkout) -> dict[str, str]:
    """Do the missing parts of the set-up and return the environment of the jobs."""
    with exclusive(checkout.state / "lock"):
        java = ensure_java(checkout)
        if not python_environment.is_ready(checkout):
            python_environment.prepare(checkout)
        _build_adapters(checkout, java)
    return job_environment(checkout, java.home)


def _build_adapters(checkout: Checkout, java: Java) -> None:
    """Build the Java adapters; go on without Maven, except in CI, where nobody reads warnings."""
    unbuilt = maven.unbuilt_adapters(checkout, java)
    if not unbuilt:
        return
    try:
        program = maven.ensure_maven(checkout, java)
    except SetupError as error:
        if os.environ.get("CI") == "true":
            raise
        print(f"bootstrap: {error}; going on without them", file=sys.stderr, flush=True)
        return
    maven.build(checkout, unbuilt, program, java)


def _setup(checkout: Checkout) -> int:
    _set_up(checkout)
    print("set-up complete")
    return 0


def _run(checkout: Checkout) -> int:
    environment = _set_up(checkout)
    command = (str(checkout.python), "-m", "wheelproof_lab", "run", "--out", "out")
    return run_shown(command, directory=checkout.root, environment=environment)


def _test(checkout: Checkout) -> int:
    environment = _set_up(checkout)
    clean = _report_checks(checkout, _LONG_CHECKS | _STATIC_CHECKS, environment)
    clean = _test_on_newer_pythons(checkout, environment) and clean
    return _run_tests(checkout, "not long and not hunt", environment) or int(not clean)


def _test_on_newer_pythons(checkout: Checkout, environment: Mapping[str, str]) -> bool:
    """Test what has to run on every Python; return whether all of that passed.

    A Python that is not here is left out with a sentence, but in CI it is required.
    """
    there = dict(_newer_pythons(checkout))
    required = os.environ.get("CI") == "true"
    passed = not required or len(there) == len(newer_versions())
    for version, python in there.items():
        mine = {
            **environment,
            **_SAME_EACH_TIME,
            "VIRTUAL_ENV": str(python.parent.parent),
            "PATH": os.pathsep.join([str(python.parent), environment["PATH"]]),
        }
        print(f"tests of {' and '.join(FOLDERS)} on Python {version}", flush=True)
        left_out = () if version == newer_versions()[-1] else LEFT_OUT
        command = (str(python), "-m", *_TESTS, MARKS, "-q", *FOLDERS, *left_out)
        passed = run_shown(command, directory=checkout.root, environment=mine) == 0 and passed
    return passed


def _newer_pythons(checkout: Checkout) -> Iterator[tuple[str, Path]]:
    """Yield each newer version that is here, with the Python of its environment."""
    for version, base in _newer_bases():
        with exclusive(checkout.state / "lock"):
            python = ensure_environment(checkout, version, base)
        yield version, python


def _newer_bases() -> Iterator[tuple[str, Path]]:
    """Yield each newer version that is here, with its Python; say which is not."""
    for version in newer_versions():
        base = find_python(version, os.environ)
        if base is None:
            required = os.environ.get("CI") == "true"
            what = "in CI it is required" if required else "going on without it"
            print(f"bootstrap: Python {version} was not found; {what}", file=sys.stderr, flush=True)
        else:
            yield version, base


def _test_long(checkout: Checkout) -> int:
    return _run_tests(checkout, "long and not hunt", _set_up(checkout))


def _run_tests(checkout: Checkout, marks: str, environment: Mapping[str, str]) -> int:
    """Run and show the tests with these marks; return pytest's exit code, 5 if there are none.

    Of the two runs it is the higher code.
    """
    ensure_browser(checkout.root)
    command = (str(checkout.python), "-m", *_TESTS, marks)
    settled = {**environment, **_SAME_EACH_TIME}
    codes = [
        run_shown((*command, *chosen), directory=checkout.root, environment=settled)
        for chosen in (_EXPLORING, [f"--ignore={folder}" for folder in _EXPLORING])
    ]
    return max((code for code in codes if code != _NO_TESTS), default=_NO_TESTS)


def _hunt(checkout: Checkout, minutes: float) -> int:
    environment = _set_up(checkout)
    pythons = [python for _, python in _newer_pythons(checkout)]
    return hunt(checkout, environment, minutes, pythons=pythons)


def _minutes(text: str) -> float:
    """Return the minutes that a user has typed; raises ValueError unless they are above 0."""
    minutes = float(text)
    if not 0 < minutes < math.inf:
        raise ValueError
    return minutes


def _check(checkout: Checkout) -> int:
    environment = _set_up(checkout) | _SAME_EACH_TIME
    return int(not _report_checks(checkout, _FAST_TESTS | _STATIC_CHECKS, environment))


def _compile(checkout: Checkout) -> int:
    _set_up(checkout)
    folder = checkout.root / "build" / "compiled"
    compile_engine(checkout, folder)
    print(f"compiled the model checker: run it with PYTHONPATH={folder}")
    return 0


def _lock(checkout: Checkout) -> int:
    print(f"pinned {make_lock(checkout)} packages in {checkout.requirements.name}")
    return 0


def _release(checkout: Checkout, dry_run: bool) -> int:
    mine = f"{sys.version_info.major}.{sys.version_info.minor}"
    pythons = {mine: Path(sys.executable), **dict(_newer_bases())}
    if dry_run:
        _set_up(checkout)
        print(*rehearse(checkout, pythons), "nothing was tagged, and nothing is kept", sep="\n")
        return 0
    version = require_releasable(checkout)
    code = _test(checkout)
    if code == 0:
        for file in release(checkout, version, pythons):
            print(file.relative_to(checkout.root))
        print(f"tagged v{version}; nothing is published yet: push the tag, upload these files")
    return code


def _report_checks(
    checkout: Checkout,
    checks: Mapping[str, tuple[str, ...]],
    environment: Mapping[str, str],
) -> bool:
    """Run the checks in parallel, print a line for each, and return whether all passed.

    The output of a check is shown only if it failed.
    """
    jobs = [
        Job(name=name, command=(str(checkout.python), "-m", *words))
        for name, words in checks.items()
    ]
    outcomes = run_together(
        jobs, limit=os.cpu_count() or 1, directory=checkout.root, environment=environment
    )
    all_passed = True
    with closing(outcomes):
        for outcome in outcomes:
            passed = outcome.exit_code == 0
            all_passed = all_passed and passed
            if not passed:
                print(outcome.output.rstrip())
            verdict = "pass" if passed else f"FAIL (exit code {outcome.exit_code})"
            print(f"{outcome.job.name:<12} {outcome.seconds:5.1f} s  {verdict}", flush=True)
    return all_passed


def _report(sentence: str, details: str = "") -> int:
    if details:
        print(details, file=sys.stderr)
    print(f"bootstrap: {sentence}", file=sys.stderr)
    return _SETUP_FAILED


_VERBS = {
    "setup": _Verb(run=_setup, summary="make .venv, find or install Java, build the adapters"),
    "run": _Verb(run=_run, summary="the main job; its report goes to out/"),
    "test": _Verb(run=_test, summary="the static checks and the tests to run before a push"),
    "test-long": _Verb(run=_test_long, summary="the tests that `test` leaves out: many more runs"),
    "hunt": _Verb(run=_hunt, summary="the random tests with fresh seeds, for --minutes N"),
    "check": _Verb(run=_check, summary="the fast part for daily use: static checks, fast tests"),
    "release": _Verb(run=_release, summary="test, build what is published, and tag the commit"),
    "compile": _Verb(run=_compile, summary="a copy of the model checker that is faster"),
    "lock": _Verb(run=_lock, summary="pin the newest versions of the dependencies with hashes"),
}
