"""What a component is, said once: every wire, page and judge reads it from here.

A component's folder has a module `component` with its calls, its observation, its configuration,
its clauses and one `ComponentDefinition` that holds them together. From that come the driver
protocol, the lines of histories, the JSON Schema, the steps of vectors and the tables in docs.
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import ClassVar, Generic, Protocol, Self, TypeVar, cast

from wheelproof_spec.base.clause import Clause
from wheelproof_spec.base.codec.vocabulary import Nothing, Wire
from wheelproof_spec.base.codec.writer import plain_fields

VIRTUAL_TIME = "virtual_time"
"""The capability to run on a clock that only `advance` moves."""

_CAPITAL = re.compile(r"(?<!^)(?=[A-Z])")


class Capability(StrEnum):
    """Base of what a driver may declare in `hello`, and need not: its name, and what it means.

    Without it nothing that needs it is asked or demanded; what was left out is counted and shown.
    """

    about: str

    def __new__(cls, name: str, about: str) -> Self:
        """Make a member."""
        member = str.__new__(cls, name)
        member._value_ = name
        member.about = about
        return member


class Request(Protocol):
    """Anything that can be asked of a driver."""

    def name_on_the_wire(self) -> str:
        """Return the request's name."""
        ...

    def fields(self) -> Mapping[str, object]:
        """Return what the message has beside its id and its operation."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """Base of the calls: the class gives the name on every wire, its fields are the arguments."""

    @classmethod
    def name_on_the_wire(cls) -> str:
        """Return the name, the class's in snake_case."""
        return _snake_case(cls.__name__)

    def fields(self) -> Mapping[str, object]:
        """Return the arguments as a driver gets them, if there are any."""
        arguments = plain_fields(self, Wire.DRIVEN)
        return {"args": arguments} if arguments else {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """Base of the configurations: how a component is made, and what is claimed of it."""

    component: ClassVar[str]
    """The name of the component."""

    def with_lateness(self, lateness_ms: int) -> Self:
        """Return this with the claim that nothing is later than so many milliseconds.

        A component of which lateness is not judged claims nothing.
        """
        del lateness_ms
        return self


CallT = TypeVar("CallT", bound=Request)
SeenT = TypeVar("SeenT")
CallT_co = TypeVar("CallT_co", bound=Request, covariant=True)
SeenT_co = TypeVar("SeenT_co", covariant=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """Something that can be asked of a component, or that happens to what it was given.

    `returns` is the value of its `ok` line in a history. A driver's answer has the fields `tells`
    of the component's observation, and may have those of `may_tell`. What `happens` is no call but
    a callback that the component makes: the process that it happens to may be inside a call, and
    its `ok` may be left out.
    """

    call: type[Call]
    returns: type[object] = Nothing
    tells: tuple[str, ...] = ()
    may_tell: tuple[str, ...] = ()
    wire: Wire = Wire.BOTH
    happens: bool = False

    @property
    def name(self) -> str:
        """Its name on every wire."""
        return self.call.name_on_the_wire()

    @property
    def about(self) -> str:
        """What it is, in a sentence."""
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
    """What the steps of a vector say of the answers.

    `expectation` has the fields of the observation, all of which may be absent: then they are open.
    What it has beside them says how to compare. `clauses` names what a field tests: where that
    clause is a known limit, the field is not compared.
    """

    expectation: type[object]
    clauses: Mapping[str, Clause]


@dataclass(frozen=True, slots=True, kw_only=True)
class ComponentDefinition(Generic[CallT_co, SeenT_co]):
    """Everything that is said of a component; `CallT_co` is the union of its driven calls."""

    name: str
    config: type[Config]
    operations: tuple[Operation, ...]
    observation: type[SeenT_co]
    """What a driver's answers show. Each may have the fields `always`; those that are `None` were
    not told."""
    always: tuple[str, ...]
    clauses: type[Clause]
    profiles: tuple[str, ...]
    """The contracts that an implementation may declare; the first is the usual one."""
    limits: type[StrEnum] | None = None
    """Parts of the domain that are known to be too much for some implementations."""
    skippable: tuple[Clause, ...] = ()
    """The clauses that may be known limits; without the others it would be no such component."""
    bounded: tuple[str, ...] = ()
    """The numbers of its configuration and its calls that a driver may bound."""
    capabilities: tuple[str, ...] = (VIRTUAL_TIME,)
    """What a driver has to be able to."""
    optional: type[Capability] | None = None
    """What else a driver may declare."""
    actions: tuple[ActionDefinition, ...] = ()
    """What a white-box trace has, of the detailed TLA+ module `module`."""
    module: str | None = None
    vectors: VectorSteps | None = None
    """What a step of a vector has to show; None where there are no vectors."""

    def operations_on(self, wire: Wire) -> tuple[Operation, ...]:
        """Return what can be asked on a wire."""
        return tuple(operation for operation in self.operations if operation.wire & wire)

    def may_be_limits(self) -> tuple[str, ...]:
        """Return the clauses and the parts of the domain that may be declared as known limits."""
        return (*self.skippable, *(() if self.limits is None else self.limits))

    def undeclared(self, capabilities: Collection[str]) -> tuple[Capability, ...]:
        """Return what a driver with these capabilities cannot be asked for."""
        optional = () if self.optional is None else tuple(self.optional)
        return tuple(capability for capability in optional if capability not in capabilities)


AnyDefinition = ComponentDefinition[Request, object]
"""A definition whose calls and observation are its own affair."""


def any_definition(definition: ComponentDefinition[CallT, SeenT]) -> AnyDefinition:
    """Return a definition for those who do not look at its calls and its observation."""
    return cast(AnyDefinition, definition)


@cache
def _snake_case(name: str) -> str:
    return _CAPITAL.sub("_", name).lower()
