"""Translates expressions of a TLA+ module to values.

The fragment: booleans, integers with + - and comparisons, strings, elements of the given sets or
None, sets of elements, functions on them; IF, CASE, LET, EXCEPT, operators with parameters, and
quantifiers over sets. Everything else is refused by name and line.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from wheelproof_lab.prove.terms import (
    BOOL,
    FALSE,
    INT,
    TRUE,
    Kind,
    Sort,
    Term,
    as_term,
    for_all,
    there_is,
)
from wheelproof_lab.prove.text import sequences, sets
from wheelproof_lab.prove.text.arithmetic import OPERATORS, counted, numbers, summed
from wheelproof_lab.prove.text.named import Named
from wheelproof_lab.prove.text.reading import Given, Later
from wheelproof_lab.prove.text.syntax import OTHER, Bound, Definition, Module, Node, What
from wheelproof_lab.prove.text.values import (
    Index,
    Map,
    Maybe,
    MismatchError,
    Numbers,
    Ordered,
    Some,
    Text,
    Value,
    among,
    chosen,
    conjunction,
    disjunction,
    equal,
    listed,
    negation,
    sorted_as,
    within,
)

Values = Callable[[str], Value]
"""Returns the value of a variable by its name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Expressions:
    """Translates expressions with certain values of constants and variables.

    `then` has the values after the step, for what stands under a prime. `replaced` maps an operator
    to the one that stands in its place, as a cfg does. `universes` are the operators that are all
    elements of a sort, `products` the parts of each pair of a sort. A step names elements and
    quotients; if not `may_name`, they are refused.
    """

    module: Module
    constants: Mapping[str, Value]
    now: Values
    then: Values | None = None
    replaced: Mapping[str, str] | None = None
    universes: Mapping[str, Sort] | None = None
    products: sets.Products = field(default_factory=dict[Sort, Sequence[Map]])
    named: Named = field(default_factory=Named)
    may_name: bool = True

    def term(self, node: Node, given: Given) -> Term:
        """Return the truth value of an expression."""
        value = self.value(node, given)
        if not isinstance(value, Term) or value.sort != BOOL:
            raise node.refuse(f"{_named(node)} in place of a truth value")
        return value

    def some(self, node: Node, given: Given) -> Some:
        """Return an expression that must be a set."""
        value = self.value(node, given)
        if not isinstance(value, Some):
            raise node.refuse(f"{_named(node)} in place of a set of elements")
        return value

    def definition(self, node: Node) -> Definition:
        """Return what a node applies, after replacements."""
        name = (self.replaced or {}).get(node.name)
        return self.module.called(name) if name else self.module.definitions[node.key]

    def called(self, node: Node, given: Given) -> tuple[Definition, Given]:
        """Return the definition that a node applies, and what its parameters are."""
        definition = self.definition(node)
        if definition.is_recursive:
            raise node.refuse(f"{node.name}, a recursion that is no sum,")
        keys = [key for key, _ in definition.parameters]
        arguments = [Later(part, given) for part in node.parts]
        return definition, {**given, **dict(zip(keys, arguments, strict=True))}

    def value(self, node: Node, given: Given) -> Value:
        """Return the value of an expression; raises NotInTheFragmentError."""
        try:
            return self._value(node, given)
        except MismatchError as error:
            raise node.refuse(str(error)) from error

    def _value(self, node: Node, given: Given) -> Value:
        match node.what:
            case What.NUMBER:
                return as_term(int(node.name), INT)
            case What.STRING:
                return Text(node.name)
            case What.CONSTANT:
                if node.name not in self.constants or node.parts:
                    raise node.refuse(f"the constant {node.name}, of which nothing is assumed,")
                return self.constants[node.name]
            case What.VARIABLE:
                return self.now(node.name)
            case What.PARAMETER:
                known = given.get(node.key)
                if known is None or node.parts:
                    raise node.refuse(f"the parameter {node.name}")
                return self.value(known.node, known.given) if isinstance(known, Later) else known
            case What.OLD:
                old = given[_OLD]
                assert not isinstance(old, Later)
                return old
            case What.LET:
                return self.value(node.parts[0], given)
            case What.DEFINED:
                sort = (self.universes or {}).get(node.name)
                if sort is not None:
                    return Some(lambda _: TRUE, sort)
                if node.key not in self.module.definitions:
                    raise node.refuse(f"`{node.name}`")
                if self.module.sums(self.definition(node)):
                    return self._sum(node, given)
                definition, within_it = self.called(node, given)
                return self.value(definition.body, within_it)
            case What.BUILT_IN:
                return self._built_in(node, given)

    def _sum(self, node: Node, given: Given) -> Value:
        amounts, some = self.value(node.parts[0], given), self.some(node.parts[1], given)
        if not isinstance(amounts, Map):
            raise node.refuse("a sum of anything but a function's values")
        return summed(some, lambda x: sorted_as(amounts.at(x), INT), "a sum")

    def _built_in(self, node: Node, given: Given) -> Value:
        match node.name:
            case "TRUE" | "FALSE":
                return TRUE if node.name == "TRUE" else FALSE
            case "$ConjList" | "\\land":
                return conjunction(self._one_by_one(node, given, lambda term: term))
            case "$DisjList" | "\\lor":
                return disjunction(self._one_by_one(node, given, negation))
            case "\\lnot":
                return negation(self.term(node.parts[0], given))
            case "=>":
                left, right = self._one_by_one(node, given, lambda term: term)
                return disjunction([negation(left), right])
            case "\\equiv" | "=":
                return equal(*self._two(node, given))
            case "/=":
                return negation(equal(*self._two(node, given)))
            case "\\in":
                return self._membership(node, given)
            case "\\notin":
                return negation(self._membership(node, given))
            case "$IfThenElse":
                test = self.term(node.parts[0], given)
                if test.kind is Kind.VALUE:
                    # What is never evaluated need not be in the fragment.
                    return self.value(node.parts[1 if test.value else 2], given)
                with self.named.under(test):
                    then = self.value(node.parts[1], given)
                with self.named.under(negation(test)):
                    otherwise = self.value(node.parts[2], given)
                return chosen(test, then, otherwise)
            case "$Case":
                return self._case(node, given)
            case "'":
                return self.primed(node).value(node.parts[0], given)
            case "$FcnApply":
                return self._application(node, given)
            case "$Except":
                return self._except(node, given)
            case "$FcnConstructor":
                return self._constructor(node, given)
            case "$BoundedExists" | "$BoundedForall":
                return self._quantified(node, given)
            case _:
                return self._set_or_number(node, given)

    def _one_by_one(
        self, node: Node, given: Given, goes_on: Callable[[Term], Term]
    ) -> Sequence[Term]:
        """Return the parts of an expression, each of which is read only if those before go on."""
        found: list[Term] = []
        for part in node.parts:
            with self.named.under(*map(goes_on, found)):
                found.append(self.term(part, given))
        return found

    def primed(self, node: Node) -> "Expressions":
        """Return the translation of what stands under a prime."""
        if self.then is None:
            raise node.refuse("a prime in place of a state")
        return replace(self, now=self.then, then=None)

    def _two(self, node: Node, given: Given) -> tuple[Value, Value]:
        one, other = (self.value(part, given) for part in node.parts)
        return one, other

    def _membership(self, node: Node, given: Given) -> Term:
        return among(self.value(node.parts[0], given), self.some(node.parts[1], given))

    def _case(self, node: Node, given: Given) -> Value:
        """Return the first arm whose test holds; the last one needs none, as one of them must."""
        found: list[tuple[Term, Value]] = []
        before: list[Term] = []
        for arm in (pair.parts for pair in node.parts):
            with self.named.under(*before):
                test = TRUE if arm[0].name == OTHER else self.term(arm[0], given)
            if test != FALSE:
                with self.named.under(*before, test):
                    found.append((test, self.value(arm[1], given)))
            before.append(negation(test))
        if not found:
            raise node.refuse("a CASE of which no arm can hold")
        result = found[-1][1]
        for test, value in reversed(found[:-1]):
            result = chosen(test, value, result)
        return result

    def _application(self, node: Node, given: Given) -> Value:
        function, place = self._two(node, given)
        part = sets.part(self, self.products, function, place)
        if part is not None:
            return part
        if isinstance(function, Ordered):
            return sequences.at(function, place)
        if isinstance(function, Numbers):
            return function.at(sorted_as(place, INT))
        if not isinstance(function, Map):
            raise node.refuse(f"{_named(node.parts[0])}[...], which is no function on a given set,")
        return function.at(self._element(node.parts[1], place, function.domain))

    def as_element(self, value: Value) -> Value:
        """Return a value that may be None as the element that it is, if it has a name."""
        if isinstance(value, Maybe) and value.sort is not None and self.may_name:
            return self.named.element(value)
        return value

    def perhaps(self, value: Value) -> tuple[Term, Term]:
        """Return the element that a value is if it is not None, and whether it is not."""
        if isinstance(value, Maybe) and self.may_name:
            with self.named.under(negation(value.is_none)):
                named = self.named.element(value)
            return named, value.at(named)
        if not isinstance(value, Term):
            raise MismatchError("a value where an element belongs")
        return value, TRUE

    def _element(self, node: Node, value: Value, domain: Some) -> Term:
        if isinstance(value, Maybe) and value.sort == domain.sort:
            value = self.as_element(value)
        if isinstance(value, Term) and value.sort == domain.sort:
            return value
        raise node.refuse(f"{_named(node)}, which may be None, as the argument of a function")

    def _except(self, node: Node, given: Given) -> Value:
        result = self.value(node.parts[0], given)
        for pair in node.parts[1:]:
            places, new = pair.parts
            if not isinstance(result, Map) or len(places.parts) != 1:
                raise pair.refuse("EXCEPT of anything but a function at one place")
            place = self._element(
                places.parts[0], self.value(places.parts[0], given), result.domain
            )
            value = self.value(new, {**given, _OLD: result.at(place)})
            result = sets.changed(result, place, value)
        return result

    def _constructor(self, node: Node, given: Given) -> Value:
        ((key, _), domain) = self._single(node, given)
        body = node.parts[0]
        if domain.sort is None:
            raise node.refuse("a function on a set of words")
        path = self.named.path

        def at(place: Term) -> Value:
            with self.named.at(path):
                return self.value(body, {**given, key: place})

        return Map(domain, at)

    def _single(self, node: Node, given: Given) -> tuple[tuple[str, str], Some]:
        if len(node.bound) != 1 or len(node.bound[0].names) != 1:
            raise node.refuse("a function of several arguments")
        return node.bound[0].names[0], self.some(node.bound[0].values, given)

    def _quantified(self, node: Node, given: Given) -> Term:
        flat = [(name, one) for one in node.bound for name in one.names]
        return self._over(node, flat, given)

    def _over(self, node: Node, flat: list[tuple[tuple[str, str], Bound]], given: Given) -> Term:
        if not flat:
            return self.term(node.parts[0], given)
        ((key, _), bound), *rest = flat
        is_all = node.name == "$BoundedForall"
        if bound.values.name == "DOMAIN":
            sequence = self.value(bound.values.parts[0], given)
            return sequences.over_indexes(
                sequence, is_all, key, given, lambda inside: self._over(node, rest, inside)
            )
        some = self.some(bound.values, given)
        if some.sort == INT:
            raise node.refuse("a quantifier over numbers")
        if some.sort is not None and some.none != FALSE:
            raise node.refuse("a quantifier over elements and None")

        def body(value: Value) -> Term:
            said = self._over(node, rest, {**given, key: value})
            if some.sort is None:
                return said
            if is_all:
                return disjunction([negation(some.has(value)), said])
            return conjunction([some.has(value), said])

        if some.sort is None:
            return (conjunction if is_all else disjunction)([body(one) for one in some.listed])
        return (for_all if is_all else there_is)(some.sort, body)

    def _set_or_number(self, node: Node, given: Given) -> Value:
        match node.name:
            case "$SetEnumerate":
                return listed([self.value(part, given) for part in node.parts])
            case "\\union" | "\\intersect" | "\\":
                return sets.combined(node, *(self.some(part, given) for part in node.parts))
            case "$SubsetOf":
                ((key, _), some) = self._single(node, given)
                body = node.parts[0]
                if some.sort is None or some.none != FALSE:
                    raise node.refuse("a subset of a set of strings, or of a set with None")
                path = self.named.path

                def has(value: Value) -> Term:
                    with self.named.at(path):
                        return conjunction(
                            [some.has(value), self.term(body, {**given, key: value})]
                        )

                return Some(has, some.sort)
            case "\\subseteq":
                return within(*(self.some(part, given) for part in node.parts))
            case "Cardinality":
                return counted(self.some(node.parts[0], given))
            case "BOOLEAN":
                return listed([TRUE, FALSE])
            case "Int":
                return Some(lambda _: TRUE, INT)
            case "Nat":
                return numbers(as_term(0, INT))
            case "..":
                least, most = (self._an_integer(part, given) for part in node.parts)
                return numbers(least, most)
            case "-.":
                return self._an_integer(node.parts[0], given) * -1
            case "\\div":
                if not self.may_name:
                    raise node.refuse("a quotient in a clause")
                return self.named.quotient(*(self._an_integer(part, given) for part in node.parts))
            case name if name in OPERATORS:
                return OPERATORS[name](*(self._an_integer(part, given) for part in node.parts))
            case _:
                found = sets.pair(self, self.products, node, given)
                found = found or sequences.asked(self, node, given)
                if found is None:
                    raise node.refuse()
                return found

    def _an_integer(self, node: Node, given: Given) -> Term:
        value = self.value(node, given)
        if isinstance(value, Index):
            return value.number
        if not isinstance(value, Term) or value.sort != INT:
            raise node.refuse(f"{_named(node)} in place of a number")
        return value


_OLD = "@"


def _named(node: Node) -> str:
    return node.name if node.name.isidentifier() else "an expression"
