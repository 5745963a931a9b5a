"""`python -m wheelproof_lab pages soundness`: explores each construct, and renews its page."""

from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import islice
from multiprocessing import get_context

from wheelproof_lab.publish.markdown import markdown, renew
from wheelproof_lab.worlds.constructs.construct import Construct
from wheelproof_lab.worlds.constructs.made_before import MADE_BEFORE
from wheelproof_lab.worlds.constructs.of_packages import OF_PACKAGES
from wheelproof_lab.worlds.constructs.of_the_system import OF_THE_SYSTEM
from wheelproof_lab.worlds.constructs.programs import Outcome, Refusal, outcome
from wheelproof_lab.worlds.constructs.rows import CONSTRUCTS, MADE_IN_A_RUN, WITHOUT_A_ROW

PAGE = "docs/soundness.md"
_AT_ONCE = 8
"""How many constructs a process gets at once."""


def row(construct: Construct, found: Outcome | Refusal) -> str:
    """Return the row of a construct in a table of the page."""
    lock = () if construct.lock == "lock" else (f"lock: {_code(construct.lock)}",)
    made = construct.before or construct.setup
    cells = _code(made), _code(construct.read), ", ".join((_code(construct.write), *lock))
    return f"| {construct.name} | {' | '.join(cells)} | {found.how()} |"


def _code(text: str) -> str:
    return "`" + " ".join(text.replace("|", "\\|").split()) + "`"


def explored_row(construct: Construct) -> str:
    """Explore a construct and return its row; raises AssertionError if it is not sound."""
    found = outcome(construct)
    assert not found.problem(), f"{construct.name}: {found.problem()}"
    return row(construct, found)


def explored_rows(constructs: Sequence[Construct]) -> list[str]:
    """Explore constructs, and return their rows in this order; raises as `explored_row` does."""
    # Processes that are new: all modules that are loaded and not installed count as the user's.
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as pool:
        return [*pool.map(explored_row, constructs, chunksize=_AT_ONCE)]


def render() -> str:
    """Return the page as Markdown; raises AssertionError for a construct that is not sound."""
    rows = iter(explored_rows(CONSTRUCTS))
    return markdown(
        "soundness",
        rows=[*islice(rows, len(MADE_IN_A_RUN))],
        made_before=[*islice(rows, len(MADE_BEFORE))],
        of_packages=[*islice(rows, len(OF_PACKAGES))],
        of_the_system=[*islice(rows, len(OF_THE_SYSTEM))],
        without=WITHOUT_A_ROW.items(),
    )


def renew_page() -> int:
    """Write the page, and return the exit code."""
    return renew(PAGE, render)
