"""Finds the types of a module's constants in its ASSUMEs, and those of its variables in TypeOK."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from wheelproof_lab.prove.terms import (
    BOOL,
    FALSE,
    INT,
    TRUE,
    Field,
    Sort,
    Term,
    as_term,
    for_all,
    for_all_pairs,
    there_is,
)
from wheelproof_lab.prove.text.expressions import Expressions
from wheelproof_lab.prove.text.syntax import Module, Node, NotInTheFragmentError, What
from wheelproof_lab.prove.text.types import (
    Element,
    Function,
    NumberRow,
    Optional,
    Row,
    Scalar,
    Subset,
    Type,
    declared,
    one_each,
    orders,
    read,
)
from wheelproof_lab.prove.text.values import (
    NOTHING,
    Map,
    Maybe,
    Numbers,
    Ordered,
    Some,
    Text,
    Value,
    among,
    conjunction,
    disjunction,
    equal,
    negation,
)

_NUMBERS = ("Nat", "Int", "..")
_SETS = ("\\union", "\\intersect", "\\")


@dataclass(frozen=True, slots=True, kw_only=True)
class Constants:
    """The constants of a module: their values, and their fields if they are rigid ones.

    `products` are the parts of each element of a set of pairs.
    `left_out` are the ASSUMEs that the fragment cannot express: what is proved holds without them.
    """

    values: Mapping[str, Value]
    fields: Mapping[str, Field]
    assumed: Mapping[str, Term]
    left_out: tuple[str, ...]
    products: Mapping[Sort, Sequence[Map]]


@dataclass(slots=True)
class _Typing:
    """Reads types off expressions that are sets."""

    module: Module
    sorts: Mapping[str, Sort]
    null: str
    values: dict[str, Value] = field(default_factory=dict[str, Value])
    fields: dict[str, Field] = field(default_factory=dict[str, Field])
    kinds: dict[str, Type] = field(default_factory=dict[str, Type])

    @property
    def reading(self) -> Expressions:
        return Expressions(
            module=self.module, constants=self.values, now=_no_variable, universes=self.sorts
        )

    def of(self, node: Node) -> Type:
        """Return the type of the elements of a set."""
        if node.name == "$SetOfFcns":
            return Function(self.reading.some(node.parts[0], {}), self.of(node.parts[1]))
        if node.name == "SUBSET":
            some = self.reading.some(node.parts[0], {})
            if some.sort is None:
                raise node.refuse("sets of words")
            return Subset(some.sort)
        if node.name in _NUMBERS:
            return Scalar(INT)
        if node.name == "Seq":
            some = self.reading.some(node.parts[0], {})
            if some.sort is None:
                raise node.refuse("sequences of words")
            return NumberRow() if some.sort == INT else Row(some.sort)
        if node.name == "\\union" and self._is_null(node.parts[1]):
            some = self.reading.some(node.parts[0], {})
            if some.sort is None:
                raise node.refuse("a word or None")
            return Optional(some.sort)
        if node.name in _SETS:
            kind = self.of(node.parts[0])
            if isinstance(kind, Row | NumberRow):
                return kind
            if isinstance(kind, Scalar) and kind.sort in (BOOL, INT):
                return kind
        some = self.reading.some(node, {})
        if some.sort is not None:
            return Scalar(INT) if some.sort == INT else Optional(some.sort)
        words = [value.word for value in some.listed if isinstance(value, Text)]
        if not words and node.name == "BOOLEAN":
            return Scalar(BOOL)
        if len(words) < len(some.listed) or not words:
            raise node.refuse("a set of several kinds of value as a type")
        name = node.name if node.what is What.DEFINED else " or ".join(words)
        return Scalar(Sort(name=name, words=tuple(dict.fromkeys(words))))

    def _is_null(self, node: Node) -> bool:
        one = node.parts[0] if node.name == "$SetEnumerate" and len(node.parts) == 1 else node
        return one.what is What.CONSTANT and one.name == self.null

    def constant(self, name: str, kind: Type) -> None:
        """Give a constant a type, and with it a rigid field."""
        if isinstance(kind, Function) and isinstance(kind.to, Optional):
            # No constant is written with None, so each place has an element.
            kind = Function(kind.domain, Element(kind.to.sort))
        self.kinds[name] = kind
        self.fields[name] = declared(name, kind, rigid=True)
        self.values[name] = read(self.fields[name], kind)

    def product(self, name: str, sort: Sort, node: Node) -> Sequence[Map]:
        """Return the parts of the elements of a set of pairs, each a function of the pair."""
        parts: list[Map] = []
        for number, part in enumerate(node.parts, 1):
            self.constant(f"{name}[{number}]", Function(Some(lambda _: TRUE, sort), self.of(part)))
            value = self.values[f"{name}[{number}]"]
            assert isinstance(value, Map)
            parts.append(value)
        return parts

    def said(self, value: Value, node: Node) -> Term:
        """Return that a constant is in a set of functions or sequences."""
        if node.name == "$SetOfFcns" and isinstance(value, Map):
            domain, to = self.reading.some(node.parts[0], {}), node.parts[1]
            if domain.sort is None:
                raise node.refuse("a function on a set of words")

            def at(place: Term) -> Term:
                return disjunction([negation(domain.has(place)), self.said(value.at(place), to)])

            return for_all(domain.sort, at)
        if node.name == "\\" and isinstance(value, Numbers):
            without = self.reading.some(node.parts[1], {}).listed
            return conjunction(
                [
                    self.said(value, node.parts[0]),
                    *(negation(equal(value.length, as_term(0, INT))) for _ in without),
                ]
            )
        if node.name == "Seq" and isinstance(value, Numbers):
            some = self.reading.some(node.parts[0], {})

            def one(number: Term) -> Term:
                here = conjunction([number >= 1, number <= value.length])
                return disjunction([negation(here), some.has(value.at(number))])

            return conjunction([value.length >= 0, for_all(INT, one)])
        if node.name == "Seq" and isinstance(value, Ordered):
            return TRUE
        if isinstance(value, Maybe):
            # That there is such an element would make the solvers introduce new ones for ever.
            raise node.refuse("a function to elements")
        return among(value, self.reading.some(node, {}))


def constants_of(
    module: Module,
    sorts: Mapping[str, Sort],
    given: Mapping[str, str],
    null: str,
    assuming: Sequence[str],
) -> Constants:
    """Return the constants of a module: `given` strings, universes, and what ASSUMEs say.

    What the operators `assuming` say of sequences of elements is assumed as well.
    """
    typing = _Typing(module, sorts, null)
    typing.values |= {name: Text(word) for name, word in given.items()}
    typing.values[null] = NOTHING
    axioms: list[tuple[str, Term]] = []
    products: dict[Sort, Sequence[Map]] = {}
    for name, sort in sorts.items():
        if name in module.constants:
            typing.values[name] = Some(lambda _: TRUE, sort)
            continue
        definition = module.called(name)
        if definition.body.name == "$CartesianProd" and len(definition.body.parts) == 2:
            products[sort] = typing.product(name, sort, definition.body)
            kinds = [typing.kinds[f"{name}[{number}]"] for number in (1, 2)]
            parts = [typing.fields[f"{name}[{number}]"] for number in (1, 2)]
            alone = [one_each(one, kind) for one, kind in zip(parts, kinds, strict=True)]
            pairs = conjunction([*alone, _pairs(sort, products[sort])])
            axioms.append((module.text(definition.place), pairs))
            continue
        for part in _united(definition.body):
            typing.constant(part, Subset(sort))
        some = Expressions(module=module, constants=typing.values, now=_no_variable).some(
            definition.body, {}
        )
        axioms.append((module.text(definition.place), for_all(sort, some.has)))
    assumed = [one for node in module.assumptions for one in conjuncts_of(node)]
    for node in assumed:
        target = node.parts[0] if node.parts else node
        if target.what is not What.CONSTANT or target.name in typing.values:
            continue
        if node.name == "\\in":
            kind = typing.of(node.parts[1])
            is_row = isinstance(kind.to if isinstance(kind, Function) else kind, Row)
            if is_row and not _is_said_to_differ(module, target.name, node, assuming):
                raise node.refuse("a constant sequence of elements that may be the same")
            typing.constant(target.name, kind)
        elif node.name == "\\subseteq":
            some = typing.reading.some(node.parts[1], {})
            if some.sort is None:
                raise node.refuse("a set of words as a constant")
            typing.constant(target.name, Subset(some.sort))
    left_out: list[str] = []
    for node in module.assumptions:
        text = module.text(node.place).removeprefix("ASSUME ")
        try:
            term = _assumption(typing, node)
        except NotInTheFragmentError:
            left_out.append(text)
        else:
            if term == FALSE:
                raise node.refuse(f"`{text}`, which does not hold,")
            axioms += [] if term == TRUE else [(text, term)]
    for name, one in typing.fields.items():
        said = orders(one, typing.kinds[name])
        axioms += [] if said == TRUE else [(f"nobody stands twice in a sequence of {name}", said)]
    return Constants(
        values=typing.values,
        fields=typing.fields,
        assumed=dict(axioms),
        left_out=tuple(left_out),
        products=products,
    )


def _pairs(sort: Sort, parts: Sequence[Map]) -> Term:
    """Return that two pairs with the same parts are the same."""

    def same(one: Term, other: Term) -> Term:
        shared = [_shared(part.at(one), part.at(other)) for part in parts]
        return disjunction([*map(negation, shared), one.is_(other)])

    return for_all_pairs(sort, sort, same)


def _shared(one: Value, other: Value) -> Term:
    if not isinstance(one, Maybe) or not isinstance(other, Maybe) or one.sort is None:
        return equal(one, other)
    return there_is(one.sort, lambda x: conjunction([one.at(x), other.at(x)]))


def _is_said_to_differ(module: Module, name: str, node: Node, assuming: Sequence[str]) -> bool:
    """Tell whether it is assumed that in no sequence of a constant an element stands twice."""
    sequence, head = name, ""
    if node.parts[1].name == "$SetOfFcns":
        sequence, head = f"{name}[op]", f"\\A op \\in {node.parts[1].parts[0].name} : "
    told = f"{sequence}[i] = {sequence}[j] => i = j"
    said = f"{head}\\A i, j \\in DOMAIN {sequence} : {told}"
    texts = (module.text(module.called(one).place) for one in assuming)
    return said in [one.partition(" == ")[2] for one in texts]


def _assumption(typing: _Typing, node: Node) -> Term:
    """Return what is assumed: a constant function is in its set place by place."""
    if node.name == "\\in" and node.parts[0].what is What.CONSTANT:
        value = typing.values.get(node.parts[0].name)
        if isinstance(value, Map):
            return typing.said(value, node.parts[1])
    return typing.reading.term(node, {})


def variables_of(
    module: Module, sorts: Mapping[str, Sort], constants: Mapping[str, Value], null: str
) -> Mapping[str, Type]:
    """Return the types of the variables, of which TypeOK must name each."""
    typing = _Typing(module, sorts, null, dict(constants))
    definition = module.called("TypeOK")
    found: dict[str, Type] = {}
    for node in conjuncts_of(definition.body):
        if not node.parts or node.parts[0].what is not What.VARIABLE:
            continue
        if node.name == "\\in":
            found[node.parts[0].name] = typing.of(node.parts[1])
        elif node.name == "\\subseteq":
            some = typing.reading.some(node.parts[1], {})
            if some.sort is None:
                raise node.refuse("a variable that is a set of words")
            found[node.parts[0].name] = Subset(some.sort)
    for name in module.variables:
        if name not in found:
            raise NotInTheFragmentError(
                definition.place, f"the variable {name}, to which TypeOK gives no type,"
            )
    return found


def conjuncts_of(node: Node) -> Iterator[Node]:
    """Yield the conjuncts of an expression."""
    if node.name in ("$ConjList", "\\land"):
        for part in node.parts:
            yield from conjuncts_of(part)
    else:
        yield node


def _united(node: Node) -> Sequence[str]:
    """Return the constants whose union an expression is."""
    if node.name == "\\union":
        return [name for part in node.parts for name in _united(part)]
    if node.what is What.CONSTANT:
        return [node.name]
    raise node.refuse("a set of threads that is no union of constants")


def _no_variable(name: str) -> Value:
    raise AssertionError(f"{name} stands in an assumption")
