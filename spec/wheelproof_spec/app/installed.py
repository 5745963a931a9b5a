"""The tools and packages on this machine and their versions, found without starting a program."""

import os
import re
import sys
from dataclasses import dataclass
from pathlib import Path

from wheelproof_spec.base.errors import WheelproofSpecError

_PACKAGES = {"crosshair": "crosshair-tool", "z3": "z3-solver"}
"""The packages that have another name than their module."""
_JAVA_VERSION = re.compile(r'^JAVA_VERSION="(\d+)(?:\.(\d+))?[^"]*"', re.MULTILINE)


def program_version() -> str:
    """Return the versions of the program and of the Python that runs it."""
    number = sys.version.partition(" ")[0]
    own = _named_by_a_folder() or module_version("wheelproof") or "not installed"
    return f"wheelproof {own}, Python {number}"


def _named_by_a_folder() -> str | None:
    """Return the version that the name of the installed package's folder has, if there is one.

    `importlib.metadata` says the same, but to import it takes longer than all else that
    `wheelproof --version` does.
    """
    for place in sys.path:
        for found in Path(place).glob("wheelproof-*.dist-info"):
            return found.name.removeprefix("wheelproof-").removesuffix(".dist-info")
    return None


def module_version(module: str) -> str | None:
    """Return the version of the package that brings a module, or None if it is not installed."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(_PACKAGES.get(module, module))
    except PackageNotFoundError:
        return None


def tlc_version() -> str | None:
    """Return the version of TLC and its source; None if there is no usable TLC."""
    from wheelproof_spec.tlc.running.jar import find_jar

    try:
        jar = find_jar(None, os.environ)
    except WheelproofSpecError:
        return None
    return jar.describe() if jar.known is None else f"{jar.known.version} ({jar.known.source})"


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundJava:
    """A Java, as its folder describes it; `major` is None if the folder does not tell it."""

    text: str
    major: int | None


def java_version() -> FoundJava | None:
    """Return the Java that `find_java` would find, if there is one."""
    import shutil

    home = os.environ.get("JAVA_HOME")
    found = shutil.which("java", path=f"{home}/bin" if home else None)
    if found is None:
        return None
    try:
        told = (Path(os.path.realpath(found)).parents[1] / "release").read_text("utf-8", "replace")
    except OSError:
        told = ""
    version = _JAVA_VERSION.search(told)
    if version is None:
        return FoundJava(text=f"of unknown version ({found})", major=None)
    first, second = version[1], version[2]
    return FoundJava(
        text=f"{version[0].partition('=')[2].strip(chr(34))} ({found})",
        major=int(second or 0) if first == "1" else int(first),
    )
