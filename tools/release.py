"""A release: it needs one version in all places, a changelog entry, and no uncommitted changes."""

import hashlib
import re
import tomllib
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


def release(checkout: Checkout, version: str) -> list[Path]:
    """Build the published files into an emptied ``dist``, tag the commit, and return the files."""
    folder = checkout.root / _DISTRIBUTIONS
    for left in folder.glob("wheelproof-*"):
        left.unlink()
    _run(checkout, str(checkout.python), "-m", "hatchling", "build", "-d", str(folder))
    pack_vectors(checkout, version, folder)
    _run(checkout, "git", "tag", "--annotate", f"v{version}", "--message", f"wheelproof {version}")
    return sorted([*folder.glob("wheelproof-*"), write_checksums(folder)])


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
        raise SetupError(f"{' '.join(command[:3])} failed", last_lines(outcome.output))
    return outcome.output
