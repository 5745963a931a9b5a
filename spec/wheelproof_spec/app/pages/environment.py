"""Where pages get their templates from."""

from jinja2 import Environment, PackageLoader, StrictUndefined


def page_environment(
    package: str = "wheelproof_spec.app.pages", *, escape: bool = True
) -> Environment:
    """Return the environment of all pages; those in Markdown escape nothing."""
    return Environment(
        loader=PackageLoader(package),
        autoescape=escape,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
