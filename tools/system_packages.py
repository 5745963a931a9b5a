"""The system's package manager: which one it is, and how it is asked to install something."""

import os
import shutil
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from tools.checkout import base_environment
from tools.processes import Outcome, last_lines, run_quiet


class Need(StrEnum):
    """What the set-up may ask a package manager for."""

    JAVA = "a JDK"
    MAVEN = "Maven"
    VENV = "Python's venv module"


@dataclass(frozen=True, slots=True, kw_only=True)
class PackageManager:
    """A package manager: its commands, and the names of packages that meet a need, best first.

    `typed` is what a person types in front of a package's name.
    """

    program: str
    typed: str
    install: tuple[str, ...]
    packages: Mapping[Need, tuple[str, ...]]
    refresh: tuple[str, ...] = ()
    runs_as_root: bool = True
    settings: Mapping[str, str] = field(default_factory=dict[str, str])


def _java_packages(pattern: str) -> tuple[str, ...]:
    """Return names for the releases with long support, the most widespread one first."""
    return tuple(pattern.format(release) for release in (21, 17, 25))


MANAGERS = (
    PackageManager(
        program="apt-get",
        typed="sudo apt-get install",
        refresh=("update",),
        install=("install", "--yes", "--no-install-recommends"),
        packages={
            Need.JAVA: _java_packages("openjdk-{}-jdk-headless"),
            Need.MAVEN: ("maven",),
            Need.VENV: (f"python3.{sys.version_info.minor}-venv", "python3-venv"),
        },
        settings={"DEBIAN_FRONTEND": "noninteractive"},
    ),
    PackageManager(
        program="dnf",
        typed="sudo dnf install",
        install=("install", "-y", "--setopt=install_weak_deps=False"),
        packages={Need.JAVA: _java_packages("java-{}-openjdk-devel"), Need.MAVEN: ("maven",)},
    ),
    PackageManager(
        program="apk",
        typed="sudo apk add",
        install=("add", "--no-cache"),
        packages={Need.JAVA: _java_packages("openjdk{}-jdk"), Need.MAVEN: ("maven",)},
    ),
    PackageManager(
        program="pacman",
        typed="sudo pacman -S",
        refresh=("-Sy", "--noconfirm"),
        install=("-S", "--noconfirm", "--needed"),
        packages={Need.JAVA: _java_packages("jdk{}-openjdk"), Need.MAVEN: ("maven",)},
    ),
    PackageManager(
        program="zypper",
        typed="sudo zypper install",
        install=("--non-interactive", "install", "--no-recommends"),
        packages={Need.JAVA: _java_packages("java-{}-openjdk-devel"), Need.MAVEN: ("maven",)},
    ),
    PackageManager(
        program="brew",
        typed="brew install",
        install=("install",),
        packages={Need.JAVA: _java_packages("openjdk@{}"), Need.MAVEN: ("maven",)},
        runs_as_root=False,
    ),
)


def choose_manager(
    need: Need, lookup: Callable[[str], str | None] = shutil.which
) -> PackageManager | None:
    """Return the first package manager that is present and has a package for `need`."""
    present = (one for one in MANAGERS if need in one.packages and lookup(one.program))
    return next(present, None)


def advice(need: Need, manager: PackageManager | None) -> str:
    """Return what a user does to get what is needed."""
    if manager is None:
        return f"install {need.value} with your system's package manager"
    first, *others = manager.packages[need]
    alternatives = f" (or {' or '.join(others)}, if your system has that)" if others else ""
    return f"type: {manager.typed} {first}{alternatives}"


def try_install(need: Need, directory: Path) -> None:
    """Ask the package manager for `need`, as root or through sudo without a password.

    Whether that helped the caller finds out by looking again. A failure is shown in the manager's
    own last lines.
    """
    manager = choose_manager(need)
    privilege = None if manager is None else _privilege(manager, directory)
    if manager is None or privilege is None:
        return
    print(f"installing {need.value} with {manager.program}", flush=True)
    settings = tuple(f"{name}={value}" for name, value in manager.settings.items())
    program = (*privilege, "env", *settings, manager.program)
    if manager.refresh:
        _run((*program, *manager.refresh), directory)
    output = ""
    for package in manager.packages[need]:
        outcome = _run((*program, *manager.install, package), directory)
        if outcome.exit_code == 0:
            return
        output += outcome.output
    print(last_lines(output, len(manager.packages[need])), file=sys.stderr)


def _privilege(manager: PackageManager, directory: Path) -> tuple[str, ...] | None:
    """Return the words in front of the command, or None where the rights are missing."""
    is_root = os.geteuid() == 0
    if is_root == manager.runs_as_root:
        return ()
    if is_root or shutil.which("sudo") is None:
        return None
    allowed = _run(("sudo", "-n", "true"), directory).exit_code == 0
    return ("sudo", "-n") if allowed else None


def _run(command: tuple[str, ...], directory: Path) -> Outcome:
    return run_quiet(command, directory=directory, environment=base_environment())
