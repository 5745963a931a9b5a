"""The runs of a defect: explored by the model checker, repeated on plain threads, by frontrun."""

import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path

from wheelproof_lab.checkout import required_checkout
from wheelproof_lab.corpus.defects import PYTHON, Defect
from wheelproof_spec.base.errors import MissingToolError
from wheelproof_spec.base.results.verdicts import Verdict

FRONTRUN = "0.7.0"
"""The release of frontrun that the table compares with."""
_RUN = re.compile(r"\(run (\d+)\)")
_ENDING = re.compile(r"^(\d+):(absent|failed|hangs|passed)$", re.MULTILINE)
_SOONEST_S = 1.0
"""Others get at least this much time: an exploration may take less than they need to start."""
_PATIENCE_S = 60.0
"""frontrun may hang with a program; an exploration ends by itself, however slow the machine."""
_MAX_RUNS = 20_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Explored:
    """What the command `wheelproof explore` said of a release; `seconds` of processor time."""

    verdict: Verdict
    run: int
    seconds: float
    said: str


def explored(file: str, defect: Defect, release: str) -> Explored:
    """Explore a program with a release of its package.

    Raises MissingToolError if that cannot be installed, and AssertionError if nothing is explored.
    """
    with tempfile.TemporaryDirectory() as kept:
        result = Path(kept, "result.json")
        words = [
            f"{file}.py:{defect.name}",
            *defect.options,
            "--max-runs",
            str(_MAX_RUNS),
            "--quiet",
        ]
        command = ["-m", "wheelproof_explore", *words, "--json", str(result)]
        seconds, said = _run(command, defect.package, release)
        if not result.exists():
            raise AssertionError(f"{' '.join(words)} with {release}: {said.strip()}")
        check = json.loads(result.read_text(encoding="utf-8"))["checks"][0]
    found = _RUN.search(check["summary"])
    return Explored(
        verdict=Verdict(check["verdict"]),
        run=int(found[1]) if found else 0,
        seconds=seconds,
        said=str(check["summary"]),
    )


def found_by_stress(file: str, defect: Defect, seconds: float) -> int:
    """Repeat a program on plain threads; return the repetition that failed, 0 if none did.

    It gets as much processor time, or one second. A repetition that hangs has failed.
    """
    words = ["-m", "wheelproof_lab.corpus.stress", file, defect.name]
    return _ending([*words, str(max(seconds, _SOONEST_S))], defect) or 0


def found_by_frontrun(file: str, defect: Defect, seconds: float) -> int | None:
    """Give a program to frontrun; return the execution that failed, 0 if none did.

    Return None for a program that does not start its threads itself.
    """
    command = ["-m", "frontrun.cli", sys.executable, "-m", "wheelproof_lab.corpus.frontrun_side"]
    places = [_installed("frontrun", FRONTRUN)]
    return _ending([*command, file, defect.name, str(max(seconds, _SOONEST_S))], defect, places)


def _ending(words: list[str], defect: Defect, places: list[Path] | None = None) -> int | None:
    _, said = _run(words, defect.package, defect.broken, places, patience_s=_PATIENCE_S)
    found = _ENDING.search(said)
    if found and found[2] == "absent":
        return None
    return int(found[1]) if found and found[2] != "passed" else 0


def programs() -> Path:
    """Return the folder of the programs."""
    return required_checkout() / "docs" / "real-code" / "corpus"


def _run(
    words: list[str],
    package: str,
    release: str,
    places: list[Path] | None = None,
    patience_s: float | None = None,
) -> tuple[float, str]:
    """Run Python, at most for so long, and return its processor time and what it printed."""
    root, python = required_checkout(), sys.executable
    every = [*(places or []), programs()]
    every += (root / name for name in ("reference", "explore", "spec", "lab"))
    if package != PYTHON:
        every.insert(0, _installed(package, release))
    elif release != ".".join(map(str, sys.version_info[:2])):
        python = _python(release)
        every.insert(0, _installed("greenlet", version("greenlet"), python))
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, every))}
    before = _spent()
    with subprocess.Popen(
        [python, "-W", "ignore", *words],
        cwd=programs(),
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            said, _ = process.communicate(timeout=patience_s)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            said, _ = process.communicate()
    return _spent() - before, said


def _spent() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


@cache
def _python(release: str) -> str:
    """Return the interpreter of a release of Python; raises MissingToolError without one."""
    name = f"python{release}"
    found = shutil.which(name)
    works = found and subprocess.run([found, "-c", ""], capture_output=True, check=False)
    if not works or works.returncode:
        raise MissingToolError(name, "put such an interpreter on the PATH")
    return name


@cache
def _installed(package: str, release: str, python: str = sys.executable) -> Path:
    """Return the folder of a release, which is installed there by itself if it is not yet."""
    name = f"{package}-{release}" if python == sys.executable else f"{package}-{Path(python).name}"
    folder = required_checkout() / "build" / "corpus" / name
    if folder.is_dir():
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as kept:
        whole = Path(kept, name)
        words = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        made = subprocess.run(
            [python, *words, "--target", str(whole), f"{package}=={release}"],
            capture_output=True,
            text=True,
            check=False,
        )
        if made.returncode:
            *_, said = made.stderr.strip().splitlines() or [""]
            raise MissingToolError(f"{package} {release}", f"pip cannot install it: {said}")
        try:
            whole.rename(folder)
        except OSError:
            # Somebody else may have installed the same meanwhile.
            if not folder.is_dir():
                raise
    return folder
