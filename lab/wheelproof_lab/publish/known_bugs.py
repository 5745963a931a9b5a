"""`python -m wheelproof_lab pages known-bugs`: renews docs/known-bugs.md from the table."""

from wheelproof_lab.bugs.catalog import bugs
from wheelproof_lab.publish.markdown import markdown, renew

PAGE = "docs/known-bugs.md"


def render() -> str:
    """Return the page as Markdown."""
    return markdown("known-bugs", bugs=bugs())


def renew_page() -> int:
    """Write the page, and return the exit code."""
    return renew(PAGE, render)
