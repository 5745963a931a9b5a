"""What an expression of a TLA+ module is worth: a term, or something that is made of terms.

A variable that is an element or None is a relation, for the reason that `terms.py` gives:
`lock = t` is the field `lock(t)`, and `lock = None` says that no element is in it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from wheelproof_lab.prove.terms import (
    BOOL,
    FALSE,
    INT,
    TRUE,
    Kind,
    Sort,
    Term,
    all_of,
    any_of,
    as_term,
    for_all,
    if_,
    there_is,
)


@dataclass(frozen=True, slots=True)
class Text:
    """A string whose sort is not known yet."""

    word: str


@dataclass(frozen=True, slots=True)
class Choice:
    """One of two values whose sort is not known yet."""

    test: Term
    then: "Value"
    otherwise: "Value"


@dataclass(frozen=True, slots=True)
class Maybe:
    """An element or None. `is_none` says the latter; `at` says which element it is."""

    sort: Sort | None
    at: Callable[[Term], Term]
    is_none: Term


@dataclass(frozen=True, slots=True)
class Some:
    """A set, of the elements of `sort` for which `has` holds, or of a few `listed` values.

    `none` says whether None is in it, too.
    """

    has: Callable[["Value"], Term]
    sort: Sort | None = None
    listed: "tuple[Value, ...]" = ()
    none: Term = FALSE


@dataclass(frozen=True, slots=True)
class Map:
    """A function; with `variable`, that of a variable but for new values at some `points`."""

    domain: Some
    at: Callable[[Term], "Value"]
    variable: str = ""
    points: "tuple[tuple[Term, Value], ...]" = ()


@dataclass(frozen=True, slots=True, eq=False)
class Ordered:
    """A sequence of elements of which none stands in it twice.

    `place` is where an element stands, and no positive number if it does not. `fits` is whether
    nobody stands twice: the step that writes the sequence has to show it.
    """

    sort: Sort | None
    place: Callable[[Term], Term]
    length: Term
    fits: Term = TRUE

    def has(self, element: Term) -> Term:
        """Return whether an element stands in the sequence."""
        return self.place(element) > 0

    def read(self) -> None:
        """Say that the places are read; raises MismatchError if the sequence may not fit."""
        if self.fits != TRUE:
            raise MismatchError("a sequence that is read where somebody may stand in it twice")


@dataclass(frozen=True, slots=True, eq=False)
class Numbers:
    """A sequence of numbers."""

    at: Callable[[Term], Term]
    length: Term


@dataclass(frozen=True, slots=True)
class Index:
    """The place of an element in a sequence, as a bound variable of `DOMAIN sequence` has it."""

    element: Term
    of: Ordered

    @property
    def number(self) -> Term:
        """The place as a number."""
        return self.of.place(self.element)


Value = Term | Text | Choice | Maybe | Some | Map | Ordered | Numbers | Index


class MismatchError(Exception):
    """Values that do not go together; the reader adds the place."""


NOTHING = Maybe(None, lambda _: FALSE, TRUE)
"""The value None."""

EMPTY = Ordered(None, lambda _: as_term(0, INT), as_term(0, INT))
"""The sequence <<>>."""


def conjunction(terms: Sequence[Term]) -> Term:
    """Return a conjunction without what is always true."""
    left = [term for term in terms if term != TRUE]
    if FALSE in left:
        return FALSE
    return left[0] if len(left) == 1 else all_of(*left) if left else TRUE


def disjunction(terms: Sequence[Term]) -> Term:
    """Return a disjunction without what is never true."""
    left = [term for term in terms if term != FALSE]
    if TRUE in left:
        return TRUE
    return left[0] if len(left) == 1 else any_of(*left) if left else FALSE


def negation(term: Term) -> Term:
    """Return a negation."""
    if term.kind is Kind.VALUE:
        return FALSE if term.value else TRUE
    return term.parts[0] if term.kind is Kind.NOT else ~term


def chosen(test: Term, then: Value, otherwise: Value) -> Value:
    """Return IF ... THEN ... ELSE."""
    if test.kind is Kind.VALUE:
        return then if test.value else otherwise
    if then is otherwise or then == otherwise:
        return then
    match then, otherwise:
        case (Text() | Choice(), Text() | Choice()):
            return Choice(test, then, otherwise)
        case (Term(), Text() | Choice()) if has_words_of(otherwise, then.sort):
            return if_(test, then, sorted_as(otherwise, then.sort))
        case (Text() | Choice(), Term()) if has_words_of(then, otherwise.sort):
            return if_(test, sorted_as(then, otherwise.sort), otherwise)
        case (Term(), Term()) if then.sort == otherwise.sort:
            if then.sort == BOOL:
                return _either(test, then, otherwise)
            return if_(test, then, otherwise)
        case (Map(), Map()):
            return _chosen_map(test, then, otherwise)
        case (Ordered(), Ordered()):
            return Ordered(
                then.sort or otherwise.sort,
                lambda x: if_(test, then.place(x), otherwise.place(x)),
                if_(test, then.length, otherwise.length),
                _either(test, then.fits, otherwise.fits),
            )
        case (Some(), Some()):
            return Some(
                lambda value: _either(test, then.has(value), otherwise.has(value)),
                then.sort or otherwise.sort,
                none=_either(test, then.none, otherwise.none),
            )
        case (Term() | Text() | Choice(), Term() | Text() | Choice()) if _are_words(
            then, otherwise
        ):
            return Choice(test, then, otherwise)
        case (Maybe() | Term(), Maybe() | Term()):
            one, other = maybe(then), maybe(otherwise)
            return Maybe(
                one.sort or other.sort,
                lambda element: _either(test, one.at(element), other.at(element)),
                _either(test, one.is_none, other.is_none),
            )
        case _:
            raise MismatchError("IF with two kinds of value")


def _either(test: Term, then: Term, otherwise: Term) -> Term:
    if then == otherwise:
        return then
    if then == TRUE:
        return disjunction([test, otherwise])
    if then == FALSE:
        return conjunction([negation(test), otherwise])
    if otherwise == TRUE:
        return disjunction([negation(test), then])
    if otherwise == FALSE:
        return conjunction([test, then])
    return if_(test, then, otherwise)


def _chosen_map(test: Term, then: Map, otherwise: Map) -> Map:
    at = then.at, otherwise.at
    whole = Map(then.domain, lambda place: chosen(test, at[0](place), at[1](place)))
    places = [[place for place, _ in one.points] for one in (then, otherwise)]
    some = places[0] or places[1]
    known = all(one in ([], some) for one in places) and len(some) == 1
    if not known or then.variable != otherwise.variable or not then.variable:
        return whole
    here = chosen(test, then.at(some[0]), otherwise.at(some[0]))
    return replace(whole, variable=then.variable, points=((some[0], here),))


def maybe(value: Value) -> Maybe:
    """Return an element, or None, as a value that may be either."""
    if isinstance(value, Maybe):
        return value
    if not isinstance(value, Term) or not is_of_elements(value.sort):
        raise MismatchError("a value where an element belongs")
    return Maybe(value.sort, lambda element: element.is_(value), FALSE)


def sorted_as(value: Value, sort: Sort) -> Term:
    """Return a value as a term of a sort."""
    match value:
        case Text():
            if value.word not in sort.words:
                raise MismatchError(f'"{value.word}" where {sort.name} belongs')
            return as_term(value.word, sort)
        case Choice():
            return if_(value.test, sorted_as(value.then, sort), sorted_as(value.otherwise, sort))
        case Term() if value.sort == sort:
            return value
        case Term() if known := words_of_both(value, sort):
            result = as_term(known[-1], sort)
            for word in known[-2::-1]:
                result = if_(value.is_(word), as_term(word, sort), result)
            return result
        case Index() if sort == INT:
            return value.number
        case _:
            raise MismatchError(f"another kind of value where {sort.name} belongs")


def has_words_of(value: Value, sort: Sort) -> bool:
    """Tell whether a value is one of a sort's words, whatever is chosen."""
    match value:
        case Text():
            return value.word in sort.words
        case Choice():
            return has_words_of(value.then, sort) and has_words_of(value.otherwise, sort)
        case Term():
            return value.sort == sort
        case _:
            return False


def words_of_both(value: Term, sort: Sort) -> Sequence[str]:
    """Return the words that the value's sort and another one have."""
    return [word for word in value.sort.words if word in sort.words]


def _are_words(*values: Value) -> bool:
    return all(not isinstance(one, Term) or bool(one.sort.words) for one in values)


def equal(one: Value, other: Value) -> Term:
    """Return whether two values are equal."""
    match one, other:
        case (Choice(), _):
            then, otherwise = equal(one.then, other), equal(one.otherwise, other)
            return _either(one.test, then, otherwise)
        case (_, Choice()):
            return equal(other, one)
        case (Text(), Text()):
            return TRUE if one.word == other.word else FALSE
        case (Term(), Text()):
            # A word that the field never has, as TypeOK says, is no mistake in a comparison.
            return one.is_(other.word) if other.word in one.sort.words else _no_word(one, other)
        case (Text(), Term()):
            return equal(other, one)
        case (Term(), Term()) if one.sort == other.sort:
            if Kind.VALUE is one.kind is other.kind:
                return TRUE if one.value == other.value else FALSE
            return TRUE if one == other else one.is_(other)
        case (Some(), Some()):
            return conjunction([within(one, other), within(other, one)])
        case (Ordered(), Ordered()):
            return _same_order(one, other)
        case (Index(), Index()) if one.of is other.of:
            return equal(one.element, other.element)
        case (Index(), Term() | Index()):
            return equal(one.number, sorted_as(other, INT))
        case (Term(), Index()):
            return equal(one, other.number)
        case (Maybe(), Term()):
            return _is(one, other)
        case (Term(), Maybe()):
            return _is(other, one)
        case (Maybe(), Maybe()):
            return _same(one, other)
        case _:
            raise MismatchError("an equation between two kinds of value")


def _no_word(one: Term, other: Text) -> Term:
    if not one.sort.words:
        raise MismatchError(f'"{other.word}" beside {one.sort.name}')
    return FALSE


def _is(one: Maybe, other: Term) -> Term:
    """Return whether the first is an element: no relation of a variable has two of them."""
    if one.sort not in (None, maybe(other).sort):
        raise MismatchError("an equation between elements of two sets")
    return one.at(other)


def _same(one: Maybe, other: Maybe) -> Term:
    if other.sort is None:
        return one.is_none
    if one.sort is None:
        return other.is_none
    if one.sort != other.sort:
        raise MismatchError("an equation between elements of two sets")
    return for_all(one.sort, lambda x: equal(one.at(x), other.at(x)))


def _same_order(one: Ordered, other: Ordered) -> Term:
    sort = one.sort or other.sort
    if one.sort is None or other.sort is None or sort is None:
        return equal(one.length, other.length)
    if one.sort != other.sort:
        raise MismatchError("an equation between sequences of two sets")
    one.read()
    other.read()
    same = for_all(sort, lambda x: equal(one.place(x), other.place(x)))
    return conjunction([equal(one.length, other.length), same])


def within(one: Some, other: Some) -> Term:
    """Return whether one set is a subset of another one."""
    if one.sort is None:
        return conjunction([among(value, other) for value in one.listed])
    none = disjunction([negation(one.none), other.none])
    some = for_all(one.sort, lambda x: disjunction([negation(one.has(x)), other.has(x)]))
    return conjunction([some, none])


def among(value: Value, some: Some) -> Term:
    """Return whether a value is in a set."""
    if isinstance(value, Maybe):
        return _maybe_among(value, some)
    if some.sort is not None and not (isinstance(value, Term) and value.sort == some.sort):
        raise MismatchError(f"a value in a set of {some.sort.name} that is none")
    return some.has(value)


def _maybe_among(value: Maybe, some: Some) -> Term:
    none = conjunction([value.is_none, some.none])
    if value.sort is None:
        return none
    here = there_is(value.sort, lambda x: conjunction([value.at(x), some.has(x)]))
    return disjunction([here, none])


def listed(values: Sequence[Value]) -> Some:
    """Return the set of some values; elements make a set of their sort."""
    sorts = {value.sort for value in values if isinstance(value, Term)}
    element = next((one for one in sorts if is_of_elements(one)), None)
    return Some(
        lambda value: disjunction([equal(value, one) for one in values]),
        element,
        tuple(values),
        disjunction([equal(NOTHING, one) for one in values if isinstance(one, Maybe)]),
    )


def is_of_elements(sort: Sort) -> bool:
    """Tell whether a sort has any number of elements."""
    return not sort.words and sort not in (BOOL, INT)
