"""Finds a Java that can run TLC."""

import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from wheelproof_spec.base.errors import MissingToolError
from wheelproof_spec.base.needs import TLC_JAVA, java_remedy

_REMEDY = java_remedy(TLC_JAVA)
_VERSION = re.compile(r'version "(\d+)(?:\.(\d+))?[^"]*"')
_ANSWER_SECONDS = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Java:
    """A Java virtual machine; `version` is the version that it reports."""

    path: Path
    major: int
    version: str


def find_java(option: Path | None, environment: Mapping[str, str]) -> Java:
    """Return the Java of `option`, else of JAVA_HOME, else the first one on the PATH.

    A Java that is named explicitly and does not work is an error; it is never skipped silently.
    Raises MissingToolError.
    """
    if option is not None:
        return check_java(option)
    home = environment.get("JAVA_HOME")
    if home:
        return check_java(Path(home) / "bin" / "java")
    found = shutil.which("java", path=environment.get("PATH", ""))
    if found is None:
        raise MissingToolError("Java", _REMEDY)
    return check_java(Path(found))


def check_java(path: Path) -> Java:
    """Ask the program `path` for its version; raises MissingToolError when it is too old."""
    try:
        answer = subprocess.run(  # the program is the user's own choice
            [str(path), "-version"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=_ANSWER_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise MissingToolError(f"a working Java ({path}: {error})", _REMEDY) from error
    text = answer.stdout.decode("utf-8", "replace")
    match = _VERSION.search(text)
    if match is None:
        raise MissingToolError(f"a working Java ({path} -version tells no version)", _REMEDY)
    major = int(match[2] or 0) if match[1] == "1" else int(match[1])
    if major < TLC_JAVA:
        raise MissingToolError(f"Java {TLC_JAVA} or newer ({path} is {match[0]})", _REMEDY)
    return Java(path=path, major=major, version=match[0].removeprefix("version ").strip('"'))
