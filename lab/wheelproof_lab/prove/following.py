"""The value of a term after an action, as a term over the state before it.

An action changes fields by terms over the state before. So a clause after the action needs no
second copy of the state: each field in it is replaced by its new value. If the action changes no
field that the clause reads, the same clause object is returned.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from wheelproof_lab.prove.terms import (
    FALSE,
    Change,
    Field,
    Kind,
    Term,
    all_of,
    any_of,
    as_term,
    fields_in,
    if_,
)

Changes = Mapping[Field, Sequence[Change]]


def following(term: Term, changes: Sequence[Change]) -> Term:
    """Return the value of `term` after `changes`, which happen at once."""
    grouped: dict[Field, list[Change]] = {}
    for change in changes:
        grouped.setdefault(change.field, []).append(change)
    return _after(term, grouped)


def resolved(term: Term, changes: Sequence[Change]) -> Term:
    """Return a term over the states before and after, with `after` replaced by new values."""
    if term.kind is Kind.NEXT:
        return following(term.parts[0], changes)
    return _with_parts(term, tuple(resolved(part, changes) for part in term.parts))


def with_values(term: Term, values: Mapping[str, Term]) -> Term:
    """Return the term with its variables replaced by terms, by name."""
    if term.kind is Kind.VARIABLE:
        return values.get(str(term.value), term)
    return _with_parts(term, tuple(with_values(part, values) for part in term.parts))


def _after(term: Term, changes: Changes) -> Term:
    parts = tuple(_after(part, changes) for part in term.parts)
    if term.kind is Kind.SUM:
        return _sum_after(term, parts[0], changes)
    if term.field is None or term.field not in changes:
        return _with_parts(term, parts)
    value = _with_parts(term, parts)
    for change in changes[term.field]:
        if change.everywhere:
            names = (str(variable.value) for variable in change.where)
            value = with_values(change.value, dict(zip(names, parts, strict=True)))
        else:
            here = [part.is_(place) for part, place in zip(parts, change.where, strict=True)]
            value = if_(all_of(*here), change.value, value) if here else change.value
    return value


def _sum_after(term: Term, body: Term, changes: Changes) -> Term:
    """Return the old sum plus the difference at each element whose summand changes."""
    variable = term.variable
    assert variable is not None
    places: list[Term] = []
    for change in (one for field in _fields_of(term) for one in changes.get(field, ())):
        if change.everywhere or len(change.where) != 1:
            raise ValueError(f"no sum can follow a change of {change.field.name} everywhere")
        if change.where[0] not in places:
            places.append(change.where[0])
    result = term
    for number, place in enumerate(places):
        old, new = (with_values(one, {str(variable.value): place}) for one in (term.parts[0], body))
        counted = any_of(*(place.is_(earlier) for earlier in places[:number])) if number else FALSE
        result = result + if_(counted, as_term(0, term.sort), new - old)
    return result


def _fields_of(term: Term) -> list[Field]:
    return list(dict.fromkeys(fields_in(term)))


def _with_parts(term: Term, parts: tuple[Term, ...]) -> Term:
    same = all(new is old for new, old in zip(parts, term.parts, strict=True))
    return term if same else replace(term, parts=parts)
