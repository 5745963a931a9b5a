"""The components, and the parts of each: one line for each kind of part.

A component is a folder of this package. Its parts are objects with the names below, in modules with
the names below. If a module is missing, the component does not have that part.
"""

import importlib
import importlib.util
from functools import cache
from typing import Generic, TypeVar, cast

from wheelproof_spec.base.component import AnyDefinition, ComponentDefinition
from wheelproof_spec.base.errors import UsageError
from wheelproof_spec.base.history.judging import Orders, RecordedComponent
from wheelproof_spec.base.suite import AnySuite, Suite

COMPONENTS: tuple[str, ...] = ("timer", "purgatory", "replication", "buffer_pool", "accumulator")

PartT = TypeVar("PartT")


class Part(Generic[PartT]):
    """A part that a component may have: object `name` of `module`, of type `kind` or callable."""

    def __init__(self, module: str, name: str, kind: type[object] | None = None) -> None:
        self._module, self._name, self._kind = module, name, kind

    def of(self, component: str) -> PartT | None:
        """Return the part of a component, or None if the component does not have it."""
        path = f"{__package__}.{component}.{self._module}"
        folder = path.rpartition(".")[0]
        if importlib.util.find_spec(folder) is None or importlib.util.find_spec(path) is None:
            return None
        part: object = getattr(importlib.import_module(path), self._name, None)
        if part is None:
            return None
        if not (callable(part) if self._kind is None else isinstance(part, self._kind)):
            raise TypeError(f"{self._name} of {path} is not what the registry says that it is")
        return cast(PartT, part)

    def by_component(self) -> dict[str, PartT]:
        """Return the parts of all components that have it."""
        found = ((component, self.of(component)) for component in COMPONENTS)
        return {component: part for component, part in found if part is not None}


orders_of = Part[Orders]("orders", "ORDERS").of
"""Return the search for an order of small histories of a component, or None."""
_DEFINITION = Part[AnyDefinition]("component", "DEFINITION", ComponentDefinition)
_SUITE = Part[AnySuite]("cases", "SUITE", Suite)
_RECORDED = Part[RecordedComponent]("history", "RECORDED", RecordedComponent)


@cache
def definitions() -> tuple[AnyDefinition, ...]:
    """Return the definition of each component."""
    return tuple(_DEFINITION.by_component().values())


def definition_of(component: str) -> AnyDefinition:
    """Return the definition of a component."""
    return next(definition for definition in definitions() if definition.name == component)


@cache
def suites() -> dict[str, AnySuite]:
    """Return the suite that drives each component, by the name of the component."""
    return _SUITE.by_component()


def profiles() -> tuple[str, ...]:
    """Return the names of the contracts of all components."""
    found = (profile for definition in definitions() for profile in definition.profiles)
    return tuple(dict.fromkeys(found))


@cache
def recorded(component: str) -> RecordedComponent:
    """Return how the histories of a component are judged."""
    part = _RECORDED.of(component)
    if part is None:
        raise UsageError(f"histories of the component {component!r} cannot be judged")
    return part
