"""Where the project's files are: beside the packages in a checkout, inside them once installed."""

from pathlib import Path

from wheelproof_spec.base.errors import MissingToolError

_PACKAGE = Path(__file__).resolve().parents[1]
_CHECKOUT = _PACKAGE.parent.parent


def checkout_directory() -> Path | None:
    """Return the root of the checkout that this package runs from, or None once installed."""
    return _CHECKOUT if (_CHECKOUT / "pyproject.toml").is_file() else None


def tla_directory() -> Path:
    """Return the folder of the TLA+ modules and their manifest.

    Raises MissingToolError when the installation lacks them.
    """
    return _folder("the folder of TLA+ modules", _PACKAGE / "_data" / "tla", _CHECKOUT / "tla")


def template_directory() -> Path:
    """Return the folder of the adapters to start from.

    Raises MissingToolError when the installation lacks them.
    """
    installed = _PACKAGE / "_data" / "template"
    return _folder("the folder of templates", installed, _CHECKOUT / "adapters" / "template")


def vectors_directory() -> Path:
    """Return the folder of the published vectors.

    Raises MissingToolError when the installation lacks them.
    """
    return _folder("the folder of vectors", _PACKAGE / "_data" / "vectors", _CHECKOUT / "vectors")


def step_page() -> str:
    """Return the page in which a wheel, a purgatory and a pool move step by step.

    Raises MissingToolError when the installation lacks it.
    """
    for candidate in (_PACKAGE / "_data" / "step.html", _CHECKOUT / "docs" / "site" / "step.html"):
        if candidate.is_file():
            return candidate.read_text(encoding="utf-8")
    raise MissingToolError("the page to step through", "reinstall wheelproof")


def _folder(what: str, *candidates: Path) -> Path:
    for candidate in candidates:
        if candidate.is_dir():
            return candidate
    raise MissingToolError(what, "reinstall wheelproof")
