"""Sequences of which no element stands in twice: who stands where, as a number of each element.

Append, Head, Tail, Len, `s[n]`, the indexes of a sequence, and SelectSeq that leaves out one
element at most. That nobody stands twice after Append is an obligation of the step. All else is
refused.
"""

from collections.abc import Callable

from wheelproof_lab.prove.following import with_values
from wheelproof_lab.prove.terms import (
    INT,
    TRUE,
    Kind,
    Term,
    as_term,
    conjuncts,
    for_all,
    free_in,
    if_,
    there_is,
)
from wheelproof_lab.prove.text.reading import Given, Reading
from wheelproof_lab.prove.text.syntax import Node
from wheelproof_lab.prove.text.values import (
    EMPTY,
    Index,
    Maybe,
    MismatchError,
    Numbers,
    Ordered,
    Some,
    Value,
    conjunction,
    disjunction,
    equal,
    is_of_elements,
    negation,
    sorted_as,
)


def asked(reading: Reading, node: Node, given: Given) -> Value | None:
    """Return a sequence, or what is asked of one; None for a construct that is about none."""
    if node.name == "$Tuple" and not node.parts:
        return EMPTY
    if node.name == "$SetOfAll":
        return _range(reading, node, given)
    if node.name not in ("Append", "Head", "Len", "SelectSeq", "Tail"):
        return None
    sequence = reading.value(node.parts[0], given)
    match node.name, sequence:
        case "Len", Numbers() | Ordered():
            return sequence.length
        case "Head", Ordered():
            return at(sequence, as_term(1, INT))
        case "Tail", Ordered():
            return without_the_first(sequence)
        case "Append", Ordered():
            return appended(sequence, reading.as_element(reading.value(node.parts[1], given)))
        case "SelectSeq", Ordered() if sequence.sort is not None:
            one = sequence.sort.variable("selected")
            return selected(sequence, *reading.perhaps(_left_out(reading, node, given, one)))
        case _:
            raise node.refuse(f"`{node.name}` of this sequence")


def _range(reading: Reading, node: Node, given: Given) -> Value | None:
    """Return {s[i] : i \\in DOMAIN s}, the only set of this form that is known."""
    (key, _), values = node.bound[0].names[0], node.bound[0].values
    sequence = reading.value(values.parts[0], given) if values.name == "DOMAIN" else None
    if not isinstance(sequence, Ordered) or sequence.sort is None or len(node.bound) > 1:
        return None
    sequence.read()
    one = sequence.sort.variable("ranged")
    if reading.value(node.parts[0], {**given, key: Index(one, sequence)}) != one:
        return None
    return Some(lambda value: sequence.has(sorted_as(value, one.sort)), sequence.sort)


def over_indexes(
    sequence: Value, is_all: bool, key: str, given: Given, said_of: Callable[[Given], Term]
) -> Term:
    """Return a claim on the indexes of a sequence: there is one for each of its elements."""
    if not isinstance(sequence, Ordered) or sequence.sort is None:
        raise MismatchError("the indexes of anything but a sequence of elements")
    sequence.read()

    def said(x: Term) -> Term:
        return said_of({**given, key: Index(x, sequence)})

    if is_all:
        return for_all(sequence.sort, lambda x: disjunction([negation(sequence.has(x)), said(x)]))
    one = sequence.sort.variable(f"index {len(given)}")
    some = conjunction([sequence.has(one), *conjuncts(said(one))])
    known = _at_its_index(some, one)
    if known is not None:
        return known
    return there_is(sequence.sort, lambda x: with_values(some, {str(one.value): x}))


def appended(sequence: Ordered, new: Value) -> Ordered:
    """Return Append(sequence, new)."""
    if not isinstance(new, Term) or not is_of_elements(new.sort):
        raise MismatchError("Append of anything but an element")
    if sequence.sort not in (None, new.sort):
        raise MismatchError("Append of an element of another set")
    length = sequence.length + 1
    return Ordered(
        new.sort,
        lambda x: if_(x.is_(new), length, sequence.place(x)),
        length,
        conjunction([sequence.fits, negation(sequence.has(new))]),
    )


def without_the_first(sequence: Ordered) -> Ordered:
    """Return Tail(sequence)."""

    def closer(number: Term) -> Term:
        return if_(number > 0, number - 1, number)

    return Ordered(
        sequence.sort,
        lambda x: closer(sequence.place(x)),
        closer(sequence.length),
        sequence.fits,
    )


def _left_out(reading: Reading, node: Node, given: Given, one: Term) -> Value:
    """Return the value e of SelectSeq(s, LAMBDA one : one # e)."""
    test = reading.definition(node.parts[1])
    (key, _), *_ = test.parameters
    if test.body.name == "/=":
        sides = [reading.value(part, {**given, key: one}) for part in test.body.parts]
        others = [side for side in sides if side != one]
        another = one.sort.variable("another")
        if len(others) == 1 and str(one.value) not in free_in(equal(others[0], another)):
            return others[0]
    raise MismatchError("SelectSeq that may leave out more than one element")


def selected(sequence: Ordered, left_out: Term, is_one: Term) -> Ordered:
    """Return the sequence without an element, if there `is_one`."""
    if left_out.sort != sequence.sort:
        raise MismatchError("SelectSeq that leaves out an element of another set")
    gone = sequence.place(left_out)
    is_gone = conjunction([is_one, gone > 0])

    def place(x: Term) -> Term:
        here = sequence.place(x)
        closer = if_(conjunction([is_gone, gone < here]), here - 1, here)
        return if_(conjunction([is_one, x.is_(left_out)]), as_term(0, INT), closer)

    length = if_(is_gone, sequence.length - 1, sequence.length)
    return Ordered(sequence.sort, place, length, sequence.fits)


def at(sequence: Ordered, place: Value) -> Value:
    """Return sequence[place]: the element there, which is one and no other."""
    if isinstance(place, Index) and _is_same(place.of, sequence):
        return place.element
    number = sorted_as(place, INT)
    if sequence.sort is None:
        raise MismatchError("an element of <<>>")
    sequence.read()
    inside = TRUE if number.kind is Kind.VALUE and int(number.value) > 0 else number >= 1
    nobody = negation(conjunction([inside, number <= sequence.length]))
    return Maybe(
        sequence.sort,
        lambda x: conjunction([inside, sequence.place(x).is_(number)]),
        nobody,
    )


def _is_same(one: Ordered, other: Ordered) -> bool:
    """Tell whether two sequences are one, read a second time."""
    if one is other or one.sort is None or one.sort != other.sort:
        return one is other
    stands = one.sort.variable("stands")
    return one.place(stands) == other.place(stands)


def _at_its_index(said: Term, variable: Term) -> Term | None:
    """Return what is said of some index, if it says which element has it; else None."""
    parts = said.parts if said.kind is Kind.AND else (said,)
    for part in parts:
        if part.kind is not Kind.EQUAL or variable not in part.parts:
            continue
        (other,) = [one for one in part.parts if one != variable] or [variable]
        if str(variable.value) not in free_in(other):
            others = [one for one in parts if one is not part]
            return with_values(conjunction(others), {str(variable.value): other})
    return None
