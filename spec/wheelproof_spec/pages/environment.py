"""Where pages get their templates from: their own package, and the parts that all pages share."""

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined


def page_environment(package: str) -> Environment:
    """Return the environment of the pages whose templates are in `package`."""
    return Environment(
        loader=ChoiceLoader([PackageLoader(package), PackageLoader("wheelproof_spec.pages")]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
