"""Products of unknown numbers, for a solver of linear arithmetic.

A product of sums is expanded to a sum of products of two unknowns. The solver gets each such
product as a new number, with some facts that hold for every product of integers. If the terms are
impossible then, they are impossible; if not, the question is asked again with real products.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import permutations, product

import z3

from wheelproof_lab.prove.terms import Kind, Term, if_

Monomial = tuple[int, tuple[Term, ...]]


def choice_in(term: Term) -> Term | None:
    """Return a case distinction among the factors and summands of a term, if there is one."""
    if term.kind is Kind.IF:
        return term
    inside = term.parts if term.kind in (Kind.PLUS, Kind.TIMES) else ()
    return next((found for found in map(choice_in, inside) if found is not None), None)


def by_cases(term: Term, choice: Term) -> Term:
    """Return the term with the case distinction moved to the outside."""
    test, then, otherwise = choice.parts
    return if_(test, _instead(term, choice, then), _instead(term, choice, otherwise))


def _instead(term: Term, choice: Term, chosen: Term) -> Term:
    if term is choice:
        return chosen
    if term.kind not in (Kind.PLUS, Kind.TIMES):
        return term
    return replace(term, parts=tuple(_instead(part, choice, chosen) for part in term.parts))


def monomials(term: Term) -> list[Monomial]:
    """Return a term as a sum of products."""
    if term.kind is Kind.VALUE:
        return [(int(term.value), ())]
    if term.kind is Kind.PLUS:
        return [one for part in term.parts for one in monomials(part)]
    if term.kind is Kind.TIMES:
        left, right = map(monomials, term.parts)
        return [(a * b, (*some, *more)) for (a, some), (b, more) in product(left, right)]
    return [(1, (term,))]


def facts(products: Sequence[tuple[z3.ExprRef, z3.ExprRef, z3.ExprRef]]) -> Iterator[z3.ExprRef]:
    """Yield facts about products, each given with its two factors: it grows with a factor."""
    zero, one = z3.IntVal(0), z3.IntVal(1)
    known = [
        (value, factor, other)
        for left, right, value in products
        for factor, other in ((left, right), (right, left))
    ]
    for value, factor, other in known:
        yield z3.Or(_unlike(factor, zero), _like(value, zero))
        yield z3.Or(_unlike(factor, one), _like(value, other))
        yield _grows(other, zero, zero, factor, value)
        yield _grows(other, factor, value, zero, zero)
    for (less, small, other), (more, large, same) in permutations(known, 2):
        if other.eq(same):
            yield _grows(other, small, less, large, more)
            yield z3.Or(_unlike(small, large), _like(less, more))


def _grows(
    by: z3.ExprRef, small: z3.ExprRef, less: z3.ExprRef, large: z3.ExprRef, more: z3.ExprRef
) -> z3.ExprRef:
    """Say: if by > 0 and small < large, by * small (`less`) + by <= by * large (`more`)."""
    zero = z3.IntVal(0)
    return z3.Or(z3.Not(zero < by), z3.Not(small < large), z3.Not(more < less + by))


def _like(left: z3.ExprRef, right: z3.ExprRef) -> z3.ExprRef:
    return z3.Not(_unlike(left, right))


def _unlike(left: z3.ExprRef, right: z3.ExprRef) -> z3.ExprRef:
    return z3.Distinct(left, right)


def of_constants(coefficient: int, factors: Sequence[z3.ExprRef]) -> z3.ExprRef:
    """Return the product of a coefficient and some factors, as z3's multiplication."""
    result = z3.IntVal(coefficient)
    for factor in factors:
        result = result * factor
    return result
