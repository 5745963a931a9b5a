"""The parts of a proof: a transition system, its clauses, its promises, and broken variants."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from wheelproof_lab.prove.terms import TRUE, Change, Field, Sort, Term, fields_in
from wheelproof_spec.tlc.states.values import Value


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """A step: for some values of its parameters, if the guard holds, all changes happen at once.

    It has the name of the action of the TLA+ module. If that action is split into cases, a word in
    brackets after the name says which case it is. `fits` is whether the fields can have the new
    values: a sequence has no element twice. It has to be shown of each action.
    """

    name: str
    parameters: tuple[Term, ...]
    guard: Term
    changes: tuple[Change, ...]
    fits: Term = TRUE

    @property
    def tla_name(self) -> str:
        """The name of the action of the TLA+ module."""
        return self.name.partition(" ")[0]


def action(name: str, parameters: Sequence[Term], guard: Term, *changes: Change) -> Action:
    """Return an action."""
    return Action(name=name, parameters=tuple(parameters), guard=guard, changes=changes)


@dataclass(frozen=True, slots=True, kw_only=True)
class System:
    """A transition system: the initial state and the actions.

    `initial` gives each field that is not rigid its first value; `assumed` are the assumptions
    about the rigid fields. `orders` is what holds of the fields of each sequence, by what they are.
    """

    initial: tuple[Change, ...]
    actions: tuple[Action, ...]
    assumed: Mapping[str, Term] = field(default_factory=dict[str, Term])
    orders: Term = TRUE

    def writes_orders(self, action: Action) -> bool:
        """Tell whether an action has to show that what it writes fits."""
        read = set(fields_in(self.orders))
        return action.fits != TRUE or any(one.field in read for one in action.changes)

    def replaced(self, *actions: Action, without: Iterable[str] = ()) -> "System":
        """Return the system with `actions`, which replace those of the same names or are added."""
        gone = {*without, *(action.name for action in actions)}
        return replace(
            self, actions=(*(one for one in self.actions if one.name not in gone), *actions)
        )

    @property
    def fields(self) -> tuple[Field, ...]:
        """All fields, the rigid ones first, sorted by name."""
        found = {each for term in self._terms() for each in fields_in(term) if each.rigid}
        rigid = sorted(found, key=lambda each: each.name)
        return (*rigid, *self.changing)

    @property
    def changing(self) -> tuple[Field, ...]:
        """The fields that are not rigid."""
        return tuple(change.field for change in self.initial)

    def _terms(self) -> Iterable[Term]:
        yield from self.assumed.values()
        for each in self.actions:
            yield each.guard
        for change in (*self.initial, *(one for each in self.actions for one in each.changes)):
            yield from (*change.where, change.value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Instance:
    """A few elements of each sort, and the values of the rigid fields that are not FALSE or 0.

    `rigid` maps a field to the elements for which it holds, or to its numbers.
    """

    elements: Mapping[Sort, tuple[str, ...]]
    rigid: Mapping[Field, Mapping[tuple[str, ...], bool | int]]
    numbers: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """A system with a defect: in a run of the instance, `action` breaks `clause`.

    `bug` is the id of the known bug, or empty. The clause is one of the proof, or one of `more`,
    which another system keeps. If `reached` is not empty, a run of the instance must break it too:
    it is the promise to the user, if that is not the clause itself.
    """

    name: str
    summary: str
    system: System
    action: str
    clause: str
    bug: str = ""
    reached: str = ""
    more: Mapping[str, Term] = field(default_factory=dict[str, Term])
    instance: Instance | None = None


Tables = Callable[[Field], Mapping[tuple[str, ...], bool | int | str]]
"""Returns the values of a field in a state, by the names of the elements."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tie:
    """The TLC model that must have the same state graph as a proof's system on an instance.

    `fields` are fields of the proof that are constants of the module; `constants` are the module's
    other constants. `hidden` returns the variables that no single field shows.
    """

    module: str
    constants: Mapping[str, Value]
    fields: tuple[Field, ...]
    instance: Instance
    overrides: Mapping[str, str] = field(default_factory=dict[str, str])
    hidden: Callable[[Tables], Mapping[str, Value]] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """A system, its inductive invariant, and what follows from it.

    `clauses` are the inductive invariant: together they hold in the first states, and each action
    preserves them. `promises` follow from them. `steps` hold for each step, with `after` for values
    after the step. `instance` is small enough to be run; together with `more_instances` it must
    show each action. If a clause of the module comes from several proofs, `case` is the condition
    for this one. Every action but the `untied` occurs in one of the `ties`; a proof that is
    not derived and has none has the actions of a proof that has them. `words` explain each clause,
    promise and step. `by` names the clauses that preserve a clause, as a hint for the
    solver. `clauses_in` is the TLA+ module, below the folder of the modules, with the clauses as
    operators; `models` are the models of the manifest that have them as invariants. `never` are the
    actions of the module that the clauses exclude. If `is_derived`, the system and the clauses are
    the text of the module, and `left_out` are its ASSUMEs that were not needed; else they are
    written a second time, and tied to it.
    """

    name: str
    summary: str
    system: System
    clauses: Mapping[str, Term]
    instance: Instance
    more_instances: tuple[Instance, ...] = ()
    promises: Mapping[str, Term] = field(default_factory=dict[str, Term])
    steps: Mapping[str, Term] = field(default_factory=dict[str, Term])
    variants: tuple[Variant, ...] = ()
    case: str = "TRUE"
    words: Mapping[str, str] = field(default_factory=dict[str, str])
    by: Mapping[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])
    clauses_in: str = ""
    models: tuple[str, ...] = ()
    ties: tuple[Tie, ...] = ()
    untied: tuple[str, ...] = ()
    never: tuple[str, ...] = ()
    is_derived: bool = False
    left_out: tuple[str, ...] = ()

    @property
    def taken(self) -> tuple[Action, ...]:
        """The actions that happen."""
        return tuple(one for one in self.system.actions if one.name not in self.never)

    def size(self) -> int:
        """Return the number of obligations."""
        each = len(self.clauses) + len(self.steps) + 1
        once = len(self.clauses) + len(self.promises) + len(self.variants) + len(self.never)
        ties = len(self.ties) + 1 if self.ties else 0
        written = sum(map(self.system.writes_orders, self.taken))
        return once + each * len(self.taken) + written + ties


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """What is known of a proof before it is made, for which a module may have to be parsed."""

    name: str
    summary: str
    clauses_in: str
    make: Callable[[], Proof]


def listed(proof: Proof) -> Listed:
    """Return a proof that is made already."""
    return Listed(
        name=proof.name,
        summary=proof.summary,
        clauses_in=proof.clauses_in,
        make=lambda: proof,
    )
