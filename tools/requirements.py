"""The lock ``requirements.lock``: its form, and how it is made again."""

import os
import re
import sys
import tempfile
from collections.abc import Collection
from pathlib import Path

from tools.checkout import Checkout, base_environment
from tools.errors import SetupError
from tools.processes import last_lines, run_quiet
from tools.stamps import write_stamp

_PIN = re.compile(r"(?P<name>[a-z0-9-]+)==(?P<version>[^\s;]+)( ; .+)?")
_HASH = re.compile(r"sha256:[0-9a-f]{64}")

# CrossHair has no wheel for Linux on ARM. Spark has no wheel at all, but only Python files and
# archives of Java. No other package may be compiled.
_MAY_BE_COMPILED = frozenset({"crosshair-tool", "pyspark"})

# pip's settings and their names in the resolver.
_RESOLVER_SETTINGS = {
    "PIP_INDEX_URL": "UV_DEFAULT_INDEX",
    "PIP_EXTRA_INDEX_URL": "UV_INDEX",
    "PIP_CERT": "SSL_CERT_FILE",
}


def pinned_requirements(lock: str) -> dict[str, str]:
    """Return the pinned version of each package named in the text of a lock.

    Raises `SetupError` if a line is not an exact version with SHA-256 hashes, or names an address
    or a path: the lock must work with any registry and on any machine.
    """
    if "/" in lock:
        raise SetupError("the lock names an address or a path; make it anew with the verb lock")
    pins: dict[str, str] = {}
    for line in lock.replace("\\\n", " ").splitlines():
        if line.startswith("#") or not line.strip():
            continue
        requirement, *hashes = re.split(r"\s+--hash=", line.strip())
        pin = _PIN.fullmatch(requirement)
        if pin is None or not hashes or not all(map(_HASH.fullmatch, hashes)):
            raise SetupError(f"the lock has a line that pins nothing by hash: {requirement}")
        pins[pin["name"]] = pin["version"]
    return pins


def pins_of(lock: str, packages: Collection[str]) -> str:
    """Return the lines of a lock that pin these packages; raise `SetupError` if one has none."""
    missing = sorted(set(packages) - set(pinned_requirements(lock)))
    if missing:
        raise SetupError(f"the lock does not pin {', '.join(missing)}")
    lines = lock.replace("\\\n", " ").splitlines()
    return "".join(f"{line}\n" for line in lines if line.partition("==")[0] in packages)


def install_options(checkout: Checkout) -> list[str]:
    """Return pip's options that install only pinned packages, and wheels for all but a few.

    Raises `SetupError` if the lock is not valid.
    """
    pins = pinned_requirements(checkout.requirements.read_text())
    wheels = ",".join(sorted(set(pins) - _MAY_BE_COMPILED))
    return ["--require-hashes", "--only-binary", wheels, "-r", str(checkout.requirements)]


def make_lock(checkout: Checkout) -> int:
    """Pin the newest versions of all dependencies, for all platforms, and write the lock.

    Returns the number of pinned packages.
    """
    with tempfile.TemporaryDirectory(prefix="wheelproof-lock-") as name:
        place = Path(name)
        python = place / "environment" / "bin" / "python"
        draft = place / "requirements.txt"
        _run(checkout, sys.executable, "-m", "venv", str(place / "environment"))
        _run(checkout, str(python), "-m", "pip", "install", "--only-binary", ":all:", "uv")
        options = ["--group", "dev", "--all-extras", "--universal", "--python-version", "3.11"]
        options += ["--generate-hashes", "--no-annotate", "--no-cache"]
        options += ["--custom-compile-command", "python3 bootstrap.py lock"]
        options += ["--output-file", str(draft), str(checkout.project_file)]
        _run(checkout, str(python), "-m", "uv", "--no-config", "pip", "compile", *options)
        lock = draft.read_text()
    pins = pinned_requirements(lock)
    write_stamp(checkout.requirements, lock)
    return len(pins)


def _run(checkout: Checkout, *command: str) -> None:
    environment = base_environment()
    for ours, theirs in _RESOLVER_SETTINGS.items():
        if ours in os.environ:
            environment.setdefault(theirs, os.environ[ours])
    outcome = run_quiet(command, directory=checkout.root, environment=environment)
    if outcome.exit_code != 0:
        raise SetupError("the lock could not be made; see these lines", last_lines(outcome.output))
