"""What a step names: quotients, and elements that a function is applied to.

A function that is applied to what may be None is refused by TLC where it is None. So a step that
comes to such a place has an element there: it becomes a parameter, of which the step says what it
is. It is asked for only under the tests that come before the place: in an arm of an IF that is not
taken there need be no element. A quotient is a number of its own: so the solvers never divide.
"""

from collections.abc import Generator, Iterable
from contextlib import contextmanager
from dataclasses import dataclass, replace

from wheelproof_lab.prove.terms import INT, Kind, Term, all_of, conjuncts, free_in, variables_in
from wheelproof_lab.prove.text.values import (
    Maybe,
    MismatchError,
    conjunction,
    disjunction,
    negation,
)

_PROBE = "the element"
Path = tuple[Term, ...]
"""What holds wherever a place in the text is come to."""


@dataclass(frozen=True, slots=True)
class _Said:
    """What is said of a name, and the tests before each place that asks for it."""

    name: Term
    term: Term
    paths: list[Path]


class Named:
    """The quotients and elements that a module asks for, each with a name of its own."""

    def __init__(self) -> None:
        self._known: dict[object, _Said] = {}
        self.path: Path = ()

    def begin(self) -> None:
        """Forget the places that have asked: the next action begins."""
        for one in self._known.values():
            one.paths.clear()

    @contextmanager
    def at(self, path: Path) -> Generator[None]:
        """Come to a place by its path."""
        before, self.path = self.path, path
        try:
            yield
        finally:
            self.path = before

    @contextmanager
    def under(self, *tests: Term) -> Generator[None]:
        """Come to a place where some tests hold, too."""
        with self.at((*self.path, *(one for one in tests if one not in self.path))):
            yield

    def quotient(self, number: Term, by: Term) -> Term:
        """Return number \\div by, for a positive divisor: it is rounded down."""
        quotient = INT.variable(f"quotient {len(self._known)}")
        product = quotient * by
        told = all_of(product <= number, number < product + by)
        known = self._known.setdefault((number, by), _Said(quotient, told, []))
        # Each number has a quotient, wherever it is asked for.
        known.paths.append(())
        return known.name

    def element(self, value: Maybe) -> Term:
        """Return the element that a value is, where it is not None."""
        if value.sort is None:
            raise MismatchError("None as the argument of a function")
        key = _plain(value.at(value.sort.variable(_PROBE)), {})
        if key not in self._known:
            name = value.sort.variable(f"{value.sort.name.lower()} {len(self._known)}")
            self._known[key] = _Said(name, value.at(name), [])
        known = self._known[key]
        known.paths.append(self.path)
        return known.name

    def in_terms(
        self, terms: Iterable[Term], parameters: Iterable[Term], guard: Iterable[Term]
    ) -> tuple[list[Term], Term]:
        """Return the names that some terms need, and what is said of each where the guard holds.

        What is said may read the `parameters`; raises MismatchError for another variable.
        """
        names = {name for term in terms for name in variables_in(term)}
        allowed = {str(one.value) for one in parameters}
        holds = {_plain(one, {}) for term in guard for one in conjuncts(term)}
        needed: dict[str, _Said] = {}
        told: dict[str, Term] = {}
        while more := [
            one for one in self._known.values() if str(one.name.value) in names - {*needed}
        ]:
            for one in more:
                name = str(one.name.value)
                needed[name], told[name] = one, _told(one, holds)
                names |= variables_in(told[name])
        free = {name for one in told.values() for name in free_in(one)}
        if free - allowed - {*needed}:
            raise MismatchError("a quotient or an element that depends on a bound variable")
        # An earlier name is known before a later one, of which it is a part.
        order = [str(one.name.value) for one in self._known.values()]
        found = sorted(needed, key=order.index)
        return [needed[one].name for one in found], conjunction([told[one] for one in found])


def _told(said: _Said, holds: set[Term]) -> Term:
    left = [
        [one for test in path for one in conjuncts(test) if _plain(one, {}) not in holds]
        for path in said.paths
    ]
    if any(not path for path in left):
        return said.term
    return conjunction([disjunction([*map(negation, path), said.term]) for path in left])


def _plain(term: Term, names: dict[str, Term]) -> Term:
    """Return a term whose bound variables have names by their depth alone."""
    if term.kind is Kind.VARIABLE:
        return names.get(str(term.value), term)
    own = term.variable
    if own is not None:
        own = own.sort.variable(f"bound {len(names)}")
        names = {**names, str(term.variable.value if term.variable else ""): own}
    return replace(term, parts=tuple(_plain(one, names) for one in term.parts), variable=own)
