"""Generated pages in Markdown: how they are made from templates, and renewed."""

from collections.abc import Callable

from wheelproof_lab.checkout import required_checkout
from wheelproof_spec.app.pages.environment import page_environment
from wheelproof_spec.base.results.reports import write_text

TEMPLATES = "wheelproof_lab.publish"
"""The package of the laboratory's templates."""


def markdown(template: str, **values: object) -> str:
    """Return a page in Markdown; `number` and `code` are filters of its template."""
    environment = page_environment(TEMPLATES, escape=False)
    environment.filters |= {"number": "{:,}".format, "code": "`{}`".format}
    page = environment.get_template(f"markdown/{template}.md.jinja").render(values)
    return f"{page.rstrip()}\n"


def renew(page: str, render: Callable[[], str]) -> int:
    """Write a page into the checkout, and return the exit code."""
    write_text(required_checkout() / page, render())
    return 0
