"""Asks cvc5 what z3 has answered: the same terms, written down a second time, as SMT-LIB.

Nothing of the translation for z3 is used: a mistake there, or in z3, would have to be made twice.
"""

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum

import cvc5

from wheelproof_lab.prove.terms import (
    BOOL,
    INT,
    Field,
    Kind,
    Sort,
    Term,
    fields_in,
    free_in,
    parts_of,
)

_STEPS_A_SECOND = 20_000
"""cvc5's own steps for a second of a limit: so a limit ends in the same place on any computer."""
_WAYS: Sequence[Mapping[str, str]] = (
    {},
    {"enum-inst": "true"},
    {"enum-inst": "true", "cbqi": "false"},
    {"finite-model-find": "true"},
)
"""Where cvc5 looks first; each way has its part of the limit. The last one looks for a state with a
few elements: without it cvc5 contradicts no proof, but gives up where there is a state."""

_CONNECTIVES: Mapping[Kind, str] = {
    Kind.NOT: "not",
    Kind.AND: "and",
    Kind.OR: "or",
    Kind.IF: "ite",
    Kind.EQUAL: "=",
    Kind.LESS: "<",
    Kind.PLUS: "+",
    Kind.TIMES: "*",
}
_QUANTIFIERS: Mapping[Kind, str] = {Kind.ALL: "forall", Kind.SOME: "exists"}


class Opinion(StrEnum):
    """What cvc5 says of some terms."""

    IMPOSSIBLE = "impossible"
    POSSIBLE = "possible"
    UNKNOWN = "unknown"


def version() -> str:
    """Return the version of the solver."""
    return cvc5.__version__


def opinion(terms: Sequence[Term], seconds: float) -> Opinion:
    """Return whether all terms can hold together; their free variables are any elements."""
    text = written(terms)
    for way in _WAYS:
        found = _asked(text, seconds / len(_WAYS), way)
        if found is not Opinion.UNKNOWN:
            return found
    return Opinion.UNKNOWN


def _asked(text: str, seconds: float, options: Mapping[str, str]) -> Opinion:
    manager = cvc5.TermManager()
    solver = cvc5.Solver(manager)
    solver.setOption("rlimit", str(max(int(seconds * _STEPS_A_SECOND), 1)))
    for name, value in options.items():
        solver.setOption(name, value)
    parser = cvc5.InputParser(solver)
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, text, "obligation")
    symbols = parser.getSymbolManager()
    command = parser.nextCommand()
    while not command.isNull():
        command.invoke(solver, symbols)
        command = parser.nextCommand()
    result = solver.checkSat()
    if result.isUnsat():
        return Opinion.IMPOSSIBLE
    return Opinion.POSSIBLE if result.isSat() else Opinion.UNKNOWN


def written(terms: Sequence[Term]) -> str:
    """Return the declarations and assertions of some terms as SMT-LIB."""
    sums: dict[Term, str] = {}
    free: dict[str, Sort] = {}
    said = [f"(assert {_text(term, frozenset(), free, sums)})" for term in terms]
    fields = dict.fromkeys(field for term in terms for field in fields_in(term))
    sorts = dict.fromkeys(
        [
            *(sort for field in fields for sort in (*field.sorts, field.result)),
            *(part.variable.sort for one in terms for part in parts_of(one) if part.variable),
            *free.values(),
        ]
    )
    return "\n".join(
        (
            "(set-logic ALL)",
            *(_declared_sort(sort) for sort in sorts if sort not in (BOOL, INT)),
            *map(_declared, fields),
            *(f"(declare-const {name} Int)" for name in sums.values()),
            *(f"(declare-const {_given(name)} {_sort(sort)})" for name, sort in free.items()),
            *said,
        )
    )


def _text(term: Term, bound: frozenset[str], free: dict[str, Sort], sums: dict[Term, str]) -> str:
    if term.kind in _QUANTIFIERS:
        assert term.variable is not None
        name = str(term.variable.value)
        body = _text(term.parts[0], bound | {name}, free, sums)
        return f"({_QUANTIFIERS[term.kind]} ((|{name}| {_sort(term.variable.sort)})) {body})"
    if term.kind is Kind.SUM:
        # A sum is one number; what is known of it are terms of their own.
        if free_in(term) & bound:
            raise ValueError("a sum that depends on a bound variable cannot be asked of the solver")
        return sums.setdefault(term, f"|sum {len(sums)}|")
    if term.kind is Kind.VALUE:
        return _value(term)
    if term.kind is Kind.VARIABLE:
        name = str(term.value)
        if name in bound:
            return f"|{name}|"
        free[name] = term.sort
        return _given(name)
    parts = [_text(part, bound, free, sums) for part in term.parts]
    if term.kind is Kind.FIELD:
        assert term.field is not None
        return _applied(f"|{term.field.name}|", parts)
    if term.kind not in _CONNECTIVES:
        raise ValueError(f"{term.kind} cannot be asked of the solver")
    if not parts:
        return "true" if term.kind is Kind.AND else "false"
    return parts[0] if _is_alone(term) else _applied(_CONNECTIVES[term.kind], parts)


def _is_alone(term: Term) -> bool:
    return term.kind in (Kind.AND, Kind.OR) and len(term.parts) == 1


def _applied(name: str, parts: Iterable[str]) -> str:
    joined = " ".join(parts)
    return f"({name} {joined})" if joined else name


def _value(term: Term) -> str:
    if term.sort == BOOL:
        return "true" if term.value else "false"
    if term.sort == INT:
        number = int(term.value)
        return str(number) if number >= 0 else f"(- {-number})"
    return _word(term.sort, str(term.value))


def _given(name: str) -> str:
    return f"|given {name}|"


def _word(sort: Sort, word: str) -> str:
    return f"|{word} of {_full(sort)}|"


def _full(sort: Sort) -> str:
    """Return the name of a sort: two with other words are two sorts."""
    return f"{sort.name} of {', '.join(sort.words)}" if sort.words else sort.name


def _sort(sort: Sort) -> str:
    return {BOOL: "Bool", INT: "Int"}.get(sort, f"|{_full(sort)}|")


def _declared_sort(sort: Sort) -> str:
    if not sort.words:
        return f"(declare-sort {_sort(sort)} 0)"
    words = " ".join(f"({_word(sort, word)})" for word in sort.words)
    return f"(declare-datatypes (({_sort(sort)} 0)) (({words})))"


def _declared(field: Field) -> str:
    given = " ".join(map(_sort, field.sorts))
    return f"(declare-fun |{field.name}| ({given}) {_sort(field.result)})"
