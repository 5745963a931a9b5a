"""What a proof is about: a system of actions, its clauses, its promises, and broken variants."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from wheelproof_spec.engines.prove.terms import Change, Field, Sort, Term, fields_in
from wheelproof_spec.engines.tlc.states.values import Value


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """A step: for some values of its parameters, if the guard holds, all changes at once.

    It has the name of the action of the TLA+ module; where that is taken apart, a word in brackets
    says which case it is.
    """

    name: str
    parameters: tuple[Term, ...]
    guard: Term
    changes: tuple[Change, ...]

    @property
    def tla_name(self) -> str:
        """The name of the action of the TLA+ module."""
        return self.name.partition(" ")[0]


def action(name: str, parameters: Sequence[Term], guard: Term, *changes: Change) -> Action:
    """Return an action."""
    return Action(name=name, parameters=tuple(parameters), guard=guard, changes=changes)


@dataclass(frozen=True, slots=True, kw_only=True)
class System:
    """Everything that can happen.

    `initial` gives each field that is not rigid its first value; `assumed` is what is taken for
    granted of the rigid ones.
    """

    initial: tuple[Change, ...]
    actions: tuple[Action, ...]
    assumed: Mapping[str, Term] = field(default_factory=dict[str, Term])

    def replaced(self, *actions: Action, without: Iterable[str] = ()) -> "System":
        """Return the system with other actions in place of those of the same names, or more."""
        gone = {*without, *(action.name for action in actions)}
        return replace(
            self, actions=(*(one for one in self.actions if one.name not in gone), *actions)
        )

    @property
    def fields(self) -> tuple[Field, ...]:
        """All fields, the rigid ones first, in the order of their names."""
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
    """A few elements of each sort, and the values of the rigid fields: where they are not FALSE.

    `rigid` maps a field to the elements for which it holds, or to its number.
    """

    elements: Mapping[Sort, tuple[str, ...]]
    rigid: Mapping[Field, Mapping[tuple[str, ...], bool | int]]
    numbers: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """A defect brought into a system: an action then breaks a clause, in a run of the instance.

    `bug` is the id of the known bug that it is, or empty. The clause is one of the proof, or one
    of `more`, which another system keeps. What a run of the instance has to break is `reached`:
    what the user is promised, where that is not the clause itself.
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
"""What a state says of a field, by the names of the elements."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tie:
    """The model of TLC that has to have the same graph as a proof's system on an instance.

    `fields` are constants of the module, beside those of `constants`, which the proof leaves open
    or does not know. `hidden` shows what no field alone shows.
    """

    module: str
    constants: Mapping[str, Value]
    fields: tuple[Field, ...]
    instance: Instance
    overrides: Mapping[str, str] = field(default_factory=dict[str, str])
    hidden: Callable[[Tables], Mapping[str, Value]] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """A system, what always holds in it, and what follows.

    `clauses` hold together in the first states and are kept by each action: the inductive
    invariant. `promises` follow from them; `steps` hold of each step, with `after` for what is
    after it. `instance` is small enough to be run; with `more_instances`, if there are any, it has
    to show each action. Where the module has the clause of several
    proofs, `case` says when it is this one. Without a `tie` the actions are those of a proof that
    has one. `words` explain each clause, promise and step; `by` names the clauses by which a
    clause is kept, so that the solver finds its way. `clauses_in` is the TLA+ module, below
    the folder of the modules, with the clauses as operators; `models` are the models of the
    manifest that have them as invariants.
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
    tie: Tie | None = None

    def size(self) -> int:
        """Return how many obligations it has."""
        each = len(self.clauses) + len(self.steps) + 1
        once = len(self.clauses) + len(self.promises) + len(self.variants)
        return once + each * len(self.system.actions)
