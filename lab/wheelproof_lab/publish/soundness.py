"""`python -m wheelproof_lab pages soundness`: explores each construct, and renews its page."""

from wheelproof_lab.publish.markdown import markdown, renew
from wheelproof_lab.worlds.constructs.construct import Construct
from wheelproof_lab.worlds.constructs.programs import Outcome, outcome
from wheelproof_lab.worlds.constructs.rows import CONSTRUCTS, WITHOUT_A_ROW

PAGE = "docs/soundness.md"


def row(construct: Construct, found: Outcome) -> str:
    """Return the row of a construct in the table of the page."""
    code = ("`" + " ".join(text.replace("|", "\\|").split()) + "`" for text in construct[1:4])
    setup, read, write = code
    return f"| {construct.name} | {setup} | {read} | {write} | {found.how()} |"


def render() -> str:
    """Return the page as Markdown; raises AssertionError for a construct that is not sound."""
    rows: list[str] = []
    for construct in CONSTRUCTS:
        found = outcome(construct)
        assert not found.problem(), f"{construct.name}: {found.problem()}"
        rows.append(row(construct, found))
    return markdown("soundness", rows=rows, without=WITHOUT_A_ROW.items())


def renew_page() -> int:
    """Write the page, and return the exit code."""
    return renew(PAGE, render)
