"""The components, and what each of them brings: a line each.

A component is a folder of this package with modules of these names; each holds the object that is
named here. A module that is missing is something that the component does not have.
"""

import importlib
import importlib.util
from collections.abc import Callable, Iterator
from functools import cache
from typing import TypeGuard, TypeVar

from wheelproof_spec.base.component import AnyDefinition, is_definition
from wheelproof_spec.base.errors import UsageError
from wheelproof_spec.base.history.judging import (
    MakeTraceChecker,
    Orders,
    RecordedComponent,
    is_recorded,
)
from wheelproof_spec.base.known_bug import KnownBug
from wheelproof_spec.base.suite import AnySuite, is_suite

COMPONENTS: tuple[str, ...] = ("timer", "purgatory", "replication", "buffer_pool", "accumulator")

PartT = TypeVar("PartT")


@cache
def definitions() -> tuple[AnyDefinition, ...]:
    """Return what each component is."""
    return tuple(part for _, part in parts("component", "DEFINITION", is_definition))


def definition_of(component: str) -> AnyDefinition:
    """Return what a component is."""
    return next(definition for definition in definitions() if definition.name == component)


@cache
def suites() -> dict[str, AnySuite]:
    """Return how each component is driven, by its name."""
    return dict(parts("cases", "SUITE", is_suite))


def profiles() -> tuple[str, ...]:
    """Return the contracts that there are, of all components."""
    found = (profile for definition in definitions() for profile in definition.profiles)
    return tuple(dict.fromkeys(found))


@cache
def bugs() -> tuple[KnownBug, ...]:
    """Return the known bugs of all components."""
    return tuple(bug for component in COMPONENTS for bug in bugs_of(component))


def bugs_of(component: str) -> tuple[KnownBug, ...]:
    """Return the known bugs of a component, without loading another one."""
    return part_of(component, "bugs", "BUGS", _are_bugs) or ()


@cache
def recorded(component: str) -> RecordedComponent:
    """Return how the histories of a component are judged."""
    part = part_of(component, "history", "RECORDED", is_recorded)
    if part is None:
        raise UsageError(f"histories of the component {component!r} cannot be judged")
    return part


def orders_of(component: str) -> Orders | None:
    """Return how the small histories of a component are searched for an order, if they are."""
    return part_of(component, "orders", "ORDERS", _are_orders)


def trace_checker(component: str) -> MakeTraceChecker | None:
    """Return what makes the replay of a trace of a component, if its traces can be judged."""
    return part_of(component, "trace.run", "TraceChecker", _makes_trace_checkers)


def parts(
    module: str, name: str, is_part: Callable[[object], TypeGuard[PartT]]
) -> Iterator[tuple[str, PartT]]:
    """Yield an object of a module of each component that has it, with the component's name."""
    for component in COMPONENTS:
        part = part_of(component, module, name, is_part)
        if part is not None:
            yield component, part


def part_of(
    component: str, module: str, name: str, is_part: Callable[[object], TypeGuard[PartT]]
) -> PartT | None:
    """Return an object of a module of a component, or None if the component does not have it."""
    path = f"{__package__}.{component}.{module}"
    folder = path.rpartition(".")[0]
    if importlib.util.find_spec(folder) is None or importlib.util.find_spec(path) is None:
        return None
    part: object = getattr(importlib.import_module(path), name, None)
    if part is None:
        return None
    if not is_part(part):
        raise TypeError(f"{name} of {path} is not what the registry says that it is")
    return part


def _are_orders(value: object) -> TypeGuard[Orders]:
    return callable(value)


def _makes_trace_checkers(value: object) -> TypeGuard[MakeTraceChecker]:
    return callable(value)


def _are_bugs(value: object) -> TypeGuard[tuple[KnownBug, ...]]:
    return isinstance(value, tuple)
