"""The types and annotations that define everything on a wire.

A call, an answer, an event is a frozen dataclass, and that IS its definition: the parsers, the
writers, the JSON Schema and the reference pages are made from its fields. A field is a string, an
integer, a boolean, a choice of strings, a list, a mapping or another such dataclass; `Annotated`
adds its bounds, its meaning, and its wire if the field is not on both wires.

A field with a default may be left out. A field whose default is `None` or `ABSENT` is left out
whenever it has that value. A field with different types on the two wires has both types, each with
its wire: `Annotated[int, DRIVEN] | Annotated[str, RECORDED]`.
"""

from dataclasses import dataclass
from enum import Enum, Flag, auto
from typing import Annotated

LEAST_INTEGER = -(2**63)
GREATEST_INTEGER = 2**63 - 1
LONGEST_NAME = 256
LONGEST_TEXT = 4_096
MOST_NAMES = 10_000


class Absent(Enum):
    """The value of a field that a line leaves out: it was not observed. `None` is JSON's null."""

    ABSENT = "absent"


ABSENT = Absent.ABSENT


class Wire(Flag):
    """Where something is written: in driven cases, in recorded histories, or in both."""

    DRIVEN = auto()
    RECORDED = auto()
    BOTH = DRIVEN | RECORDED


@dataclass(frozen=True, slots=True)
class Only:
    """The only wire that a field, or one of its types, is on.

    On the other wire the field keeps its default. On its own wire the field is required, unless its
    default is `None` or `ABSENT`.
    """

    wire: Wire


@dataclass(frozen=True, slots=True)
class Needed:
    """The wire on which a field is required although the class has a default for it."""

    wire: Wire


NEEDED_WHEN_DRIVEN = Needed(Wire.DRIVEN)

DRIVEN = Only(Wire.DRIVEN)
RECORDED = Only(Wire.RECORDED)
REQUIRED = Only(Wire.BOTH)
"""For a field that every line must have, although the class has a default for it."""


@dataclass(frozen=True, slots=True)
class About:
    """What a field means, for the reference page and the JSON Schema."""

    text: str


@dataclass(frozen=True, slots=True)
class Within:
    """The least and the greatest value of an integer."""

    least: int = LEAST_INTEGER
    greatest: int = GREATEST_INTEGER


@dataclass(frozen=True, slots=True)
class Length:
    """The least and the greatest length of a string in characters."""

    least: int = 1
    greatest: int = LONGEST_NAME


Name = Annotated[str, Length()]
"""A name that the recorder gives: of a thread, a task, a buffer."""

Text = Annotated[str, Length(0, LONGEST_TEXT)]

Count = Annotated[int, Within(0)]

Positive = Annotated[int, Within(1)]

Time = Annotated[int, Within(-(2**62) + 1, 2**62 - 1)]
"""A time or a duration in milliseconds (standard 1.17)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Nothing:
    """An object without fields."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Implementation:
    """What was recorded."""

    name: Annotated[Name, About("the implementation")]
    version: Annotated[Name, About("its version")]
