"""What the translation of expressions offers to its parts: the value of a node among parameters."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from wheelproof_lab.prove.terms import Term
from wheelproof_lab.prove.text.syntax import Definition, Node
from wheelproof_lab.prove.text.values import Value


@dataclass(frozen=True, slots=True)
class Later:
    """An argument of an operator: it is evaluated where it is read, for that may be primed."""

    node: Node
    given: "Given"


Given = Mapping[str, Value | Later]
"""The parameters and bound variables, by key."""


class Reading(Protocol):
    """Translates nodes to values."""

    def value(self, node: Node, given: Given) -> Value:
        """Return the value of an expression; raises NotInTheFragmentError."""
        ...

    def term(self, node: Node, given: Given) -> Term:
        """Return the truth value of an expression."""
        ...

    def definition(self, node: Node) -> Definition:
        """Return what a node applies, after replacements."""
        ...

    def as_element(self, value: Value) -> Value:
        """Return a value that may be None as the element that it is, if it has a name."""
        ...

    def perhaps(self, value: Value) -> tuple[Term, Term]:
        """Return the element that a value is if it is not None, and whether it is not."""
        ...
