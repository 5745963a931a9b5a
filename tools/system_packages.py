"""The system's package manager: the search for one, and the installation of packages.

It installs a JDK, Maven and Python's venv module; in CI also a browser for the tests of pages. A
program that is there and does not work counts as missing: a `cargo` whose rustup has no toolchain,
a `mvn` without Java.
"""

import os
import shutil
import sys
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from tools.checkout import base_environment
from tools.processes import Outcome, last_lines, run_quiet

_TABLE = Path(__file__).with_name("packages.toml")
_JAVA = (21, 17, 25)
_ASKED = {"go": "version"}
"""How a program is asked for its version, if not by ``--version``."""
_BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome", "chromium-headless-shell")


class Need(StrEnum):
    """The things that the set-up may ask a package manager for."""

    JAVA = "a JDK"
    MAVEN = "Maven"
    VENV = "Python's venv module"
    BROWSER = "a browser"


@dataclass(frozen=True, slots=True, kw_only=True)
class PackageManager:
    """A package manager: its commands, and the names of packages that meet a need, best first.

    `typed` are the words that a person types in front of a package's name.
    """

    program: str
    typed: str
    install: tuple[str, ...]
    packages: Mapping[Need, tuple[str, ...]]
    refresh: tuple[str, ...] = ()
    runs_as_root: bool = True
    settings: Mapping[str, str] = field(default_factory=dict[str, str])


def _managers() -> Iterator[PackageManager]:
    tables: Mapping[str, dict[str, Any]] = tomllib.loads(_TABLE.read_text(encoding="utf-8"))
    for program, table in tables.items():
        yield PackageManager(
            program=program,
            typed=table["typed"],
            install=tuple(table["install"]),
            packages={need: _packages(table[need.name]) for need in Need if need.name in table},
            refresh=tuple(table.get("refresh", ())),
            runs_as_root=table.get("runs_as_root", True),
            settings=table.get("settings", {}),
        )


def _packages(patterns: Iterable[str]) -> tuple[str, ...]:
    """Return the names of packages; a name with a release of Java gives one for each release."""
    minor = sys.version_info.minor
    names = (pattern.format(java=release, minor=minor) for pattern in patterns for release in _JAVA)
    return tuple(dict.fromkeys(names))


MANAGERS = tuple(_managers())


def choose_manager(
    need: Need, lookup: Callable[[str], str | None] = shutil.which
) -> PackageManager | None:
    """Return the first package manager that is present and has a package for `need`."""
    present = (one for one in MANAGERS if need in one.packages and lookup(one.program))
    return next(present, None)


def advice(need: Need, manager: PackageManager | None) -> str:
    """Return the sentence that tells a user how to install `need`."""
    if manager is None:
        return f"install {need.value} with your system's package manager"
    first, *others = manager.packages[need]
    alternatives = f" (or {' or '.join(others)}, if your system has that)" if others else ""
    return f"type: {manager.typed} {first}{alternatives}"


def try_install(need: Need, directory: Path) -> None:
    """Ask the package manager for `need`, as root or through sudo without a password.

    The caller looks again to find out whether it helped. A failure prints the manager's last
    lines.
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


def trouble_with(program: str, environment: Mapping[str, str]) -> str | None:
    """Return why a program cannot be used, without a full stop; None if it works.

    `program` is a name to look for on the path of `environment`, or a path.
    """
    found = shutil.which(program, path=environment.get("PATH", ""))
    if found is None:
        return f"no {program} was found"
    asked = (found, _ASKED.get(Path(program).name, "--version"))
    try:
        told = run_quiet(asked, directory=Path.cwd(), environment=environment)
    except OSError as error:
        return f"{found} is there and cannot be started: {error.strerror}"
    if told.exit_code == 0:
        return None
    lines = [line.strip() for line in told.output.splitlines() if line.strip()]
    said = lines[0] if lines else "nothing"
    asked_for = " ".join((Path(program).name, asked[1]))
    return f"{found} is there and does not work: `{asked_for}` ended with {told.exit_code}: {said}"


def find_browser() -> str | None:
    """Return the program of a browser, or None."""
    return next(filter(None, map(shutil.which, _BROWSERS)), None)


def ensure_browser(directory: Path) -> None:
    """Install a browser if possible, but only in CI: elsewhere the user did not ask for one."""
    if os.environ.get("CI") == "true" and find_browser() is None:
        try_install(Need.BROWSER, directory)


def _privilege(manager: PackageManager, directory: Path) -> tuple[str, ...] | None:
    """Return the words in front of the command, or None if the rights are missing."""
    is_root = os.geteuid() == 0
    if is_root == manager.runs_as_root:
        return ()
    if is_root or shutil.which("sudo") is None:
        return None
    allowed = _run(("sudo", "-n", "true"), directory).exit_code == 0
    return ("sudo", "-n") if allowed else None


def _run(command: tuple[str, ...], directory: Path) -> Outcome:
    return run_quiet(command, directory=directory, environment=base_environment())
