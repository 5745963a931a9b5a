"""Where pages get their templates from."""

from jinja2 import Environment, PackageLoader, StrictUndefined


def page_environment() -> Environment:
    """Return the environment of all pages."""
    return Environment(
        loader=PackageLoader("wheelproof_spec.app.pages"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
