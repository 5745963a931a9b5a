"""The ways to take an action: what has to hold, and what each variable is set to."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from wheelproof_lab.prove.terms import FALSE, TRUE, Kind, Term, conjuncts
from wheelproof_lab.prove.text.expressions import Expressions
from wheelproof_lab.prove.text.reading import Given
from wheelproof_lab.prove.text.syntax import ACTION_LEVEL, OTHER, Node, What
from wheelproof_lab.prove.text.values import (
    MismatchError,
    Ordered,
    Value,
    chosen,
    conjunction,
    negation,
)

AND, OR = ("$ConjList", "\\land"), ("$DisjList", "\\lor")


@dataclass(frozen=True, slots=True)
class Branch:
    """A part of an action: what has to hold, and what it sets the variables to."""

    parameters: tuple[Term, ...] = ()
    guard: tuple[Term, ...] = ()
    set_to: Mapping[str, Value] = field(default_factory=dict[str, Value])


@dataclass(frozen=True, slots=True, kw_only=True)
class Ways:
    """Takes actions apart; `now` has the variables before the step."""

    reading: Expressions
    now: Mapping[str, Value]

    def chosen_from(
        self, node: Node, given: Given, known: tuple[Term, ...]
    ) -> tuple[Given, tuple[Term, ...], tuple[Term, ...]]:
        """Return bound variables as parameters, and that they are in their sets."""
        names = {str(one.value) for one in known}
        new: dict[str, Value] = {}
        said: list[Term] = []
        parameters: list[Term] = []
        for bound in node.bound:
            some = self.reading.some(bound.values, {**given, **new})
            if some.sort is None or some.none != FALSE:
                raise node.refuse("a choice of words, or of None")
            for key, name in bound.names:
                while name in names:
                    name += "_"
                names.add(name)
                parameter = some.sort.variable(name)
                new[key] = parameter
                parameters.append(parameter)
                said.append(some.has(parameter))
        return {**given, **new}, tuple(parameters), tuple(said)

    def taken(self, node: Node, given: Given, branch: Branch) -> Sequence[Branch]:
        """Return the ways to take a part of an action, after what `branch` has of it already."""
        with self.reading.named.under(*(one for term in branch.guard for one in conjuncts(term))):
            return self._taken(node, given, branch)

    def _taken(self, node: Node, given: Given, branch: Branch) -> Sequence[Branch]:
        reading = self._after(branch)
        if node.what is What.LET:
            return self.taken(node.parts[0], given, branch)
        if node.name in AND:
            branches: Sequence[Branch] = [branch]
            for part in node.parts:
                branches = [new for one in branches for new in self.taken(part, given, one)]
            return branches
        if node.level < ACTION_LEVEL:
            said = reading.term(node, given)
            return [] if said == FALSE else [replace(branch, guard=(*branch.guard, said))]
        if node.name in OR:
            return [new for part in node.parts for new in self.taken(part, given, branch)]
        if node.name == "$BoundedExists":
            given, more, said_of = self.chosen_from(node, given, branch.parameters)
            chosen_from = replace(
                branch,
                parameters=(*branch.parameters, *more),
                guard=(*branch.guard, *said_of),
            )
            return self.taken(node.parts[0], given, chosen_from)
        if node.name == "$IfThenElse":
            test, then, otherwise = node.parts
            return self._if(reading.term(test, given), then, otherwise, given, branch)
        if node.name == "$Case":
            return self._case(node, [pair.parts for pair in node.parts], given, branch)
        if node.what is What.DEFINED:
            called, inside = reading.called(node, given)
            return self.taken(called.body, inside, branch)
        if node.name == "UNCHANGED":
            same = {name: self.now[name] for name in self._named(node.parts[0])}
            return [self._set(node, branch, same)]
        if node.name == "=" and node.parts[0].name == "'":
            (target,) = node.parts[0].parts
            if target.what is What.VARIABLE:
                value = reading.value(node.parts[1], given)
                return [self._set(node, branch, {target.name: value})]
        if node.name == "\\in" and node.parts[0].name == "'":
            (target,) = node.parts[0].parts
            if target.what is What.VARIABLE and target.name not in branch.set_to:
                return [
                    self._set(
                        node, replace(branch, guard=(*branch.guard, *said_of)), {target.name: one}
                    )
                    for said_of, one in self._members(reading, node.parts[1], given)
                ]
        if node.name in ("\\lnot", "=>", "=", "/=", "\\in", "$BoundedForall"):
            said = reading.term(node, given)
            return [replace(branch, guard=(*branch.guard, said))]
        raise node.refuse()

    def _members(
        self, reading: Expressions, node: Node, given: Given
    ) -> Iterator[tuple[tuple[Term, ...], Value]]:
        """Yield the members of a set that is written out, each with what has to hold for it."""
        if node.what is What.DEFINED:
            called, inside = reading.called(node, given)
            yield from self._members(reading, called.body, inside)
        elif node.name == "$SetEnumerate":
            for part in node.parts:
                yield (), reading.value(part, given)
        elif node.name == "$IfThenElse":
            test = reading.term(node.parts[0], given)
            for said, part in ((test, node.parts[1]), (negation(test), node.parts[2])):
                for more, one in self._members(reading, part, given):
                    yield (said, *more), one
        else:
            raise node.refuse("a choice from a set that is not written out")

    def _after(self, branch: Branch) -> Expressions:
        def then(name: str) -> Value:
            if name not in branch.set_to:
                raise MismatchError(f"{name}', which is read before it is set,")
            value = branch.set_to[name]
            # That the new value fits is an obligation of the step, so it may be read.
            return replace(value, fits=TRUE) if isinstance(value, Ordered) else value

        return replace(self.reading, then=then)

    def _set(self, node: Node, branch: Branch, values: Mapping[str, Value]) -> Branch:
        for name in values:
            if name in branch.set_to:
                raise node.refuse(f"a second value of {name}'")
        return replace(branch, set_to={**branch.set_to, **values})

    def _named(self, node: Node) -> Iterator[str]:
        """Yield the variables in a tuple, and in tuples that are defined."""
        if node.what is What.VARIABLE:
            yield node.name
        elif node.name == "$Tuple":
            for part in node.parts:
                yield from self._named(part)
        elif node.what is What.DEFINED:
            yield from self._named(self.reading.definition(node).body)
        else:
            raise node.refuse("UNCHANGED of anything but variables")

    def _case(
        self, node: Node, arms: Sequence[tuple[Node, ...]], given: Given, branch: Branch
    ) -> Sequence[Branch]:
        """Return the ways of the first arm whose test holds, as TLC takes it."""
        found: list[Branch] = []
        before: list[Term] = []
        for test, body in arms:
            with self.reading.named.under(*map(negation, before)):
                said = TRUE if test.name == OTHER else self._after(branch).term(test, given)
            guard = (*branch.guard, *map(negation, before), said)
            before.append(said)
            if conjunction(guard) != FALSE:
                found += self.taken(body, given, replace(branch, guard=guard))
        if not found:
            raise node.refuse("a CASE of which no arm can hold")
        return found

    def _if(
        self, test: Term, then: Node, otherwise: Node, given: Given, branch: Branch
    ) -> Sequence[Branch]:
        if test.kind is Kind.VALUE:
            return self.taken(then if test.value else otherwise, given, branch)
        bare = replace(branch, guard=())
        with self.reading.named.under(test):
            one = self.taken(then, given, bare)
        with self.reading.named.under(negation(test)):
            other = self.taken(otherwise, given, bare)
        if len(one) == len(other) == 1 and one[0].parameters == other[0].parameters:
            left, right = one[0], other[0]
            if set(left.set_to) == set(right.set_to):
                guard = chosen(test, conjunction(left.guard), conjunction(right.guard))
                assert isinstance(guard, Term)
                return [
                    Branch(
                        parameters=left.parameters,
                        guard=(*branch.guard, guard),
                        set_to={
                            name: chosen(test, value, right.set_to[name])
                            for name, value in left.set_to.items()
                        },
                    )
                ]
        return [
            replace(new, guard=(*branch.guard, said, *new.guard))
            for said, some in ((test, one), (negation(test), other))
            for new in some
        ]


def cases_of(branches: Sequence[Branch]) -> Sequence[str]:
    """Return a name for each case of an action: the word that it asks for, or else its number."""
    if len(branches) == 1:
        return [""]
    words = [
        [
            str(one.parts[1].value)
            for guard in branch.guard
            for one in conjuncts(guard)
            if one.kind is Kind.EQUAL
            and one.parts[1].sort.words
            and one.parts[1].kind is Kind.VALUE
        ]
        for branch in branches
    ]
    first = [some[0] for some in words if some]
    if len(set(first)) == len(branches):
        return first
    return [str(number) for number in range(1, len(branches) + 1)]
