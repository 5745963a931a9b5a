"""A cell of the matrix: one alteration, the engine that has to see it, and how the run ended."""

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
    """Nothing failed: the budget was used up, or everything was tried."""
    BROKEN = "broken"
    """TLC reached a state that it cannot evaluate: a function outside its domain, for example."""
    REACH = "reach"
    """No property fails, but a witness or an action is missed, or reached where none should be."""
    PIN = "pin"
    """No property fails, but a number differs from the pinned one."""
    HANGS = "hangs"
    """The run was ended at a limit of time: nothing is known."""
    ABSENT = "absent"
    """The engine has nothing for this component or defect, or TLC cannot read the mutant."""
    ERROR = "error"
    """The engine itself failed: nothing is known."""


SEEN = frozenset({End.FOUND, End.BROKEN, End.REACH, End.PIN})
"""The ends that show a difference from the correct behaviour."""
WEAKLY_SEEN = frozenset({End.REACH, End.PIN})
"""The ends of SEEN that show only in a witness, an action or a pinned number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """The result of an engine: how it ended, after how many runs (cases, states, obligations).

    `length` counts the calls or steps of the counterexample; `story` is its text, or the error's.
    """

    end: End
    runs: int = 0
    length: int = 0
    story: Text = ""


NOTHING_THERE = Found(end=End.ABSENT)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """What is altered, in which component, which engine looks at it, and with which seed.

    `subject` is the id of a known bug or of a mutant, or empty for the unaltered reference.
    `digest` is that of the code: an outcome with another digest says nothing about this cell.
    """

    subject: Text
    component: str
    engine: str
    seconds: int
    seed: int
    digest: Text = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How a cell ended, and its CPU time; if its process gave no outcome, its wall-clock time."""

    cell: Cell
    found: Found
    milliseconds: int

    def told(self) -> str:
        """Return the outcome as one line."""
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
    """Return the outcomes of a file: none if it is missing; skip a last line that was cut off.

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
