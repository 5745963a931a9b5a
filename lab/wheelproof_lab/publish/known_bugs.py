"""`python -m wheelproof_lab.publish.known_bugs`: renews docs/known-bugs.md from the table."""

import sys

from wheelproof_lab.bugs.catalog import BUGS
from wheelproof_lab.publish.markdown import markdown, renew

PAGE = "docs/known-bugs.md"


def render() -> str:
    """Return the page as Markdown."""
    return markdown("known-bugs", bugs=BUGS)


if __name__ == "__main__":
    sys.exit(renew(PAGE, render))
