"""Clauses as TLA+: z3 proves them for any number of threads, TLC checks them as invariants.

The text is generated, so the two cannot differ.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from wheelproof_lab.prove.system import Proof
from wheelproof_lab.prove.terms import (
    BOOL,
    INT,
    Field,
    Kind,
    Shape,
    Term,
    all_of,
    any_of,
    as_term,
    conjuncts,
    sums_in,
    variables_in,
)

_WIDTH = 92
_NAMES = "xyzuvwabdefgh"
_FEW = 3
_BETWEEN = {
    Kind.AND: " /\\ ",
    Kind.OR: " \\/ ",
    Kind.EQUAL: " = ",
    Kind.LESS: " < ",
    Kind.PLUS: " + ",
    Kind.TIMES: " * ",
}
_BINDING = {Kind.ALL: "\\A", Kind.SOME: "\\E"}
_SUM = """\
RECURSIVE SumOf(_, _)
SumOf(part(_), elements) ==
    IF elements = {}
    THEN 0
    ELSE LET one == CHOOSE element \\in elements : TRUE
         IN  part(one) + SumOf(part, elements \\ {one})
"""

_Names = Mapping[str, str]


def module_text(name: str, extends: str, header: str, proofs: Sequence[Proof]) -> str:
    """Return a module with an operator for each clause; where proofs differ, CASE decides."""
    bodies: dict[str, dict[str, list[str]]] = {}
    for proof in proofs:
        for clause, term in proof.clauses.items():
            term = _soon(term)
            body = "\n".join(_lines(term, {}, 4))
            cases = bodies.setdefault(clause, {}).setdefault(body, [])
            cases += [proof.case] if proof.case not in cases else []
    title = f" MODULE {name} "
    dashes = "-" * ((77 - len(title)) // 2)
    terms = [term for proof in proofs for term in proof.clauses.values()]
    sums = _SUM if any(True for term in terms for _ in sums_in(term)) else ""
    parts = [
        f"{dashes}{title}{dashes}\n(* {header} *)\nEXTENDS {extends}\n",
        *([sums] if sums else []),
        *(f"{clause} ==\n{_cases(found)}\n" for clause, found in bodies.items()),
    ]
    return "\n".join(parts) + "=" * 77 + "\n"


def _cases(bodies: Mapping[str, list[str]]) -> str:
    if len(bodies) == 1:
        return next(iter(bodies))
    either = _BETWEEN[Kind.OR]
    cases = [f"{either.join(some)} ->\n{_indented(body)}" for body, some in bodies.items()]
    return "    CASE " + "\n      [] ".join(cases)


def _indented(body: str) -> str:
    return "\n".join(f"      {line}" for line in body.splitlines())


def _soon(term: Term) -> Term:
    """Return the term with each premise moved to where its variables are bound, if they are many.

    So TLC tries only those values of the next variable for which the premises hold.
    """
    if term.kind is Kind.AND:
        return replace(term, parts=tuple(map(_soon, term.parts)))
    bound: list[Term] = []
    body = term
    while body.kind is Kind.ALL:
        bound.append(body)
        body = body.parts[0]
    if len(bound) <= _FEW or body.kind is not Kind.OR or body.parts[0].kind is not Kind.NOT:
        return term
    premises = list(conjuncts(body.parts[0].parts[0]))
    body = any_of(*body.parts[1:])
    while bound:
        *outer, here = bound
        known = {str(one.variable.value) for one in bound if one.variable is not None}
        before = known - {str(here.variable.value) if here.variable is not None else ""}
        now = [one for one in premises if variables_in(one) & known - before]
        premises = [one for one in premises if one not in now]
        body = replace(here, parts=((all_of(*now).implies(body)) if now else body,))
        bound = outer
    return all_of(*premises).implies(body) if premises else body


def text(term: Term, names: Mapping[str, str] | None = None) -> str:
    """Return a term in one line, with `names` for its free variables."""
    return _flat(term, names or {})


def _lines(term: Term, names: _Names, indent: int) -> list[str]:
    """Return a term in lines that are not too long, if it can be broken."""
    flat = _flat(term, names)
    space = " " * indent
    if indent + len(flat) <= _WIDTH:
        return [space + flat]
    if term.kind in _BINDING:
        head, names = _bound(term, names)
        body = term.parts[0]
        # Variables that are bound together share a line as long as there is room.
        while body.kind is term.kind:
            more, known = _bound(body, names)
            joined = f"{head.removesuffix(' :')}, {more.partition(' ')[2]}"
            if indent + len(joined) > _WIDTH:
                break
            head, names, body = joined, known, body.parts[0]
        return [space + head, *_lines(body, names, indent + 4)]
    if term.kind in (Kind.AND, Kind.OR) and not _among(term):
        bullet = _BETWEEN[term.kind].strip()
        lines: list[str] = []
        for part in _parts(term):
            first, *rest = _lines(part, names, indent + 3)
            lines += [f"{space}{bullet} {first[indent + 3 :]}", *rest]
        return lines
    return [space + flat]


def _parts(term: Term) -> Iterable[Term]:
    """Yield the operands of a conjunction or a disjunction, with nested ones flattened."""
    for part in term.parts:
        if part.kind is term.kind and not _among(part):
            yield from _parts(part)
        else:
            yield part


def _flat(term: Term, names: _Names) -> str:
    match term.kind:
        case Kind.VALUE:
            return _value(term)
        case Kind.VARIABLE:
            return names[str(term.value)]
        case Kind.FIELD:
            return _field(term, names)
        case Kind.NOT if term.parts[0].kind is Kind.LESS:
            left, right = (_flat(part, names) for part in term.parts[0].parts)
            return f"({left} >= {right})"
        case Kind.NOT:
            return f"~{_flat(term.parts[0], names)}"
        case Kind.IF:
            test, then, otherwise = (_flat(part, names) for part in term.parts)
            return f"(IF {test} THEN {then} ELSE {otherwise})"
        case Kind.ALL | Kind.SOME:
            head, names = _bound(term, names)
            return f"({head} {_flat(term.parts[0], names)})"
        case Kind.SUM:
            assert term.variable is not None
            head, names = _named(term.variable, names)
            body = _flat(term.parts[0], names)
            return f"SumOf(LAMBDA {head} : {body}, {term.variable.sort.tla})"
        case Kind.NEXT:
            return f"{_flat(term.parts[0], names)}'"
        case _:
            return _between(term, names)


def _between(term: Term, names: _Names) -> str:
    words = _among(term)
    if words:
        return f"({_flat(term.parts[0].parts[0], names)} \\in {{{', '.join(words)}}})"
    if not term.parts:
        return "TRUE" if term.kind is Kind.AND else "FALSE"
    if len(term.parts) == 1:
        return _flat(term.parts[0], names)
    left, right = term.parts[0], term.parts[-1]
    minus = as_term(-1, INT)
    if term.kind is Kind.PLUS and right.kind is Kind.TIMES and right.parts[1] == minus:
        return f"({_flat(left, names)} - {_flat(right.parts[0], names)})"
    return f"({_BETWEEN[term.kind].join(_flat(part, names) for part in _parts_of(term))})"


def _parts_of(term: Term) -> Iterable[Term]:
    return _parts(term) if term.kind in (Kind.AND, Kind.OR) else term.parts


def _among(term: Term) -> list[str]:
    """Return the words if the term says that a value is one of them, else nothing."""
    if term.kind is not Kind.OR or not term.parts:
        return []
    pairs = [part.parts for part in term.parts if part.kind is Kind.EQUAL]
    same = len(pairs) == len(term.parts) and all(left == pairs[0][0] for left, _ in pairs)
    return [_value(right) for _, right in pairs if right.sort.words] if same else []


def _bound(term: Term, names: _Names) -> tuple[str, _Names]:
    assert term.variable is not None
    name, names = _named(term.variable, names)
    return f"{_BINDING[term.kind]} {name} \\in {term.variable.sort.tla} :", names


def _named(variable: Term, names: _Names) -> tuple[str, _Names]:
    name = _NAMES[len(names)]
    return name, {**names, str(variable.value): name}


def _value(term: Term) -> str:
    if term.sort == BOOL:
        return "TRUE" if term.value else "FALSE"
    if isinstance(term.value, str):
        return f'"{term.value}"'
    return str(term.value) if term.value >= 0 else f"({term.value})"


def _field(term: Term, names: _Names) -> str:
    field = term.field
    assert field is not None
    elements = [_flat(part, names) for part in term.parts]
    match field.shape:
        case Shape.SET:
            element = elements[0] if len(elements) == 1 else f"<<{', '.join(elements)}>>"
            written = f"({element} \\in {field.name})"
        case Shape.ONE:
            written = f"({field.name}{_at(elements[:-1])} = {elements[-1]})"
        case Shape.FUNCTION:
            written = f"{field.name}{_at(elements)}"
        case Shape.HIDDEN:
            written = f"({field.tla.format(*elements)})"
    if not field.domain:
        return written
    known = f"{elements[0]} \\in {_union(field)}"
    if field.result == BOOL:
        return f"({known} /\\ {written})"
    # Outside its domain the field has its first value, as no action changes it there.
    nothing = f'"{field.result.words[0]}"' if field.result.words else "0"
    return f"(IF {known} THEN {written} ELSE {nothing})"


def _union(field: Field) -> str:
    names = " \\cup ".join(one.name for one in field.domain)
    return names if len(field.domain) == 1 else f"({names})"


def _at(elements: Sequence[str]) -> str:
    return "".join(f"[{element}]" for element in elements)
