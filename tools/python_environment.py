"""The virtual environment: made from the lock, and made again when its inputs change."""

import importlib
import importlib.util
import shutil
import sys
from pathlib import Path

from tools.checkout import Checkout, base_environment
from tools.errors import SetupError
from tools.processes import last_lines, run_quiet
from tools.requirements import install_options
from tools.stamps import fingerprint, is_stamped, write_stamp
from tools.system_packages import Need, advice, choose_manager, try_install


def is_ready(checkout: Checkout) -> bool:
    """Tell whether the environment is complete and fits the present files and Python."""
    return (
        checkout.python.exists()
        and is_stamped(_dependencies_stamp(checkout), _dependencies(checkout))
        and is_stamped(_project_stamp(checkout), _project(checkout))
    )


def prepare(checkout: Checkout) -> None:
    """Make the environment, or only reinstall the project if the dependencies are good.

    Stamps are deleted first and written last, so an interrupted set-up never counts as complete.
    """
    if checkout.virtual_environment.is_symlink():
        # The target of the link, with its stamps, belongs to another checkout.
        checkout.virtual_environment.unlink()
    _project_stamp(checkout).unlink(missing_ok=True)
    good = is_stamped(_dependencies_stamp(checkout), _dependencies(checkout))
    if not (good and checkout.python.exists()):
        _install_dependencies(checkout)
    _install_project(checkout)
    write_stamp(_project_stamp(checkout), _project(checkout))


def base_python() -> Path:
    """Return the Python outside any virtual environment that this process runs on."""
    if sys.prefix == sys.base_prefix:
        return Path(sys.executable)
    name = f"python{sys.version_info.major}.{sys.version_info.minor}"
    return Path(sys.base_prefix) / "bin" / name


def _install_dependencies(checkout: Checkout) -> None:
    target = checkout.virtual_environment
    _dependencies_stamp(checkout).unlink(missing_ok=True)
    options = install_options(checkout)
    _require_venv_module(checkout)
    if target.exists():
        shutil.rmtree(target)
    packages = checkout.requirements.read_text(encoding="utf-8").count("==")
    print(f"making .venv with {packages} packages; that takes minutes, once", flush=True)
    _run(
        checkout,
        (str(base_python()), "-m", "venv", str(target)),
        "the virtual environment could not be made",
    )
    _run(
        checkout,
        (str(checkout.python), "-m", "pip", "install", *options),
        "the packages could not be installed: look at the network, the proxy settings and pip's "
        "last lines, then run this again",
    )
    write_stamp(_dependencies_stamp(checkout), _dependencies(checkout))


def _install_project(checkout: Checkout) -> None:
    options = ("--no-deps", "--no-build-isolation", "--editable", str(checkout.root))
    _run(
        checkout,
        (str(checkout.python), "-m", "pip", "install", *options),
        "the project itself could not be installed into .venv",
    )
    # Settings of pip can send packages elsewhere without an error.
    _run(
        checkout,
        (str(checkout.python), "-c", "import wheelproof, wheelproof_spec, pytest, mypy"),
        "pip installed the packages somewhere else than into .venv; look at `pip config list`",
    )


def _require_venv_module(checkout: Checkout) -> None:
    """Install the complete venv module if needed: Debian has a part of it in another package."""
    if _venv_is_complete():
        return
    try_install(Need.VENV, checkout.root)
    importlib.invalidate_caches()
    if not _venv_is_complete():
        remedy = advice(Need.VENV, choose_manager(Need.VENV))
        raise SetupError(f"this Python has no complete venv module; {remedy}")


def _venv_is_complete() -> bool:
    return all(importlib.util.find_spec(name) is not None for name in ("venv", "ensurepip"))


def _run(checkout: Checkout, command: tuple[str, ...], problem: str) -> None:
    outcome = run_quiet(command, directory=checkout.root, environment=base_environment())
    if outcome.exit_code != 0:
        raise SetupError(problem, last_lines(outcome.output))


def _dependencies_stamp(checkout: Checkout) -> Path:
    return checkout.virtual_environment / "dependencies.stamp"


def _project_stamp(checkout: Checkout) -> Path:
    return checkout.virtual_environment / "project.stamp"


def _dependencies(checkout: Checkout) -> str:
    # The root counts because the environment's scripts name it: a moved environment is broken.
    python = str(base_python().resolve())
    return fingerprint(checkout.requirements.read_bytes(), sys.version, python, str(checkout.root))


def _project(checkout: Checkout) -> str:
    return fingerprint(_dependencies(checkout), checkout.project_file.read_bytes())
