"""A release: it needs one version in all places, a changelog entry, and no uncommitted changes.

What is built is looked at as an index does, and each wheel has to work in an empty environment of
every Python that it is for. `rehearse` does that alone: it changes nothing.
"""

import hashlib
import re
import tempfile
import tomllib
from collections.abc import Mapping
from datetime import date
from pathlib import Path

from tools.checkout import Checkout, base_environment
from tools.errors import SetupError
from tools.processes import last_lines, run_quiet

_DISTRIBUTIONS = "dist"


def require_releasable(checkout: Checkout) -> str:
    """Return the version of the project; raise `SetupError` if it cannot be released yet."""
    version: str = tomllib.loads(checkout.project_file.read_text())["project"]["version"]
    cited = re.search(r"^version: (.+)$", _text(checkout, "CITATION.cff"), re.MULTILINE)
    if cited is None or cited[1] != version:
        raise SetupError(f"CITATION.cff: another version than {version} of pyproject.toml")
    heading = f"## {version} - {date.today().isoformat()}"
    if heading not in _text(checkout, "CHANGELOG.md").splitlines():
        raise SetupError(f"CHANGELOG.md: there is no heading {heading!r}; name what was unreleased")
    if _run(checkout, "git", "status", "--porcelain"):
        raise SetupError("there are changes that are not committed; commit them first")
    return version


def release(checkout: Checkout, version: str, pythons: Mapping[str, Path]) -> list[Path]:
    """Build the published files into an emptied ``dist``, tag the commit, and return the files.

    `pythons` are the Pythons, by version, on which each wheel has to work. Nothing is tagged unless
    it does.
    """
    folder = checkout.root / _DISTRIBUTIONS
    for left in folder.glob("wheelproof-*"):
        left.unlink()
    _build(checkout, folder, pythons)
    pack_vectors(checkout, version, folder)
    _run(checkout, "git", "tag", "--annotate", f"v{version}", "--message", f"wheelproof {version}")
    return sorted([*folder.glob("wheelproof-*"), write_checksums(folder)])


def rehearse(checkout: Checkout, pythons: Mapping[str, Path]) -> list[str]:
    """Build and try what a release would publish, in a folder that is removed; return the names."""
    with tempfile.TemporaryDirectory(prefix="wheelproof-release-") as place:
        return [file.name for file in _build(checkout, Path(place), pythons)]


def _build(checkout: Checkout, folder: Path, pythons: Mapping[str, Path]) -> list[Path]:
    _run(checkout, str(checkout.python), "-m", "hatchling", "build", "-d", str(folder))
    files = sorted(folder.glob("wheelproof-*"))
    look_over(checkout, files)
    for wheel in folder.glob("*.whl"):
        for version, python in pythons.items():
            try_wheel(checkout, wheel, python)
            print(f"{wheel.name} works on Python {version}", flush=True)
    return files


def look_over(checkout: Checkout, files: list[Path]) -> None:
    """Look at packages as an index does; raise `SetupError` if it would not take them."""
    _run(checkout, str(checkout.python), "-m", "twine", "check", "--strict", *map(str, files))


def try_wheel(checkout: Checkout, wheel: Path, python: Path) -> None:
    """Install a wheel, and nothing else, into an empty environment, and let it judge its vectors.

    `python` makes the environment. Raises `SetupError` if anything of this fails, or OSError if the
    wheel brings no program.
    """
    with tempfile.TemporaryDirectory(prefix="wheelproof-empty-") as place:
        programs = Path(place) / "bin"
        _run(checkout, str(python), "-m", "venv", "--without-pip", place)
        install = ("install", "--no-index", "--no-deps", "--no-compile", str(wheel))
        target = ("--python", str(programs / "python"))
        _run(checkout, str(checkout.python), "-m", "pip", *target, *install)
        _run(checkout, str(programs / "wheelproof"), "vectors", "verify")


def pack_vectors(checkout: Checkout, version: str, folder: Path) -> None:
    """Write the committed vectors and replayers as an archive, the same bytes each time."""
    name = f"wheelproof-vectors-{version}"
    options = (f"--prefix={name}/", f"--output={folder / name}.tar.gz")
    _run(checkout, "git", "archive", *options, "HEAD", "vectors", "LICENSE")


def write_checksums(folder: Path) -> Path:
    """Write the SHA-256 of each published file, for ``sha256sum -c``."""
    files = sorted(folder.glob("wheelproof-*"))
    lines = [f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}\n" for file in files]
    sums = folder / "SHA256SUMS"
    sums.write_text("".join(lines))
    return sums


def _text(checkout: Checkout, name: str) -> str:
    return (checkout.root / name).read_text(encoding="utf-8")


def _run(checkout: Checkout, *command: str) -> str:
    outcome = run_quiet(command, directory=checkout.root, environment=base_environment())
    if outcome.exit_code != 0:
        words = [Path(word).name for word in command[:4]]
        raise SetupError(f"{' '.join(words)} failed", last_lines(outcome.output))
    return outcome.output
