"""The language of the proofs: sorts, fields of the state, and terms over them.

A term is data. The solver reads it for any number of threads, the evaluator for a few. A field has
a truth value, a number or one of several words for each element of its sorts. No field has an
element as its value: a TLA+ function to elements is a relation here, so that the solver need not
introduce new elements again and again. So it always terminates if there are no numbers.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum, auto
from itertools import count


@dataclass(frozen=True, slots=True, kw_only=True)
class Sort:
    """A set of any size; with `words`, exactly these. `tla` is the set in the TLA+ module."""

    name: str
    words: tuple[str, ...] = ()
    tla: str = ""

    def variable(self, name: str) -> "Term":
        """Return a variable of this sort."""
        return Term(kind=Kind.VARIABLE, sort=self, value=name)

    def word(self, word: str) -> "Term":
        """Return one of the words as a term."""
        return as_term(word, self)


BOOL = Sort(name="Bool")
INT = Sort(name="Int")


class Kind(StrEnum):
    """The kind of a term."""

    VALUE = auto()
    VARIABLE = auto()
    FIELD = auto()
    NOT = auto()
    AND = auto()
    OR = auto()
    IF = auto()
    EQUAL = auto()
    LESS = auto()
    PLUS = auto()
    TIMES = auto()
    ALL = auto()
    SOME = auto()
    SUM = auto()
    NEXT = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    """A term of a sort; the meaning of its `parts` and its `value` depends on its kind.

    `a & b`, `a | b` and `~a` are logic, `a + b`, `a - b`, `a * b` and comparisons are arithmetic.
    """

    kind: Kind
    sort: Sort
    parts: tuple["Term", ...] = ()
    value: bool | int | str = ""
    field: "Field | None" = None
    variable: "Term | None" = None

    def is_(self, other: "Operand") -> "Term":
        """Say that both are equal."""
        return Term(kind=Kind.EQUAL, sort=BOOL, parts=(self, as_term(other, self.sort)))

    def among(self, *words: str) -> "Term":
        """Say that this is one of some words."""
        return any_of(*(self.is_(word) for word in words))

    def implies(self, other: "Term") -> "Term":
        """Say that `other` holds if this term holds."""
        return ~self | other

    def __invert__(self) -> "Term":
        """Say that this term does not hold."""
        return Term(kind=Kind.NOT, sort=BOOL, parts=(self,))

    def __and__(self, other: "Term") -> "Term":
        """Say that both terms hold."""
        return all_of(self, other)

    def __or__(self, other: "Term") -> "Term":
        """Say that at least one of the terms holds."""
        return any_of(self, other)

    def __add__(self, other: "Operand") -> "Term":
        """Return the sum."""
        return Term(kind=Kind.PLUS, sort=INT, parts=(self, as_term(other, INT)))

    def __mul__(self, other: "Operand") -> "Term":
        """Return the product."""
        return Term(kind=Kind.TIMES, sort=INT, parts=(self, as_term(other, INT)))

    def __sub__(self, other: "Operand") -> "Term":
        """Return the difference."""
        return self + as_term(other, INT) * -1

    def __lt__(self, other: "Operand") -> "Term":
        """Say that this is less than `other`."""
        return Term(kind=Kind.LESS, sort=BOOL, parts=(self, as_term(other, INT)))

    def __gt__(self, other: "Operand") -> "Term":
        """Say that this is greater than `other`."""
        return as_term(other, INT) < self

    def __le__(self, other: "Operand") -> "Term":
        """Say that this is at most `other`."""
        return ~(self > other)

    def __ge__(self, other: "Operand") -> "Term":
        """Say that this is at least `other`."""
        return ~(self < other)


Operand = Term | bool | int | str


def as_term(operand: Operand, sort: Sort) -> Term:
    """Return a value as a term; raises ValueError for a value that is not of the sort."""
    if not isinstance(operand, Term):
        right = {BOOL: bool, INT: int}.get(sort, str)
        if type(operand) is not right or (sort.words and operand not in sort.words):
            raise ValueError(f"{operand!r} is no value of {sort.name}")
        return Term(kind=Kind.VALUE, sort=sort, value=operand)
    if operand.sort != sort:
        raise ValueError(f"a term of {operand.sort.name} stands where {sort.name} belongs")
    return operand


TRUE = as_term(True, BOOL)
FALSE = as_term(False, BOOL)


def all_of(*terms: Term) -> Term:
    """Say that all terms hold."""
    return Term(kind=Kind.AND, sort=BOOL, parts=terms)


def any_of(*terms: Term) -> Term:
    """Say that at least one of the terms holds."""
    return Term(kind=Kind.OR, sort=BOOL, parts=terms)


def if_(test: Term, then: Term, otherwise: Operand) -> Term:
    """Return one of two terms of the same sort."""
    parts = (test, then, as_term(otherwise, then.sort))
    return Term(kind=Kind.IF, sort=then.sort, parts=parts)


_NUMBERS = count(1)


def _fresh(sort: Sort) -> Term:
    return sort.variable(f"{sort.name.lower()}_{next(_NUMBERS)}")


def _bound(kind: Kind, result: Sort, sort: Sort, body: Callable[[Term], Term]) -> Term:
    variable = _fresh(sort)
    return Term(kind=kind, sort=result, parts=(body(variable),), variable=variable)


def for_all(sort: Sort, body: Callable[[Term], Term]) -> Term:
    """Say that `body` holds for all elements of a sort."""
    return _bound(Kind.ALL, BOOL, sort, body)


def for_all_pairs(sort: Sort, other: Sort, body: Callable[[Term, Term], Term]) -> Term:
    """Say that `body` holds for all elements of one sort and all of another."""
    return for_all(sort, lambda one: for_all(other, lambda two: body(one, two)))


def there_is(sort: Sort, body: Callable[[Term], Term]) -> Term:
    """Say that `body` holds for some element of a sort."""
    return _bound(Kind.SOME, BOOL, sort, body)


def total(sort: Sort, body: Callable[[Term], Term]) -> Term:
    """Return the sum of `body` over all elements of a sort, which must be finite."""
    return _bound(Kind.SUM, INT, sort, body)


def after(term: Term) -> Term:
    """Return the value of a term after the action: TLA+'s prime."""
    return Term(kind=Kind.NEXT, sort=term.sort, parts=(term,))


class Shape(StrEnum):
    """The form of a field in the TLA+ module."""

    FUNCTION = auto()
    """A variable with the field's name, or a function of the elements."""
    SET = auto()
    """The set of the elements, or of the pairs, for which it holds."""
    ONE = auto()
    """A function of the other elements: the only last element for which it holds, or None."""
    HIDDEN = auto()
    """A part of a variable of another form; `tla` is its text there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """A part of the state: for each element of its sorts, a value of the sort `result`.

    A `rigid` field never changes. In the TLA+ module the field has a `shape`, and is a function on
    only those elements for which one of `domain` holds.
    """

    name: str
    sorts: tuple[Sort, ...] = ()
    result: Sort = BOOL
    rigid: bool = False
    shape: Shape = Shape.FUNCTION
    domain: tuple["Field", ...] = ()
    tla: str = ""

    def __call__(self, *elements: Term) -> Term:
        """Return the field's value at some elements."""
        if tuple(element.sort for element in elements) != self.sorts:
            raise ValueError(f"{self.name} is asked of the wrong elements")
        return Term(kind=Kind.FIELD, sort=self.result, parts=elements, field=self)

    def to(self, *elements_and_value: Operand) -> "Change":
        """Return the change to a new value at some elements; the value comes last."""
        *elements, value = elements_and_value
        pairs = zip(elements, self.sorts, strict=True)
        where = tuple(as_term(element, sort) for element, sort in pairs)
        return Change(field=self, where=where, value=as_term(value, self.result))

    def all_to(self, value: Operand) -> "Change":
        """Return the change to the same value at all elements."""
        return self._everywhere(tuple(map(_fresh, self.sorts)), as_term(value, self.result))

    def everywhere(self, value: Callable[[Term], Term]) -> "Change":
        """Return the change at all elements of the field's only sort."""
        variables = tuple(map(_fresh, self.sorts))
        return self._everywhere(variables, value(*variables))

    def _everywhere(self, variables: tuple[Term, ...], value: Term) -> "Change":
        value = as_term(value, self.result)
        return Change(field=self, where=variables, value=value, everywhere=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A new value of a field, a term over the state before: at one place, or everywhere."""

    field: Field
    where: tuple[Term, ...]
    value: Term
    everywhere: bool = False


def parts_of(term: Term) -> Iterator[Term]:
    """Yield a term and all its subterms."""
    yield term
    for part in term.parts:
        yield from parts_of(part)


def fields_in(term: Term) -> Iterator[Field]:
    """Yield each field that a term reads."""
    return (part.field for part in parts_of(term) if part.field is not None)


def sums_in(term: Term) -> Iterator[Term]:
    """Yield each sum in a term."""
    return (part for part in parts_of(term) if part.kind is Kind.SUM)


def conjuncts(term: Term) -> Iterator[Term]:
    """Yield the conjuncts of a term."""
    if term.kind is Kind.AND:
        for part in term.parts:
            yield from conjuncts(part)
    else:
        yield term


def variables_in(term: Term) -> set[str]:
    """Return the names of all variables in a term."""
    return {str(part.value) for part in parts_of(term) if part.kind is Kind.VARIABLE}


def free_in(term: Term) -> set[str]:
    """Return the names of the variables in a term that it does not bind itself."""
    if term.kind is Kind.VARIABLE:
        return {str(term.value)}
    own = set[str]() if term.variable is None else {str(term.variable.value)}
    return {name for part in term.parts for name in free_in(part)} - own
