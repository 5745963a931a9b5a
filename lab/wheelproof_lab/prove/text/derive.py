"""Derives a transition system from the text of a TLA+ module: its Init, its Next, its clauses.

Next is taken apart into the operators that its disjunctions and quantifiers come to: each is an
action with its own name. A disjunction inside an action makes several cases of it, an IF none.
What is outside the fragment is refused with the module, the line and the construct.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from wheelproof_lab.prove.following import with_values
from wheelproof_lab.prove.system import Action, Instance, System
from wheelproof_lab.prove.terms import (
    FALSE,
    INT,
    TRUE,
    Change,
    Field,
    Sort,
    Term,
    after,
)
from wheelproof_lab.prove.text.expressions import Expressions
from wheelproof_lab.prove.text.named import Named
from wheelproof_lab.prove.text.reading import Given
from wheelproof_lab.prove.text.steps import OR, Branch, Ways, cases_of
from wheelproof_lab.prove.text.syntax import (
    ACTION_LEVEL,
    Definition,
    Module,
    Node,
    NotInTheFragmentError,
    What,
)
from wheelproof_lab.prove.text.typed import Constants, conjuncts_of, constants_of, variables_of
from wheelproof_lab.prove.text.types import Type, changes, declared, fits, length_of, orders, read
from wheelproof_lab.prove.text.values import (
    MismatchError,
    Value,
    conjunction,
    disjunction,
)

_COMMENT = "\\* "

Constant = int | Sequence[str] | Mapping[str, int | str | tuple[int, ...] | tuple[str, ...]]
"""The value of a constant: a number, a set, or a function to numbers, elements or sequences."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """What is derived: a module, its sets of elements, and the values of some constants.

    `sorts` maps a set of the module to its sort; `given` has constants that are strings, `assuming`
    names operators that are assumed, `replaced` says which operator stands for another one.
    """

    module: Module
    sorts: Mapping[str, Sort]
    given: Mapping[str, str] = field(default_factory=dict[str, str])
    assuming: tuple[str, ...] = ()
    replaced: Mapping[str, str] = field(default_factory=dict[str, str])
    null: str = "None"


@dataclass(frozen=True, slots=True)
class _Found:
    """An operator that Next comes to: its parameters, and for which values it may be taken."""

    name: str
    definition: Definition
    given: Given
    parameters: tuple[Term, ...]
    context: Term


class Derived:
    """A transition system that was derived from a module."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._module = source.module
        self._constants: Constants = constants_of(
            source.module, source.sorts, source.given, source.null, source.assuming
        )
        self._types: Mapping[str, Type] = variables_of(
            source.module, source.sorts, self._constants.values, source.null
        )
        changing = {name: declared(name, kind) for name, kind in self._types.items()}
        self.fields: Mapping[str, Field] = {**self._constants.fields, **changing}
        self._named = Named()
        self._now = {name: read(changing[name], kind) for name, kind in self._types.items()}
        self._then = {name: read(changing[name], kind, after) for name, kind in self._types.items()}
        self._reading = Expressions(
            module=source.module,
            constants=self._constants.values,
            now=self._now.__getitem__,
            replaced=source.replaced,
            universes=source.sorts,
            products=self._constants.products,
            named=self._named,
        )
        self._closed_reading = replace(self._reading, may_name=False)
        self._ways = Ways(reading=self._reading, now=self._now)
        self._orders = conjunction([orders(changing[name], self._types[name]) for name in changing])

    @property
    def left_out(self) -> tuple[str, ...]:
        """The ASSUMEs that the fragment cannot express."""
        return self._constants.left_out

    def word(self, name: str) -> str:
        """Return the comment above a definition."""
        place = self._module.called(name).place
        above = self._module.lines[place.module][: place.line - 1]
        comment: list[str] = []
        while above and above[-1].startswith(_COMMENT):
            comment.insert(0, above[-1].removeprefix(_COMMENT))
            above = above[:-1]
        return " ".join(comment).removesuffix(".")

    def clause(self, name: str) -> Term:
        """Return an invariant of the module as a term."""
        return self._closed_reading.term(self._module.called(name).body, {})

    def step(self, name: str) -> Term:
        """Return what a property [][P]_v says of each step: P."""
        node = self._module.called(name).body
        for outer in ("[]", "$SquareAct"):
            if node.name != outer:
                raise node.refuse(f"{name}, which is not [][...]_v,")
            node = node.parts[0]
        return replace(self._closed_reading, then=self._then.__getitem__).term(node, {})

    def instance(
        self,
        elements: Mapping[str, Sequence[str]],
        constants: Mapping[str, Constant],
        numbers: range = range(0),
    ) -> Instance:
        """Return a few elements of each sort, the values of constants, and some numbers.

        `numbers` are tried as quotients, and those from 0 on as arguments of a constant.
        """
        rigid: dict[Field, Mapping[tuple[str, ...], bool | int]] = {}
        for name, value in constants.items():
            of = self.fields[name]
            if isinstance(value, int):
                rigid[of] = {(): value}
            elif not isinstance(value, Mapping):
                rigid[of] = {(one,): True for one in value}
            else:
                rigid[of] = {}
                for place, one in value.items():
                    more, length = _of_a_function(place, one)
                    rigid[of] = {**rigid[of], **more}
                    if isinstance(one, tuple):
                        rigid[length_of(of)] = {**rigid.get(length_of(of), {}), **length}
        known = {self._source.sorts[name]: tuple(some) for name, some in elements.items()}
        if numbers:
            known[INT] = tuple(str(one) for one in numbers if one >= 0)
        return Instance(elements=known, rigid=rigid, numbers=tuple(numbers))

    @cached_property
    def system(self) -> System:
        """The transition system."""
        module = self._module
        self._check_spec(module.called("Spec"))
        assumed = dict(self._constants.assumed)
        for name in self._source.assuming:
            assumed[module.text(module.called(name).place)] = self.clause(name)
        return System(
            initial=self._initial(),
            actions=tuple(self._actions()),
            assumed=assumed,
            orders=self._orders,
        )

    def _check_spec(self, definition: Definition) -> None:
        """Refuse a Spec that begins with another Init, or goes on by another Next."""
        parts = list(conjuncts_of(definition.body))
        goes_on = [
            one.parts[0].parts[0].name
            for one in parts
            if one.name == "[]" and one.parts[0].name == "$SquareAct"
        ]
        if "Init" not in [one.name for one in parts] or goes_on != ["Next"]:
            raise NotInTheFragmentError(
                definition.place, "Spec, which is not Init /\\ [][Next]_v with fairness,"
            )

    def _initial(self) -> tuple[Change, ...]:
        definition = self._module.called("Init")
        set_to: dict[str, Value] = {}
        for node in conjuncts_of(definition.body):
            if node.name != "=" or node.parts[0].what is not What.VARIABLE:
                raise node.refuse("what is no equation for a variable in Init")
            set_to[node.parts[0].name] = self._closed_reading.value(node.parts[1], {})
        if self._fits(set_to) != TRUE:
            raise NotInTheFragmentError(definition.place, "a first value that may not fit")
        return tuple(self._changes(definition, set_to))

    def _changes(self, definition: Definition, set_to: Mapping[str, Value]) -> Iterator[Change]:
        for name, kind in self._types.items():
            if name not in set_to:
                raise NotInTheFragmentError(
                    definition.place, f"{definition.name}, which does not set {name},"
                )
            if set_to[name] is self._now[name]:
                continue
            try:
                yield from changes(self.fields[name], kind, set_to[name])
            except MismatchError as error:
                raise NotInTheFragmentError(
                    definition.place, f"in {definition.name}, the value of {name}, {error},"
                ) from error

    def _actions(self) -> Iterator[Action]:
        names: set[str] = set()
        for found in self._merged(self._found()):
            if found.name in names:
                raise NotInTheFragmentError(
                    found.definition.place, f"{found.name}, to which Next comes in two ways,"
                )
            names.add(found.name)
            self._named.begin()
            start = Branch(parameters=found.parameters, guard=(found.context,))
            made: list[tuple[Branch, tuple[Change, ...]]] = []
            for branch in self._ways.taken(found.definition.body, found.given, start):
                changed = tuple(self._changes(found.definition, branch.set_to))
                if conjunction(branch.guard) != FALSE and changed:
                    made.append((self._divided(found.definition, branch, changed), changed))
            cases = cases_of([branch for branch, _ in made])
            for case, (branch, changed) in zip(cases, made, strict=True):
                yield Action(
                    name=f"{found.name} ({case})" if case else found.name,
                    parameters=branch.parameters,
                    guard=conjunction(branch.guard),
                    changes=changed,
                    fits=self._fits(branch.set_to),
                )

    def _fits(self, set_to: Mapping[str, Value]) -> Term:
        """Return whether the fields can have the values that a step gives them."""
        return conjunction([fits(self._types[name], value) for name, value in set_to.items()])

    def _divided(self, definition: Definition, branch: Branch, changed: Sequence[Change]) -> Branch:
        """Return the branch with the elements and quotients that it names as parameters."""
        written = [term for one in changed for term in (*one.where, one.value)]
        terms = [*branch.guard, *written, self._fits(branch.set_to)]
        try:
            needed, said = self._named.in_terms(terms, branch.parameters, branch.guard)
        except MismatchError as error:
            raise NotInTheFragmentError(definition.place, str(error)) from error
        return replace(
            branch, parameters=(*branch.parameters, *needed), guard=(*branch.guard, said)
        )

    def _found(self) -> Iterator[_Found]:
        definition = self._module.called("Next")
        yield from self._spread(definition.body, {}, "Next", definition, (), ())

    def _spread(
        self,
        node: Node,
        given: Given,
        name: str,
        definition: Definition,
        parameters: tuple[Term, ...],
        context: tuple[Term, ...],
    ) -> Iterator[_Found]:
        """Yield the operators that a disjunction comes to."""
        if node.what is What.LET:
            yield from self._spread(node.parts[0], given, name, definition, parameters, context)
        elif node.name in OR:
            for part in node.parts:
                yield from self._spread(part, given, name, definition, parameters, context)
        elif node.name == "$BoundedExists":
            given, more, said = self._ways.chosen_from(node, given, parameters)
            yield from self._spread(
                node.parts[0], given, name, definition, (*parameters, *more), (*context, *said)
            )
        elif node.what is What.DEFINED and node.level == ACTION_LEVEL:
            called, inside = self._reading.called(node, given)
            if _is_choice(called.body):
                yield from self._spread(called.body, inside, node.name, called, parameters, context)
            else:
                yield self._canonical(node, given, called, parameters, conjunction(context))
        else:
            made = replace(definition, body=node)
            yield _Found(name, made, given, parameters, conjunction(context))

    def _canonical(
        self,
        node: Node,
        given: Given,
        called: Definition,
        parameters: tuple[Term, ...],
        context: Term,
    ) -> _Found:
        """Return an operator with its own parameters, if its arguments are just variables."""
        arguments = [self._reading.value(part, given) for part in node.parts]
        if sorted(map(repr, arguments)) != sorted(map(repr, parameters)):
            _, inside = self._reading.called(node, given)
            return _Found(node.name, called, inside, parameters, context)
        own: dict[str, Value] = {}
        renamed: dict[str, Term] = {}
        for (key, name), argument in zip(called.parameters, arguments, strict=True):
            assert isinstance(argument, Term)
            own[key] = renamed[str(argument.value)] = argument.sort.variable(name)
        return _Found(
            node.name, called, own, tuple(renamed.values()), with_values(context, renamed)
        )

    def _merged(self, found: Iterator[_Found]) -> Sequence[_Found]:
        """Return each operator once, for all values for which it may be taken."""
        merged: dict[object, _Found] = {}
        for number, one in enumerate(found):
            given = tuple((key, value) for key, value in one.given.items())
            plain = all(isinstance(value, Term) for _, value in given)
            key = (one.name, id(one.definition), given, one.parameters) if plain else number
            known = merged.get(key)
            if known is not None:
                one = replace(one, context=disjunction([known.context, one.context]))
            merged[key] = one
        return [*merged.values()]


def _is_choice(node: Node) -> bool:
    """Tell whether an action is a choice between operators, and nothing else."""
    if node.what is What.LET or node.name == "$BoundedExists":
        return _is_choice(node.parts[0])
    if node.name in OR:
        return all(map(_is_choice, node.parts))
    return node.what is What.DEFINED and node.level == ACTION_LEVEL


def _of_a_function(
    place: str, value: int | str | tuple[int, ...] | tuple[str, ...]
) -> tuple[Mapping[tuple[str, ...], bool | int], Mapping[tuple[str, ...], int]]:
    """Return the rows of a constant function at a place, and the length of a sequence there."""
    if isinstance(value, int):
        return {(place,): value}, {}
    if isinstance(value, str):
        return {(place, value): True}, {}
    rows: dict[tuple[str, ...], bool | int] = {}
    for number in range(1, len(value) + 1):
        one = value[number - 1]
        # A sequence of elements says where each stands, one of numbers what stands where.
        if isinstance(one, str):
            rows[place, one] = number
        else:
            rows[place, str(number)] = one
    return rows, {(place,): len(value)}
