"""A cell of the matrix: something altered, and an engine that is to see it; and how that ended."""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated

from wheelproof_spec.base.codec.explain import build
from wheelproof_spec.base.codec.shapes import shape_of
from wheelproof_spec.base.codec.vocabulary import Length
from wheelproof_spec.base.errors import InputRejectedError
from wheelproof_spec.base.strict_json import MalformedError, parse_object

Text = Annotated[str, Length(0, 1 << 20)]


class End(StrEnum):
    """How a cell ended."""

    FOUND = "found"
    CLEAN = "clean"
    """The budget was used, or all there is was tried, and nothing failed."""
    BROKEN = "broken"
    """TLC comes to a state that it cannot evaluate: a function outside of its domain, say."""
    REACH = "reach"
    """No property fails, but witnesses or actions are reached, or not, other than they should."""
    PIN = "pin"
    """No property fails, but a number is not the one that is pinned."""
    HANGS = "hangs"
    """It was ended at a limit of the clock: nothing is known."""
    ABSENT = "absent"
    """The engine has nothing for this component, or for this defect."""
    ERROR = "error"
    """The engine itself failed: nothing is known."""


SEEN = frozenset({End.FOUND, End.BROKEN, End.REACH, End.PIN})
"""The ends that show a difference from what is right."""
WEAKLY_SEEN = frozenset({End.REACH, End.PIN})
"""Those of them that no property shows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What an engine tells: how it ended, after how many runs (cases, states, obligations).

    `length` is that of the counterexample, in calls or steps; `story` tells it, or what went wrong.
    """

    end: End
    runs: int = 0
    length: int = 0
    story: Text = ""


NOTHING_THERE = Found(end=End.ABSENT)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """What is altered, where, who looks at it, and what is drawn.

    `subject` is the id of a known bug, or of a mutant; empty is the reference as it is. `digest`
    stands for what is run: an outcome of another one says nothing of this cell.
    """

    subject: Text
    component: str
    engine: str
    seconds: int
    seed: int
    digest: Text = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How a cell ended, and what CPU time it took; if it was ended, what the clock showed."""

    cell: Cell
    found: Found
    milliseconds: int

    def told(self) -> str:
        """Return it in a line."""
        cell, found = self.cell, self.found
        subject = cell.subject or f"{cell.component}, seed {cell.seed}"
        return f"{subject}: {cell.engine}: {found.end.value}, {self.milliseconds / 1_000:.1f} s"


_SHAPE = shape_of(Outcome)


def read_outcome(line: bytes) -> Outcome:
    """Return the outcome that a line holds; raises MalformedError."""
    outcome = build(_SHAPE, parse_object(line))
    if not isinstance(outcome, Outcome):
        raise MalformedError("is no outcome")
    return outcome


def read_outcomes(path: Path) -> tuple[Outcome, ...]:
    """Return the outcomes of a file, if there is one; a last line that was cut off is none.

    Raises InputRejectedError.
    """
    if not path.exists():
        return ()
    found: list[Outcome] = []
    for number, line in enumerate(path.read_bytes().splitlines(keepends=True), 1):
        try:
            if line.endswith(b"\n"):
                found.append(read_outcome(line))
        except MalformedError as error:
            remedy = "remove the file, and begin again"
            raise InputRejectedError(str(path), number, f"the line {error}", remedy) from error
    return tuple(found)
