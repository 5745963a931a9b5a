"""Sets that are united or cut, sets of pairs, and functions with another value at a place."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from wheelproof_lab.prove.terms import FALSE, Kind, Sort, Term
from wheelproof_lab.prove.text.reading import Given, Reading
from wheelproof_lab.prove.text.syntax import Node
from wheelproof_lab.prove.text.values import (
    Map,
    Maybe,
    MismatchError,
    Some,
    Value,
    chosen,
    conjunction,
    disjunction,
    equal,
    negation,
)

Products = Mapping[Sort, Sequence[Map]]
"""The parts of each pair of a sort, as functions of the pair."""


def part(reading: Reading, products: Products, pair: Value, place: Value) -> Value | None:
    """Return pair[place], or None for anything but a pair."""
    sort = pair.sort if isinstance(pair, Term | Maybe) else None
    parts = products.get(sort) if sort is not None else None
    if parts is None or not isinstance(place, Term) or place.kind is not Kind.VALUE:
        return None
    one = reading.as_element(pair)
    if not isinstance(one, Term):
        raise MismatchError("a part of a pair that may be None")
    return parts[int(place.value) - 1].at(one)


def pair(reading: Reading, products: Products, node: Node, given: Given) -> Value | None:
    """Return the pair <<a, b>>, or None for anything that is in no set of pairs."""
    if node.name != "$Tuple" or not node.parts:
        return None
    values = [reading.as_element(reading.value(one, given)) for one in node.parts]
    for sort, parts in products.items():
        probe = sort.variable("pair")
        if len(parts) == len(values) and all(
            _is_of(value, one.at(probe)) for value, one in zip(values, parts, strict=True)
        ):
            return _pair_of(sort, parts, values)
    return None


def _is_of(value: Value, known: Value) -> bool:
    """Tell whether a value can be such a part of a pair."""
    return isinstance(value, Term) and isinstance(known, Term | Maybe) and value.sort == known.sort


def _pair_of(sort: Sort, parts: Sequence[Map], values: Sequence[Value]) -> Maybe:
    def at(one: Term) -> Term:
        pairs = zip(parts, values, strict=True)
        return conjunction([equal(known.at(one), value) for known, value in pairs])

    return Maybe(sort, at, FALSE)


def combined(node: Node, one: Some, other: Some) -> Some:
    """Return the union, intersection or difference of two sets."""
    sort = one.sort or other.sort
    parts = (*one.listed, *other.listed) if node.name == "\\union" else ()

    def both(left: Term, right: Term) -> Term:
        match node.name:
            case "\\union":
                return disjunction([left, right])
            case "\\intersect":
                return conjunction([left, right])
            case _:
                return conjunction([left, negation(right)])

    if sort is None and node.name != "\\union":
        raise node.refuse("an intersection or difference of sets of words")
    return Some(
        lambda value: both(one.has(value), other.has(value)),
        sort,
        parts if sort is None else (),
        both(one.none, other.none),
    )


def changed(function: Map, place: Term, new: Value) -> Map:
    """Return the function with another value at a place, if that is in its domain."""
    inside = chosen(function.domain.has(place), new, function.at(place))

    def at(where: Term) -> Value:
        return chosen(equal(where, place), inside, function.at(where))

    return replace(function, at=at, points=(*function.points, (place, inside)))
