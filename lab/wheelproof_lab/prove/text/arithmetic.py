"""Numbers of a TLA+ module: sums, products, comparisons, and quotients.

A quotient is a number of its own, of which the step says what it is: so the solvers never divide.
"""

from collections.abc import Callable, Iterable, Mapping

from wheelproof_lab.prove.terms import (
    FALSE,
    INT,
    Kind,
    Term,
    all_of,
    as_term,
    free_in,
    if_,
    variables_in,
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


class Quotients:
    """The quotients that a module asks for, each as a number with a name of its own."""

    def __init__(self) -> None:
        self._known: dict[tuple[Term, Term], Term] = {}

    def of(self, number: Term, by: Term) -> Term:
        """Return number \\div by, for a positive divisor: it is rounded down."""
        return self._known.setdefault((number, by), INT.variable(f"quotient {len(self._known)}"))

    def in_terms(self, terms: Iterable[Term], known: Iterable[Term]) -> tuple[list[Term], Term]:
        """Return the quotients that some terms need, and what each of them is.

        `known` are the variables that a dividend may have; raises MismatchError for another one.
        """
        names = {name for term in terms for name in variables_in(term)}
        allowed = {str(one.value) for one in known}
        needed: list[Term] = []
        said: list[Term] = []
        # A later quotient may have an earlier one as its dividend.
        for (number, by), quotient in reversed(self._known.items()):
            if str(quotient.value) not in names:
                continue
            product = quotient * by
            told = all_of(product <= number, number < product + by)
            names |= variables_in(told)
            needed.append(quotient)
            said.append(told)
        free = {name for one in said for name in free_in(one)}
        if free - allowed - {str(one.value) for one in needed}:
            raise MismatchError("a quotient that depends on a bound variable")
        return needed, conjunction(said)


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
