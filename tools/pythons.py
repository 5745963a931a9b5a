"""Newer Pythons: the tests that run on them as well, and an environment for each."""

import os
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from tools.checkout import Checkout, base_environment
from tools.errors import SetupError
from tools.processes import last_lines, run_quiet
from tools.requirements import pins_of
from tools.stamps import fingerprint, is_stamped, write_stamp

FOLDERS = ("tests/reference", "tests/explore")
"""The tests that run on every Python: those of the reference and of the model checker."""
MARKS = "not slow and not long and not hunt and not campaign"
"""Without the random ones: a hunt runs these on every Python, with other seeds."""
VERSIONS = ("3.12", "3.13")
LEFT_OUT = ("--ignore=tests/explore/real_python", "--ignore=tests/explore/reduction")
"""What the oldest and the newest Python run, and none between them: they take longest."""

_PACKAGES = (
    *("pytest", "iniconfig", "packaging", "pluggy", "pygments"),
    *("pytest-timeout", "pytest-xdist", "execnet"),
    *("hypothesis", "attrs", "sortedcontainers"),
    *("greenlet", "jinja2", "markupsafe"),
    *("hatchling", "editables", "pathspec", "trove-classifiers"),
)
"""What those tests import, what builds the project, and what these need: all of it is pinned."""


def find_python(version: str, environment: Mapping[str, str]) -> Path | None:
    """Return a program that runs and says that it is Python `version`, or None.

    A shim of pyenv is on the path and fails if its version is not chosen; then the version is
    looked for where the shims come from, since HOME may be another one here.
    """
    for program in _candidates(version, environment):
        asked = (str(program), "-c", "import sys, venv; print('%d.%d' % sys.version_info[:2])")
        try:
            told = run_quiet(asked, directory=Path("/"), environment=base_environment(environment))
        except OSError:
            continue
        if told.exit_code == 0 and told.output.strip() == version:
            return program
    return None


def ensure_environment(checkout: Checkout, version: str, base: Path) -> Path:
    """Return the Python of an environment with what the tests need, made by `base`.

    It is made anew when the lock, the project or `base` changes. Raises `SetupError`.
    """
    place = checkout.root / f".venv-{version}"
    python, stamp = place / "bin" / "python", place / "complete.stamp"
    inputs = fingerprint(
        checkout.requirements.read_bytes(),
        checkout.project_file.read_bytes(),
        "\n".join(_PACKAGES),
        str(base.resolve()),
        str(checkout.root),
    )
    if is_stamped(stamp, inputs):
        return python
    print(f"making {place.name} with {len(_PACKAGES)} packages", flush=True)
    if place.exists():
        shutil.rmtree(place)
    _run(checkout, f"{place.name} could not be made", str(base), "-m", "venv", str(place))
    pins = place / "requirements.txt"
    pins.write_text(pins_of(checkout.requirements.read_text(encoding="utf-8"), _PACKAGES))
    install = (str(python), "-m", "pip", "install", "--no-deps")
    only = ("--require-hashes", "--only-binary", ":all:", "-r", str(pins))
    _run(checkout, f"the packages could not be installed into {place.name}", *install, *only)
    project = ("--no-build-isolation", "--editable", str(checkout.root))
    _run(checkout, f"the project could not be installed into {place.name}", *install, *project)
    write_stamp(stamp, inputs)
    return python


def newer_versions() -> tuple[str, ...]:
    """Return the versions that are not the one on which the environment runs already."""
    mine = f"{sys.version_info.major}.{sys.version_info.minor}"
    return tuple(version for version in VERSIONS if version != mine)


def _candidates(version: str, environment: Mapping[str, str]) -> Iterator[Path]:
    folders = [Path(entry) for entry in environment.get("PATH", "").split(os.pathsep) if entry]
    programs = [folder / f"python{version}" for folder in folders]
    for root in _pyenv_roots(folders, environment):
        newest = sorted(root.glob(f"versions/{version}.*"), key=_number, reverse=True)
        programs += [one / "bin" / f"python{version}" for one in newest]
    yield from (one for one in dict.fromkeys(programs) if os.access(one, os.X_OK))


def _pyenv_roots(folders: Iterable[Path], environment: Mapping[str, str]) -> Iterator[Path]:
    if environment.get("PYENV_ROOT"):
        yield Path(environment["PYENV_ROOT"])
    yield from (folder.parent for folder in folders if folder.name == "shims")
    if environment.get("HOME"):
        yield Path(environment["HOME"]) / ".pyenv"


def _number(folder: Path) -> tuple[int, ...]:
    return tuple(int(part) for part in folder.name.split(".") if part.isdecimal())


def _run(checkout: Checkout, problem: str, *command: str) -> None:
    outcome = run_quiet(command, directory=checkout.root, environment=base_environment())
    if outcome.exit_code != 0:
        raise SetupError(problem, last_lines(outcome.output))
