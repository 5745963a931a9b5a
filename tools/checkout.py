"""The paths of this checkout, and the environment in which its programs run."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

# These would make the environment's Python, pip or pyright load or fetch something else than the
# lock pins.
_MISLEADING = (
    "PYTHONHOME",
    "PYTHONPATH",
    "PYTHONSTARTUP",
    "__PYVENV_LAUNCHER__",
    "PYRIGHT_PYTHON_FORCE_VERSION",
    "PYRIGHT_PYTHON_PYLANCE_VERSION",
    "PYRIGHT_PYTHON_NODEJS_WHEEL",
    "PYRIGHT_PYTHON_USE_BUNDLED_PYRIGHT",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkout:
    """The checkout whose root directory is `root`, an absolute path."""

    root: Path

    @property
    def virtual_environment(self) -> Path:
        """The directory of the virtual environment."""
        return self.root / ".venv"

    @property
    def python(self) -> Path:
        """The Python of the virtual environment."""
        return self.virtual_environment / "bin" / "python"

    @property
    def requirements(self) -> Path:
        """The lock: every dependency with version and hashes."""
        return self.root / "requirements.lock"

    @property
    def project_file(self) -> Path:
        """The project's metadata."""
        return self.root / "pyproject.toml"

    @property
    def state(self) -> Path:
        """The directory of the set-up's stored state and of its logs."""
        return self.root / "build" / "bootstrap"


def base_environment(source: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return `source` without the variables that would mislead the tools.

    Proxies, certificates and the ``PIP_*`` settings pass. Two ``PIP_*`` settings are fixed, since
    pip's user site and its check for a newer pip are wrong in a virtual environment.
    """
    environment = {name: value for name, value in source.items() if name not in _MISLEADING}
    return environment | {"PIP_USER": "0", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}


def job_environment(
    checkout: Checkout, java_home: Path, source: Mapping[str, str] = os.environ
) -> dict[str, str]:
    """Return the environment of a job: the virtual environment and Java come first on the path."""
    environment = base_environment(source)
    folders = (checkout.virtual_environment / "bin", java_home / "bin")
    return environment | {
        "VIRTUAL_ENV": str(checkout.virtual_environment),
        "JAVA_HOME": str(java_home),
        "PATH": os.pathsep.join([*map(str, folders), environment.get("PATH", os.defpath)]),
        # Without it, Pyright's wheel asks the registry for its newest version.
        "PYRIGHT_PYTHON_IGNORE_WARNINGS": "1",
    }


def writable_home(source: Mapping[str, str] = os.environ) -> Path | None:
    """Return the home directory if HOME names a writable one, otherwise None."""
    name = source.get("HOME", "")
    home = Path(name)
    usable = name != "" and home.is_dir() and os.access(home, os.W_OK | os.X_OK)
    return home.resolve() if usable else None
