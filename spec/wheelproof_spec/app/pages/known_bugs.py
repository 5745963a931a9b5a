"""`python -m wheelproof_spec.app.pages.known_bugs`: renews docs/known-bugs.md from the table."""

import sys

from wheelproof_spec.app.pages.environment import markdown, renew
from wheelproof_spec.components.registry import bugs

PAGE = "docs/known-bugs.md"


def render() -> str:
    """Return the page as Markdown."""
    return markdown("known-bugs", bugs=bugs())


if __name__ == "__main__":
    sys.exit(renew(PAGE, render))
