"""The definition of a component, the single source for every wire, page and judge.

A component's folder has a module `component` with its calls, its observation, its configuration,
its clauses and one `ComponentDefinition` that holds them together. From it are made the driver
protocol, the lines of histories, the JSON Schema, the steps of vectors and the tables in docs.
"""

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import ClassVar, Generic, Protocol, Self, TypeVar, cast

from wheelproof_spec.base.clause import Clause
from wheelproof_spec.base.codec.vocabulary import Nothing, Wire
from wheelproof_spec.base.codec.writer import plain_fields

VIRTUAL_TIME = "virtual_time"
"""The capability to run on a clock that only `advance` moves."""
CONCURRENT = "concurrent"
"""The capability to make the calls of several callers at the same time."""

_CAPITAL = re.compile(r"(?<!^)(?=[A-Z])")


class Capability(StrEnum):
    """Base of the optional capabilities that a driver may declare in `hello`: name and meaning.

    Without a capability, no call or clause that needs it is used; left-out cases are reported.
    """

    about: str

    def __new__(cls, name: str, about: str) -> Self:
        """Make a member."""
        member = str.__new__(cls, name)
        member._value_ = name
        member.about = about
        return member


class Request(Protocol):
    """A request to a driver."""

    def name_on_the_wire(self) -> str:
        """Return the request's name."""
        ...

    def fields(self) -> Mapping[str, object]:
        """Return the fields of the message other than its id and its operation."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """Base of the calls: the class gives the name on every wire, its fields are the arguments."""

    @classmethod
    def name_on_the_wire(cls) -> str:
        """Return the name of the class in snake_case."""
        return _snake_case(cls.__name__)

    def fields(self) -> Mapping[str, object]:
        """Return the arguments as a driver gets them, if there are any."""
        arguments = plain_fields(self, Wire.DRIVEN)
        return {"args": arguments} if arguments else {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """Base of the configurations: how a component is made, and what is claimed about it."""

    component: ClassVar[str]
    """The name of the component."""

    def with_lateness(self, lateness_ms: int) -> Self:
        """Return this with the claim that no task is later than `lateness_ms`.

        A component whose lateness is not judged makes no claim.
        """
        del lateness_ms
        return self


CallT = TypeVar("CallT", bound=Request)
SeenT = TypeVar("SeenT")
CallT_co = TypeVar("CallT_co", bound=Request, covariant=True)
SeenT_co = TypeVar("SeenT_co", covariant=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """A call to a component, or a callback that the component makes.

    `returns` is the type of the value of its `ok` line in a history. A driver's answer has the
    fields `tells` of the component's observation, and may have those of `may_tell`. `happens` marks
    a callback: the process that runs it may be inside a call, and its `ok` line may be left out.
    """

    call: type[Call]
    returns: type[object] = Nothing
    tells: tuple[str, ...] = ()
    may_tell: tuple[str, ...] = ()
    wire: Wire = Wire.BOTH
    happens: bool = False

    @property
    def name(self) -> str:
        """The name on every wire."""
        return self.call.name_on_the_wire()

    @property
    def about(self) -> str:
        """A description in one sentence."""
        return (self.call.__doc__ or "").strip().partition("\n")[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionDefinition:
    """An action of a trace, named as in the detailed TLA+ module."""

    action: str
    about: str
    args: type[object] = Nothing
    obs: type[object] = Nothing


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorSteps:
    """What the steps of a vector expect of the answers.

    `expectation` has the fields of the observation; an absent field is not compared. Its other
    fields say how to compare. `clauses` maps a field to the clause that it tests: if that clause is
    a known limit, the field is not compared.
    """

    expectation: type[object]
    clauses: Mapping[str, Clause]


def _no_profile(name: str) -> bool:
    del name
    return False


@dataclass(frozen=True, slots=True, kw_only=True)
class ComponentDefinition(Generic[CallT_co, SeenT_co]):
    """The complete definition of a component; `CallT_co` is the union of its driven calls."""

    name: str
    config: type[Config]
    operations: tuple[Operation, ...]
    observation: type[SeenT_co]
    """The type of a driver's answers. Each answer may have the fields `always`; a field that is
    `None` was not told."""
    always: tuple[str, ...]
    clauses: type[Clause]
    profiles: tuple[str, ...]
    """The contracts that an implementation may declare; the first is the usual one."""
    is_weakened: Callable[[str], bool] = _no_profile
    """Tell whether a name is that of a profile of `profiles` with parameters."""
    strongest_first: Callable[[], tuple[str, ...]] | None = None
    """The profiles from the strongest to the weakest; if None, that is the order of `profiles`."""
    limits: type[StrEnum] | None = None
    """Parts of the domain that some implementations do not support."""
    skippable: tuple[Clause, ...] = ()
    """The clauses that may be known limits; the other clauses are essential to the component."""
    bounded: tuple[str, ...] = ()
    """The numbers of its configuration and its calls that a driver may bound."""
    capabilities: tuple[str, ...] = (VIRTUAL_TIME,)
    """The capabilities that a driver must have."""
    optional: type[Capability] | None = None
    """The optional capabilities that a driver may declare."""
    actions: tuple[ActionDefinition, ...] = ()
    """The actions of a white-box trace, from the detailed TLA+ module `module`."""
    module: str | None = None
    vectors: VectorSteps | None = None
    """What the steps of vectors expect; None if there are no vectors."""

    def title(self) -> str:
        """Return what the names of its clauses begin with, such as `BufferPool`."""
        return next(iter(self.clauses)).partition(".")[0]

    def operations_on(self, wire: Wire) -> tuple[Operation, ...]:
        """Return the operations on a wire."""
        return tuple(operation for operation in self.operations if operation.wire & wire)

    def has_profile(self, name: str) -> bool:
        """Tell whether an implementation may declare this profile."""
        return name in self.profiles or self.is_weakened(name)

    def by_strength(self) -> tuple[str, ...]:
        """Return profiles that an implementation may keep, the strongest first."""
        return self.profiles if self.strongest_first is None else self.strongest_first()

    def may_be_limits(self) -> tuple[str, ...]:
        """Return the clauses and the parts of the domain that may be declared as known limits."""
        return (*self.skippable, *(() if self.limits is None else self.limits))

    def undeclared(self, capabilities: Collection[str]) -> tuple[Capability, ...]:
        """Return the optional capabilities that are not among `capabilities`."""
        optional = () if self.optional is None else tuple(self.optional)
        return tuple(capability for capability in optional if capability not in capabilities)


AnyDefinition = ComponentDefinition[Request, object]
"""A definition, for code that does not look at its calls and its observation."""


def any_definition(definition: ComponentDefinition[CallT, SeenT]) -> AnyDefinition:
    """Return a definition, for code that does not look at its calls and its observation."""
    return cast(AnyDefinition, definition)


@cache
def _snake_case(name: str) -> str:
    return _CAPITAL.sub("_", name).lower()
