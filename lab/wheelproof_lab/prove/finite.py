"""Evaluates the terms for a few elements, and runs a system through all reachable states.

This module does not use the solver. So it checks the solver's findings independently, and the graph
of a system can be compared with that of TLC.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from wheelproof_lab.prove.system import Action, Instance, System
from wheelproof_lab.prove.terms import (
    BOOL,
    INT,
    Change,
    Field,
    Kind,
    Sort,
    Term,
    all_of,
    conjuncts,
    variables_in,
)
from wheelproof_spec.base.errors import WheelproofSpecError

Scalar = bool | int | str
"""A value; an element of a sort is represented by its number."""
State = tuple[Scalar, ...]
Places = dict[str, int]
"""The values of the variables, by name."""
Evaluated = Callable[[State, Places], Scalar]


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A step of a run: an action, the values of its parameters, and the state after it."""

    action: Action
    given: Places
    label: str
    target: State


class Finite:
    """The states of some fields, with `elements` of each sort.

    `others` maps a sum to the share of elements that are not shown, if there are any.
    """

    def __init__(self, fields: Sequence[Field], elements: Mapping[Sort, Sequence[str]]) -> None:
        self.others: dict[Term, int] = {}
        self.fields = tuple(fields)
        self.elements = {sort: tuple(names) for sort, names in elements.items()}
        self._offsets: dict[Field, int] = {}
        size = 0
        for field in self.fields:
            self._offsets[field] = size
            size += len(list(self.places(field)))
        self._compiled: dict[int, tuple[Term, Evaluated]] = {}

    def places(self, field: Field) -> Iterator[tuple[int, ...]]:
        """Yield each tuple of elements for which the field has a value, in the state's order."""
        return product(*(range(len(self.elements[sort])) for sort in field.sorts))

    def table(self, field: Field, state: State) -> dict[tuple[str, ...], Scalar]:
        """Return the values of a field by the names of the elements."""
        names = [self.elements[sort] for sort in field.sorts]
        offset = self._offsets[field]
        return {
            tuple(known[place] for known, place in zip(names, places, strict=True)): state[
                offset + number
            ]
            for number, places in enumerate(self.places(field))
        }

    def value(self, term: Term, state: State, variables: Places | None = None) -> Scalar:
        """Return the value of a term in a state."""
        known = self._compiled.get(id(term))
        if known is None:
            # The term is kept with its function, so that no other term gets its `id`.
            known = self._compiled[id(term)] = term, self._compile(term)
        return known[1](state, {} if variables is None else variables)

    def forget(self) -> None:
        """Drop the compiled terms, after `others` have changed."""
        self._compiled.clear()

    def holds(self, term: Term, state: State) -> bool:
        """Tell whether a term without free variables holds in a state."""
        return bool(self.value(term, state))

    def changed(self, changes: Sequence[Change], state: State, variables: Places) -> State:
        """Return the state after changes, which happen at once."""
        new = list(state)
        for change in changes:
            if not change.everywhere:
                at = [int(self.value(place, state, variables)) for place in change.where]
                new[self._at(change.field, at)] = self.value(change.value, state, variables)
                continue
            for places in self.places(change.field):
                names = (str(variable.value) for variable in change.where)
                here = {**variables, **dict(zip(names, places, strict=True))}
                new[self._at(change.field, places)] = self.value(change.value, state, here)
        return tuple(new)

    def _at(self, field: Field, places: Sequence[int]) -> int:
        number = 0
        for place, sort in zip(places, field.sorts, strict=True):
            size = len(self.elements[sort])
            # A function of numbers goes on with the value of the largest number that is tried.
            number = number * size + (min(max(place, 0), size - 1) if sort == INT else place)
        return self._offsets[field] + number

    def _compile(self, term: Term) -> Evaluated:
        parts = [self._compile(part) for part in term.parts]
        value = term.value
        match term.kind:
            case Kind.VALUE:
                return lambda _state, _places: value
            case Kind.VARIABLE:
                name = str(value)
                return lambda _state, places: places[name]
            case Kind.FIELD:
                return self._field(term, parts)
            case Kind.NOT:
                return lambda state, places: not parts[0](state, places)
            case Kind.AND | Kind.OR:
                return _connected(parts, until=term.kind is Kind.OR)
            case Kind.IF:
                test, then, otherwise = parts
                return lambda state, places: (then if test(state, places) else otherwise)(
                    state, places
                )
            case Kind.ALL | Kind.SOME | Kind.SUM:
                return self._over(term, parts[0])
            case Kind.NEXT:
                raise ValueError("what is after an action stands in a state alone")
            case _:
                return _arithmetic(term.kind, parts[0], parts[1])

    def _field(self, term: Term, parts: Sequence[Evaluated]) -> Evaluated:
        field = term.field
        assert field is not None
        offset = self._offsets[field]
        if not parts:
            return lambda state, _places: state[offset]
        if len(parts) == 1 and field.sorts != (INT,):
            (part,) = parts
            return lambda state, places: state[offset + int(part(state, places))]
        return lambda state, places: state[
            self._at(field, [int(part(state, places)) for part in parts])
        ]

    def _over(self, term: Term, body: Evaluated) -> Evaluated:
        assert term.variable is not None
        name = str(term.variable.value)
        elements = range(len(self.elements[term.variable.sort]))

        def each(state: State, places: Places) -> Iterator[Scalar]:
            return (body(state, {**places, name: element}) for element in elements)

        match term.kind:
            case Kind.ALL:
                return lambda state, places: all(each(state, places))
            case Kind.SOME:
                return lambda state, places: any(each(state, places))
            case _:
                others = self.others.get(term, 0)
                return lambda state, places: others + sum(map(int, each(state, places)))


def _connected(parts: Sequence[Evaluated], *, until: bool) -> Evaluated:
    """Return a conjunction or disjunction: it is `until` as soon as one of the parts is."""
    if len(parts) == 2:
        left, right = parts
        if until:
            return lambda state, places: left(state, places) or right(state, places)
        return lambda state, places: left(state, places) and right(state, places)

    def connected(state: State, places: Places) -> Scalar:
        for part in parts:
            if bool(part(state, places)) is until:
                return until
        return not until

    return connected


def _arithmetic(kind: Kind, left: Evaluated, right: Evaluated) -> Evaluated:
    match kind:
        case Kind.EQUAL:
            return lambda state, places: left(state, places) == right(state, places)
        case Kind.LESS:
            return lambda state, places: int(left(state, places)) < int(right(state, places))
        case Kind.PLUS:
            return lambda state, places: int(left(state, places)) + int(right(state, places))
        case _:
            return lambda state, places: int(left(state, places)) * int(right(state, places))


class TooManyStatesError(WheelproofSpecError):
    """An instance that should be small has too many states."""


class Run:
    """Every state that an instance of a system reaches, in breadth-first order."""

    def __init__(self, system: System, instance: Instance, more: Iterable[Field] = ()) -> None:
        fields = dict.fromkeys((*system.fields, *more))
        self.world = Finite(tuple(fields), instance.elements)
        self._system = system
        self._instance = instance
        self._came: dict[State, tuple[State, Step] | None] = {}
        self._tests = [(action, _guards(action)) for action in system.actions]

    def states(self, most: int = 50_000) -> Iterator[tuple[State, Sequence[Step]]]:
        """Yield each state with the steps out of it; raises TooManyStatesError after `most`."""
        first = self._first()
        self._came[first] = None
        queue = deque([first])
        while queue:
            state = queue.popleft()
            steps = list(self._steps(state))
            for step in steps:
                if step.target not in self._came:
                    self._came[step.target] = state, step
                    queue.append(step.target)
            yield state, steps
            if len(self._came) > most:
                raise TooManyStatesError(f"the small instance has more than {most:,} states")

    def way_to(self, state: State) -> list[Step]:
        """Return a shortest path from the first state to a state that has been found."""
        way: list[Step] = []
        came = self._came[state]
        while came is not None:
            way.append(came[1])
            came = self._came[came[0]]
        return way[::-1]

    def _first(self) -> State:
        nothing = {BOOL: False, INT: 0}
        state: list[Scalar] = []
        for field in self.world.fields:
            known = self._instance.rigid.get(field, {})
            names = [self.world.elements[sort] for sort in field.sorts]
            state += [known.get(place, nothing.get(field.result, "")) for place in product(*names)]
        return self.world.changed(self._system.initial, tuple(state), {})

    def _steps(self, state: State) -> Iterator[Step]:
        for action, tests in self._tests:
            for given in self._choices(action, tests, state, {}):
                target = self.world.changed(action.changes, state, given)
                label = in_words(self.world, action, given)
                yield Step(action=action, given=given, label=label, target=target)

    def _choices(
        self, action: Action, tests: Sequence[Term], state: State, given: Places
    ) -> Iterator[Places]:
        """Yield the parameter values for which the guard holds, choosing one after the other."""
        if not self.world.value(tests[len(given)], state, given):
            return
        if len(given) == len(action.parameters):
            yield given
            return
        parameter = action.parameters[len(given)]
        for value in self._range(parameter):
            yield from self._choices(action, tests, state, {**given, str(parameter.value): value})

    def _range(self, parameter: Term) -> Sequence[int]:
        if parameter.sort == INT:
            return self._instance.numbers
        if parameter.sort == BOOL:
            return (False, True)
        return range(len(self.world.elements[parameter.sort]))


def _guards(action: Action) -> Sequence[Term]:
    """Return the parts of the guard by how many of the first parameters they need."""
    names = [str(parameter.value) for parameter in action.parameters]
    tests: list[list[Term]] = [[] for _ in range(len(names) + 1)]
    for part in conjuncts(action.guard):
        read = variables_in(part)
        known = max((number for number, name in enumerate(names, 1) if name in read), default=0)
        tests[known].append(part)
    return [all_of(*some) for some in tests]


def in_words(world: Finite, action: Action, given: Places) -> str:
    """Return an action with the values of its parameters."""
    words = (
        str(given[str(one.value)])
        if one.sort in (BOOL, INT)
        else world.elements[one.sort][int(given[str(one.value)])]
        for one in action.parameters
    )
    return f"{action.name}({', '.join(words)})"
