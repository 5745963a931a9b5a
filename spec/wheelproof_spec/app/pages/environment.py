"""Where pages get their templates from."""

from jinja2 import Environment, PackageLoader, StrictUndefined


def page_environment(*, escape: bool = True) -> Environment:
    """Return the environment of all pages; those in Markdown escape nothing."""
    return Environment(
        loader=PackageLoader("wheelproof_spec.app.pages"),
        autoescape=escape,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
