"""The types of a module's constants and variables, from its ASSUMEs and its TypeOK.

A type says which fields a variable becomes, and how its value is read and changed.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from wheelproof_lab.prove.terms import (
    BOOL,
    FALSE,
    INT,
    TRUE,
    Change,
    Field,
    Shape,
    Sort,
    Term,
    fields_in,
    for_all,
    there_is,
)
from wheelproof_lab.prove.text.values import (
    Choice,
    Map,
    Maybe,
    MismatchError,
    Numbers,
    Ordered,
    Some,
    Value,
    conjunction,
    disjunction,
    maybe,
    negation,
    sorted_as,
    words_of_both,
)


@dataclass(frozen=True, slots=True)
class Scalar:
    """A truth value, a number, or one of some words."""

    sort: Sort


@dataclass(frozen=True, slots=True)
class Optional:
    """An element of a set, or None."""

    sort: Sort


@dataclass(frozen=True, slots=True)
class Element:
    """An element of a set."""

    sort: Sort


@dataclass(frozen=True, slots=True)
class Row:
    """A sequence of elements of which none stands in it twice."""

    sort: Sort


@dataclass(frozen=True, slots=True)
class NumberRow:
    """A sequence of numbers, that never changes."""


@dataclass(frozen=True, slots=True)
class Subset:
    """A set of elements."""

    sort: Sort


@dataclass(frozen=True, slots=True)
class Function:
    """A function on a set."""

    domain: Some
    to: "Type"


Type = Scalar | Optional | Element | Subset | Row | NumberRow | Function
Wrap = Callable[[Term], Term]


def declared(name: str, kind: Type, *, rigid: bool = False) -> Field:
    """Return the field of a constant or variable."""
    sorts: list[Sort] = []
    domain: tuple[Field, ...] = ()
    while isinstance(kind, Function):
        sort = _sort_of(kind.domain)
        if not sorts:
            has = kind.domain.has(sort.variable("one"))
            domain = () if has == TRUE else tuple(dict.fromkeys(fields_in(has)))
        sorts.append(sort)
        kind = kind.to
    result, shape, tla = BOOL, Shape.FUNCTION, ""
    match kind:
        case Scalar():
            result = kind.sort
        case Optional() | Element():
            sorts.append(kind.sort)
            shape = Shape.ONE
        case Subset():
            sorts.append(kind.sort)
            shape = Shape.SET
        case Row() | NumberRow():
            sorts.append(INT if isinstance(kind, NumberRow) else kind.sort)
            result, shape = INT, Shape.HIDDEN
            places = [f"[{{{number}}}]" for number in range(len(sorts))]
            tla = f"{name}{''.join(places)}"
            if isinstance(kind, Row):
                tla = f"Place({{{len(places) - 1}}}, {name}{''.join(places[:-1])})"
    return Field(
        name=name,
        sorts=tuple(sorts),
        result=result,
        rigid=rigid,
        shape=shape,
        domain=domain,
        tla=tla,
    )


def length_of(of: Field) -> Field:
    """Return the field with the length of a sequence, beside the one with its places."""
    sorts = of.sorts[:-1]
    places = "".join(f"[{{{number}}}]" for number in range(len(sorts)))
    return replace(
        of,
        name=f"{of.name}, its length",
        sorts=sorts,
        domain=of.domain if sorts else (),
        tla=f"Len({of.name}{places})",
    )


def orders(of: Field, kind: Type) -> Term:
    """Return what holds of each sequence of different elements, as it is represented."""
    if not isinstance(_last(kind), Row):
        return TRUE
    *_, sort = of.sorts

    def ordered(places: tuple[Term, ...]) -> Term:
        if len(places) + 1 < len(of.sorts):
            return for_all(of.sorts[len(places)], lambda x: ordered((*places, x)))
        length = length_of(of)(*places)

        def apart(x: Term, y: Term) -> Term:
            one, other = of(*places, x), of(*places, y)
            return disjunction([~(one > 0), ~one.is_(other), x.is_(y)])

        return conjunction(
            [
                length >= 0,
                for_all(sort, lambda x: of(*places, x) <= length),
                for_all(sort, lambda x: for_all(sort, lambda y: apart(x, y))),
            ]
        )

    return ordered(())


def one_each(of: Field, kind: Type) -> Term:
    """Return that a function to elements has one at each place, if a constant is one."""
    if not isinstance(_last(kind), Element):
        return TRUE
    *before, sort = of.sorts

    def at(places: tuple[Term, ...]) -> Term:
        if len(places) < len(before):
            return for_all(before[len(places)], lambda x: at((*places, x)))

        def same(x: Term, y: Term) -> Term:
            return disjunction([~of(*places, x), ~of(*places, y), x.is_(y)])

        return for_all(sort, lambda x: for_all(sort, lambda y: same(x, y)))

    return at(())


def _last(kind: Type) -> Type:
    while isinstance(kind, Function):
        kind = kind.to
    return kind


def fits(kind: Type, value: Value) -> Term:
    """Return whether a field of a type can have a value: a step that gives it has to show it."""
    match kind:
        case Row() if isinstance(value, Ordered):
            return value.fits
        case Scalar():
            return _fits_in(value, kind.sort)
        case Function() if isinstance(value, Map) and value.variable:
            return conjunction([fits(kind.to, new) for _, new in value.points])
        case Function() if isinstance(value, Map):
            sort = _sort_of(kind.domain)
            anywhere = fits(kind.to, value.at(sort.variable("anywhere")))
            return (
                anywhere
                if anywhere == TRUE
                else for_all(sort, lambda x: fits(kind.to, value.at(x)))
            )
        case _:
            return TRUE


def _fits_in(value: Value, sort: Sort) -> Term:
    """Return whether a word of another sort is one of this sort as well."""
    match value:
        case Choice():
            then, otherwise = _fits_in(value.then, sort), _fits_in(value.otherwise, sort)
            left = disjunction([negation(value.test), then])
            return conjunction([left, disjunction([value.test, otherwise])])
        case Term() if value.sort != sort and (known := words_of_both(value, sort)):
            return disjunction([value.is_(word) for word in known])
        case _:
            return TRUE


def _sort_of(some: Some) -> Sort:
    if some.sort is None:
        raise MismatchError("a function on a set of words")
    return some.sort


def read(
    of: Field, kind: Type, wrap: Wrap = lambda term: term, places: tuple[Term, ...] = ()
) -> Value:
    """Return the value of a field; `wrap` is put around each part of the state that is read."""
    match kind:
        case Scalar():
            return wrap(of(*places))
        case Optional():
            sort = kind.sort
            none = negation(there_is(sort, lambda x: wrap(of(*places, x))))
            return Maybe(sort, lambda x: wrap(of(*places, x)), none)
        case Element():
            return Maybe(kind.sort, lambda x: wrap(of(*places, x)), FALSE)
        case Row():
            length = wrap(length_of(of)(*places))
            return Ordered(kind.sort, lambda x: wrap(of(*places, x)), length)
        case NumberRow():
            length = wrap(length_of(of)(*places))
            return Numbers(lambda number: wrap(of(*places, number)), length)
        case Subset():
            return Some(lambda value: wrap(of(*places, sorted_as(value, kind.sort))), kind.sort)
        case Function():
            to = kind.to
            return Map(
                kind.domain,
                lambda place: read(of, to, wrap, (*places, place)),
                variable="" if places else of.name,
            )


def changes(of: Field, kind: Type, value: Value) -> Iterator[Change]:
    """Yield the changes that give a field a value."""
    if isinstance(value, Map) and value.variable == of.name and not places_left(kind):
        assert isinstance(kind, Function)
        for place, new in value.points:
            yield of.to(place, sorted_as(new, of.result))
        return
    if not of.sorts:
        yield of.to(sorted_as(value, of.result))
        return
    variables = tuple(sort.variable(f"{of.name} {number}") for number, sort in enumerate(of.sorts))
    if isinstance(_last(kind), Row):
        sequence, length = _sequence_at(kind, value, variables), length_of(of)
        place = sequence.place(variables[-1])
        yield Change(field=of, where=variables, value=place, everywhere=True)
        yield Change(
            field=length,
            where=variables[:-1],
            value=sequence.length,
            everywhere=bool(length.sorts),
        )
        return
    yield Change(field=of, where=variables, value=_at(kind, value, variables), everywhere=True)


def places_left(kind: Type) -> bool:
    """Tell whether a field of a type has other places than the argument of one function."""
    return not (isinstance(kind, Function) and isinstance(kind.to, Scalar))


def _at(kind: Type, value: Value, places: Sequence[Term]) -> Term:
    match kind:
        case Scalar():
            return sorted_as(value, kind.sort)
        case Optional() | Element():
            known = maybe(value)
            if known.sort not in (None, kind.sort):
                raise MismatchError("an element of another set")
            return known.at(places[0])
        case Subset():
            if not isinstance(value, Some) or value.sort not in (None, kind.sort):
                raise MismatchError("another kind of value in place of a set")
            if value.none != FALSE:
                raise MismatchError("a set with None")
            return value.has(places[0]) if value.sort or value.listed else FALSE
        case Function():
            return _at(kind.to, _applied(kind, value, places[0]), places[1:])
        case Row() | NumberRow():
            raise MismatchError("a sequence of numbers")


def _applied(kind: Function, value: Value, place: Term) -> Value:
    if not isinstance(value, Map) or value.domain.sort != kind.domain.sort:
        raise MismatchError("another kind of value in place of a function")
    if value.domain.has(place) != kind.domain.has(place):
        raise MismatchError("a function on another set than TypeOK says")
    return value.at(place)


def _sequence_at(kind: Type, value: Value, places: Sequence[Term]) -> Ordered:
    if isinstance(kind, Function):
        return _sequence_at(kind.to, _applied(kind, value, places[0]), places[1:])
    if not isinstance(kind, Row) or not isinstance(value, Ordered):
        raise MismatchError("another kind of value in place of a sequence")
    if value.sort not in (None, kind.sort):
        raise MismatchError("a sequence of elements of another set")
    return value
