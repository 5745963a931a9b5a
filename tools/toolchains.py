"""Compilers and build tools: whether a program is there, and whether it works.

A `cargo` whose rustup has no toolchain and a `mvn` without Java are there and of no use, so they
count as missing.
"""

import shutil
from collections.abc import Mapping
from pathlib import Path

from tools.processes import run_quiet

_ASKED = {"go": "version"}
"""How a program is asked for its version, if not by ``--version``."""


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
