"""The templates of the pages."""

from importlib.metadata import version

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

_OURS = "wheelproof_spec.app.pages"
_SHARED = "wheelproof_explore.page"
"""Has the colours of all pages."""


def page_environment(package: str = _OURS, *, escape: bool = True) -> Environment:
    """Return the environment of all pages; pages in Markdown escape nothing."""
    return Environment(
        loader=ChoiceLoader([PackageLoader(package), PackageLoader(_SHARED)]),
        autoescape=escape,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def html(template: str, package: str = _OURS, **values: object) -> str:
    """Return a page in HTML, which names the version that made it."""
    page = page_environment(package).get_template(f"{template}.html.jinja")
    return page.render(values, version=version("wheelproof"))
