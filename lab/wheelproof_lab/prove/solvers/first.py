"""Asks z3 whether some terms can hold together, and returns a state in which they do.

A state from z3 has finitely many elements, and the evaluator checks it once more: it is a
counterexample only if both agree.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import z3

from wheelproof_lab.prove.finite import Finite, Places, Scalar, State
from wheelproof_lab.prove.solvers.products import (
    by_cases,
    choice_in,
    facts,
    monomials,
    of_constants,
)
from wheelproof_lab.prove.terms import BOOL, INT, Field, Kind, Sort, Term

_ENUMERATIONS: dict[Sort, tuple[z3.SortRef, dict[str, z3.ExprRef]]] = {}

_Options = Mapping[str, bool | int]

_WAYS: tuple[_Options, ...] = (
    {},
    {"auto_config": False, "case_split": 3},
    *({"random_seed": seed} for seed in range(1, 8)),
)
"""Where z3 looks first. A question that takes one of them astray is soon answered by another."""
_PARTS = (0.02, 0.09)
"""The parts of the limit that each way has, in two rounds: together the whole of it."""

_STEPS_A_SECOND = 3_000_000
"""z3's own steps for a second of a limit: so a limit ends in the same place on any computer."""
_LARGEST = 2**32 - 1
_SMALL_S = 0.5
_ARGUMENTS = 6
"""How many numbers are tried as arguments of a function of numbers."""
_FEW = 5
"""The most elements of each sort in a state that is searched before a larger one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """A state in which all terms hold, and the values of the parameters."""

    world: Finite
    state: State
    given: Places


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """Whether terms can hold together: impossible, a sample, or the reason why it is unknown."""

    impossible: bool = False
    sample: Sample | None = None
    unknown: str = ""


class Language:
    """The fields of a system and its terms, translated for the solver."""

    def __init__(self, fields: Sequence[Field]) -> None:
        if len({field.name for field in fields}) < len(fields):
            raise ValueError("two fields have the same name")
        self.fields = tuple(fields)
        self.sums: dict[Term, z3.ExprRef] = {}
        self._products: list[tuple[z3.ExprRef, z3.ExprRef, z3.ExprRef]] = []
        self._products_known = 0
        self._facts: list[z3.ExprRef] = []
        self._functions = {field: _declared(field) for field in fields}
        # A term is kept with its translation, so that no other term gets its `id`.
        self._known: dict[int, tuple[Term, z3.ExprRef]] = {}

    def value(self, field: Field, places: Sequence[z3.ExprRef]) -> z3.ExprRef:
        """Return the solver's value of a field at some elements."""
        return self._functions[field](*places)

    def facts(self) -> Sequence[z3.ExprRef]:
        """Return the facts about the products of unknowns."""
        if len(self._products) > self._products_known:
            self._products_known = len(self._products)
            self._facts = list(facts(self._products))
        return self._facts

    def definitions(self) -> Sequence[z3.ExprRef]:
        """Return the equations that define the products."""
        return [z3.Not(z3.Distinct(left * right, value)) for left, right, value in self._products]

    def _product(self, term: Term, variables: Mapping[str, z3.ExprRef]) -> z3.ExprRef:
        choice = choice_in(term)
        if choice is not None:
            return self.translated(by_cases(term, choice), variables)
        result = z3.IntVal(0)
        for coefficient, factors in monomials(term):
            known = [self.translated(factor, variables) for factor in factors]
            if len(known) == 2:
                known = [self._unknown_product(known[0], known[1])]
            result = result + of_constants(coefficient, known)
        return result

    def _unknown_product(self, left: z3.ExprRef, right: z3.ExprRef) -> z3.ExprRef:
        for one, other, value in self._products:
            if (one.eq(left) and other.eq(right)) or (one.eq(right) and other.eq(left)):
                return value
        value = z3.Const(f"product {len(self._products)}", z3.IntSort())
        self._products.append((left, right, value))
        return value

    def closed(self, term: Term) -> z3.ExprRef:
        """Return the translation of a term without free variables."""
        if id(term) not in self._known:
            self._known[id(term)] = term, self.translated(term, {})
        return self._known[id(term)][1]

    def translated(self, term: Term, variables: Mapping[str, z3.ExprRef]) -> z3.ExprRef:
        """Return the translation of a term, with `variables` in place of its free variables."""
        if term.kind in (Kind.ALL, Kind.SOME):
            assert term.variable is not None
            name = str(term.variable.value)
            variable = z3.Const(name, _sort(term.variable.sort))
            body = self.translated(term.parts[0], {**variables, name: variable})
            return (z3.ForAll if term.kind is Kind.ALL else z3.Exists)([variable], body)
        if term.kind is Kind.SUM:
            return self._sum(term)
        parts = [self.translated(part, variables) for part in term.parts]
        match term.kind:
            case Kind.VALUE:
                return _value(term)
            case Kind.VARIABLE:
                return variables[str(term.value)]
            case Kind.FIELD:
                assert term.field is not None
                return self.value(term.field, parts)
            case Kind.NOT:
                return z3.Not(parts[0])
            case Kind.AND:
                return z3.And(*parts)
            case Kind.OR:
                return z3.Or(*parts)
            case Kind.IF:
                return z3.If(parts[0], parts[1], parts[2])
            case Kind.EQUAL:
                return z3.Not(z3.Distinct(*parts))
            case Kind.LESS:
                return parts[0] < parts[1]
            case Kind.PLUS:
                return parts[0] + parts[1]
            case Kind.TIMES:
                return self._product(term, variables)
            case _:
                raise ValueError(f"{term.kind} cannot be asked of the solver")

    def _sum(self, term: Term) -> z3.ExprRef:
        if term not in self.sums:
            self.sums[term] = z3.Const(f"sum {len(self.sums)}", z3.IntSort())
        return self.sums[term]


class _Solver:
    """A solver in a context of its own, for terms of the main context."""

    def __init__(self, seconds: float, options: _Options) -> None:
        self._context = z3.Context()
        # The simple solver keeps every field; others eliminate some, and have no value for them.
        self._solver = z3.SimpleSolver(ctx=self._context)
        for name, value in options.items():
            self._solver.set(name, value)
        self.limit(seconds)
        self.push = self._solver.push
        self.pop = self._solver.pop
        self.check = self._solver.check
        self.reason_unknown = self._solver.reason_unknown

    def add(self, *terms: z3.ExprRef) -> None:
        self._solver.add(*(term.translate(self._context) for term in terms))

    def model(self) -> z3.ModelRef:
        return self._solver.model().translate(z3.main_ctx())

    def limit(self, seconds: float) -> None:
        self._solver.set("rlimit", min(max(int(seconds * _STEPS_A_SECOND), 1), _LARGEST))


class Question:
    """Terms that are asked together; terms that are added after `push` are dropped by `pop`."""

    def __init__(self, language: Language, parameters: Sequence[Term], seconds: float) -> None:
        self._seconds = seconds
        self._language = language
        self._known: list[list[Term]] = [[]]
        self._said: list[list[z3.ExprRef]] = [[]]
        self._given = {
            str(parameter.value): z3.Const(f"given {parameter.value}", _sort(parameter.sort))
            for parameter in parameters
        }
        self._parameters = tuple(parameters)

    @property
    def terms(self) -> tuple[Term, ...]:
        """All terms that were added."""
        return tuple(term for some in self._known for term in some)

    def assume(self, *terms: Term) -> None:
        """Add terms that contain no parameter."""
        self._known[-1] += terms
        self._said[-1] += map(self._language.closed, terms)

    def add(self, *terms: Term) -> None:
        """Add terms."""
        self._known[-1] += terms
        self._said[-1] += (self._language.translated(term, self._given) for term in terms)

    def push(self) -> None:
        """Begin a part that `pop` drops."""
        self._known.append([])
        self._said.append([])

    def pop(self) -> None:
        """Drop the terms that were added since the last `push`."""
        self._known.pop()
        self._said.pop()

    def ask(self) -> Answer:
        """Return whether all added terms can hold together, in a small state if possible."""
        unknown = ""
        for part, options in product(_PARTS, _WAYS):
            asked, result = self._asked(self._seconds * part, options)
            if result == z3.unsat:
                return Answer(impossible=True)
            if result == z3.sat:
                return self._sampled(asked)
            unknown = f"{asked.reason_unknown()} within {self._seconds:g} s"
        return Answer(unknown=unknown)

    def is_soon_impossible(self) -> bool:
        """Return whether one of the ways shows that all added terms cannot hold together."""
        tries = product(_PARTS, _WAYS)
        return any(self._asked(self._seconds * part, way)[1] == z3.unsat for part, way in tries)

    def _asked(self, seconds: float, options: _Options) -> tuple[_Solver, z3.CheckSatResult]:
        # What z3 has seen in a context decides where it looks first, and so whether it comes to
        # an end. So each try has a context of its own, and ends alike in every process.
        asked = _Solver(seconds, options)
        asked.add(*(one for some in self._said for one in some), *self._language.facts())
        result = asked.check()
        if result != z3.unsat and (definitions := self._language.definitions()):
            asked.add(*definitions)
            result = asked.check()
        return asked, result

    def _sampled(self, asked: _Solver) -> Answer:
        sample = self._small_sample(asked)
        for term in self.terms:
            if not sample.world.value(term, sample.state, dict(sample.given)):
                return Answer(unknown="the solver's state is none where it is evaluated")
        return Answer(sample=sample)

    def _small_sample(self, asked: _Solver) -> Sample:
        """Return a state with few elements if there is one, else any."""
        shown = self._sample(asked.model())
        asked.limit(min(self._seconds, _SMALL_S))
        for number in range(1, _FEW + 1):
            asked.push()
            for sort in self._sorts():
                few = [z3.Const(f"{sort.name} {one}", _sort(sort)) for one in range(number)]
                element = z3.Const("element", _sort(sort))
                among = z3.Or(*(z3.Not(z3.Distinct(element, one)) for one in few))
                asked.add(z3.ForAll([element], among))
            if asked.check() == z3.sat:
                return self._sample(asked.model())
            asked.pop()
        return shown

    def _sample(self, model: z3.ModelRef) -> Sample:
        universe: dict[Sort, Sequence[z3.ExprRef]] = {}
        for sort in self._sorts():
            known = model.get_universe(_sort(sort))
            universe[sort] = known or [z3.Const(f"a {sort.name}", _sort(sort))]
        elements = {
            sort: [f"{sort.name.lower()}{number}" for number in range(1, len(some) + 1)]
            for sort, some in universe.items()
        }
        numbers = [z3.IntVal(number) for number in range(_ARGUMENTS)]
        universe[INT] = numbers
        elements[INT] = [str(number) for number in range(_ARGUMENTS)]
        world = Finite(self._language.fields, elements)

        def value(term: z3.ExprRef, sort: Sort) -> Scalar:
            found = model.eval(term, model_completion=True)
            if sort == BOOL:
                return z3.is_true(found)
            if sort == INT:
                return found.as_long()
            if sort.words:
                words = _enumeration(sort)[1]
                return next(word for word, each in words.items() if each.eq(found))
            return next((number for number, each in enumerate(universe[sort]) if each.eq(found)), 0)

        state = [
            value(
                self._language.value(
                    field,
                    [universe[sort][at] for sort, at in zip(field.sorts, place, strict=True)],
                ),
                field.result,
            )
            for field in self._language.fields
            for place in world.places(field)
        ]
        given = {
            name: int(value(self._given[name], parameter.sort))
            for name, parameter in zip(self._given, self._parameters, strict=True)
        }
        for term, ghost in self._language.sums.items():
            shown = world.value(term, tuple(state))
            world.others[term] = model.eval(ghost, model_completion=True).as_long() - int(shown)
        world.forget()
        return Sample(world=world, state=tuple(state), given=given)

    def _sorts(self) -> tuple[Sort, ...]:
        of_fields = (sort for field in self._language.fields for sort in field.sorts)
        of_parameters = (parameter.sort for parameter in self._parameters)
        found = dict.fromkeys((*of_fields, *of_parameters))
        return tuple(sort for sort in found if sort not in (BOOL, INT) and not sort.words)


def version() -> str:
    """Return the version of the solver."""
    return z3.get_version_string()


def _declared(field: Field) -> z3.FuncDeclRef:
    return z3.Function(field.name, *map(_sort, field.sorts), _sort(field.result))


def _sort(sort: Sort) -> z3.SortRef:
    if sort == BOOL:
        return z3.BoolSort()
    if sort == INT:
        return z3.IntSort()
    return _enumeration(sort)[0] if sort.words else z3.DeclareSort(sort.name)


def _enumeration(sort: Sort) -> tuple[z3.SortRef, dict[str, z3.ExprRef]]:
    if sort not in _ENUMERATIONS:
        # Two enumerations must not share a name, nor the name of a word.
        name = f"{sort.name} of {', '.join(sort.words)}"
        made, values = z3.EnumSort(name, [f"{word}, {name}" for word in sort.words])
        _ENUMERATIONS[sort] = made, dict(zip(sort.words, values, strict=True))
    return _ENUMERATIONS[sort]


def _value(term: Term) -> z3.ExprRef:
    if term.sort == BOOL:
        return z3.BoolVal(bool(term.value))
    if term.sort == INT:
        return z3.IntVal(int(term.value))
    return _enumeration(term.sort)[1][str(term.value)]
