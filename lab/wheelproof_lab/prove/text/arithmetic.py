"""Numbers of a TLA+ module: sums, products, and comparisons."""

from collections.abc import Callable, Mapping

from wheelproof_lab.prove.terms import (
    FALSE,
    INT,
    Kind,
    Term,
    as_term,
    free_in,
    if_,
)
from wheelproof_lab.prove.text.values import (
    MismatchError,
    Some,
    Value,
    conjunction,
    is_of_elements,
    sorted_as,
)

OPERATORS: Mapping[str, Callable[[Term, Term], Term]] = {
    "+": lambda one, other: one + other,
    "-": lambda one, other: one - other,
    "*": lambda one, other: one * other,
    "<": lambda one, other: one < other,
    ">": lambda one, other: one > other,
    "\\leq": lambda one, other: one <= other,
    "\\geq": lambda one, other: one >= other,
}
"""The operators on two numbers, as SANY names them."""


def numbers(least: Term, most: Term | None = None) -> Some:
    """Return the set of the numbers from one to another, or all from one on."""

    def has(value: Value) -> Term:
        number = sorted_as(value, INT)
        return conjunction([number >= least, *([] if most is None else [number <= most])])

    return Some(has, INT)


def counted(some: Some) -> Term:
    """Return how many elements a set has: a sum, as all sets are finite.

    The solvers take a sum for one number, so the set must be the same for all values of variables.
    """
    return summed(some, lambda _: as_term(1, INT), "Cardinality")


def summed(some: Some, amount: Callable[[Term], Term], what: str) -> Term:
    """Return the sum of an amount over the elements of a set: all sets are finite.

    The same sum must be the same term wherever it stands, so its variable has no fresh name.
    """
    if some.sort is None or not is_of_elements(some.sort) or some.none != FALSE:
        raise MismatchError(f"{what} of words, of numbers, or of a set with None")
    one = some.sort.variable("each")
    part = if_(some.has(one), amount(one), 0)
    result = Term(kind=Kind.SUM, sort=INT, parts=(part,), variable=one)
    if free_in(result):
        raise MismatchError(f"{what} of a set that depends on a variable")
    return result
