"""`python -m wheelproof_spec.app.pages.known_bugs`: renews docs/known-bugs.md from the table."""

import sys

from wheelproof_spec.base.known_bug import KnownBug
from wheelproof_spec.base.resources import required_checkout
from wheelproof_spec.base.results.reports import write_text
from wheelproof_spec.components.registry import bugs

PAGE = "docs/known-bugs.md"

_HEAD = """# Known bugs

Made from the tables in `spec/wheelproof_spec/components` by
`python -m wheelproof_spec.app.pages.known_bugs`.

Each entry is a variant of the reference that brings a real defect back, and a test that each
engine named here finds it. KAFKA-N is an issue of Apache Kafka, to be found at
issues.apache.org/jira/browse/KAFKA-N.

The last column says where somebody sees it who has calls, answers and callbacks alone: in cases
that are driven call by call, or in recorded histories of threads.

| id | what triggers it | what it breaks | source | found by | models | seen from outside |
|---|---|---|---|---|---|---|
"""


def render() -> str:
    """Return the page as Markdown."""
    return _HEAD + "".join(_row(bug) for bug in bugs())


def _row(bug: KnownBug) -> str:
    finders = "; ".join(finder.value for finder in bug.finders)
    models = ", ".join(f"`{model}`" for model in bug.models)
    seen = "; ".join(sight.value for sight in bug.seen) or f"no: {bug.unseen}"
    cells = (f"`{bug.id}`", bug.trigger, bug.broken, bug.source, finders, models, seen)
    return f"| {' | '.join(cells)} |\n"


def main() -> int:
    """Write the page."""
    write_text(required_checkout() / PAGE, render())
    return 0


if __name__ == "__main__":
    sys.exit(main())
