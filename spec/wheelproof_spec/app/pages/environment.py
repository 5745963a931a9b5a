"""The templates of the pages, and the making and renewal of pages in Markdown."""

from collections.abc import Callable
from importlib.metadata import version

from jinja2 import Environment, PackageLoader, StrictUndefined

from wheelproof_spec.base.resources import required_checkout
from wheelproof_spec.base.results.reports import write_text


def page_environment(
    package: str = "wheelproof_spec.app.pages", *, escape: bool = True
) -> Environment:
    """Return the environment of all pages; pages in Markdown escape nothing."""
    return Environment(
        loader=PackageLoader(package),
        autoescape=escape,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def html(template: str, package: str = "wheelproof_spec.app.pages", **values: object) -> str:
    """Return a page in HTML, which names the version that made it."""
    page = page_environment(package).get_template(f"{template}.html.jinja")
    return page.render(values, version=version("wheelproof"))


def markdown(template: str, **values: object) -> str:
    """Return a page in Markdown; `number` and `code` are filters of its template."""
    environment = page_environment(escape=False)
    environment.filters |= {"number": "{:,}".format, "code": "`{}`".format}
    page = environment.get_template(f"markdown/{template}.md.jinja").render(values)
    return f"{page.rstrip()}\n"


def renew(page: str, render: Callable[[], str]) -> int:
    """Write a page into the checkout, and return the exit code."""
    write_text(required_checkout() / page, render())
    return 0
