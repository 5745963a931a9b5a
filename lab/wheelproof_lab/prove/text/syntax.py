"""The text of a TLA+ module as SANY has parsed it: every name is resolved, every node has a line.

SANY is the parser of TLC, so what is proved is the text as TLC reads it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum, auto

from wheelproof_spec.base.errors import WheelproofSpecError

ACTION_LEVEL = 2
"""The level of an expression with a prime; 0 is a constant, 1 a state, 3 temporal."""


OTHER = "OTHER"
"""The test of the last arm of a CASE."""


_CONSTRUCTS = {
    "$SetOfAll": "a set {e : x \\in S}",
    "$Tuple": "a tuple",
    "$RcdConstructor": "a record",
    "$RcdSelect": "a field of a record",
    "$BoundedChoose": "CHOOSE",
    "$UnboundedChoose": "CHOOSE",
    "$SetOfFcns": "a set of functions",
    "$SquareAct": "[A]_v",
    "SUBSET": "SUBSET",
}
"""What a refusal calls an operator of the language."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where something stands in the text: a module, a first and a last line."""

    module: str
    line: int
    last: int

    def __str__(self) -> str:
        """Return the place as editors know it."""
        return f"{self.module}.tla:{self.line}"


class NotInTheFragmentError(WheelproofSpecError):
    """A construct of the text that the translation to a proof does not know."""

    def __init__(self, place: Place, construct: str) -> None:
        super().__init__(f"{place}: {construct} cannot be translated to a proof")
        self.place = place
        self.construct = construct


class What(StrEnum):
    """The kind of a node."""

    BUILT_IN = auto()
    """An operator of the language, or of a standard module, that is applied to `parts`."""
    DEFINED = auto()
    """An operator that is defined in the text, applied to `parts`."""
    CONSTANT = auto()
    VARIABLE = auto()
    PARAMETER = auto()
    """A parameter of an operator, or a bound variable."""
    NUMBER = auto()
    STRING = auto()
    LET = auto()
    OLD = auto()
    """The `@` of EXCEPT."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A node of the text. `name` is an operator's, a constant's or a variable's, or the literal.

    `key` tells parameters and definitions apart that have the same name.
    """

    what: What
    name: str
    place: Place
    level: int
    key: str = ""
    parts: tuple["Node", ...] = ()
    bound: tuple["Bound", ...] = ()

    def refuse(self, construct: str = "") -> NotInTheFragmentError:
        """Return the error that names this node, for the caller to raise."""
        known = _CONSTRUCTS.get(self.name, f"`{self.name}`")
        return NotInTheFragmentError(self.place, construct or known)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """Bound variables, by key and name, and the set of their values."""

    names: tuple[tuple[str, str], ...]
    values: Node


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    """A definition: its parameters by key and name, and its body."""

    name: str
    place: Place
    parameters: tuple[tuple[str, str], ...]
    body: Node
    is_recursive: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Module:
    """A root module with all that it extends; `lines` is the text of each of them."""

    name: str
    constants: tuple[str, ...]
    variables: tuple[str, ...]
    named: Mapping[str, Definition]
    """The definitions by name."""
    definitions: Mapping[str, Definition]
    """The definitions by key, with those inside LET."""
    assumptions: tuple[Node, ...]
    lines: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])

    def sums(self, definition: Definition) -> bool:
        """Tell whether an operator f(a, S) is the sum of a[x] over all x in S, by recursion."""
        body = definition.body
        if body.name != "$IfThenElse" or len(definition.parameters) != 2:
            return False
        (amounts, _), (some, _) = definition.parameters
        test, nothing, more = body.parts
        empty = test.name == "=" and [one.key for one in test.parts[:1]] == [some]
        if not (empty and _is_set_of(test.parts[1], 0) and nothing.name == "0"):
            return False
        if more.what is not What.LET or more.parts[0].name != "+":
            return False
        here, others = more.parts[0].parts
        if here.name != "$FcnApply" or here.parts[0].key != amounts:
            return False
        chosen = self.definitions.get(here.parts[1].key)
        if chosen is None or self.definitions.get(others.key) is not definition:
            return False
        rest = others.parts[1]
        return (
            chosen.body.name == "$BoundedChoose"
            and chosen.body.bound[0].values.key == some
            and chosen.body.parts[0].name == "TRUE"
            and others.parts[0].key == amounts
            and rest.name == "\\"
            and rest.parts[0].key == some
            and _is_set_of(rest.parts[1], 1)
            and rest.parts[1].parts[0].key == here.parts[1].key
        )

    def called(self, name: str) -> Definition:
        """Return a definition; raises NotInTheFragmentError if there is none."""
        if name not in self.named:
            place = Place(self.name, 1, 1)
            raise NotInTheFragmentError(place, f"the missing definition of {name}")
        return self.named[name]

    def text(self, place: Place) -> str:
        """Return the lines of a place as one line."""
        lines = self.lines[place.module][place.line - 1 : place.last]
        return " ".join(" ".join(lines).split())


def _is_set_of(node: Node, number: int) -> bool:
    return node.name == "$SetEnumerate" and len(node.parts) == number
