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
from wheelproof_spec.base.history.judging import (
    MakeTraceChecker,
    RecordedComponent,
    is_recorded,
)
from wheelproof_spec.base.suite import AnySuite, is_suite

COMPONENTS = ("timer", "purgatory", "buffer_pool", "accumulator", "replication")

PartT = TypeVar("PartT")


@cache
def definitions() -> tuple[AnyDefinition, ...]:
    """Return what each component is."""
    return tuple(part for _, part in _parts("component", "DEFINITION", is_definition))


@cache
def suites() -> dict[str, AnySuite]:
    """Return how each component is driven, by its name."""
    return dict(_parts("cases", "SUITE", is_suite))


@cache
def recorded(component: str) -> RecordedComponent:
    """Return how the histories of a component are judged."""
    part = _part(component, "history", "RECORDED", is_recorded)
    assert part is not None
    return part


def trace_checker(component: str) -> MakeTraceChecker | None:
    """Return what makes the replay of a trace of a component, if its traces can be judged."""
    return _part(component, "trace.run", "TraceChecker", _makes_trace_checkers)


def _makes_trace_checkers(value: object) -> TypeGuard[MakeTraceChecker]:
    return callable(value)


def _parts(
    module: str, name: str, is_part: Callable[[object], TypeGuard[PartT]]
) -> Iterator[tuple[str, PartT]]:
    for component in COMPONENTS:
        part = _part(component, module, name, is_part)
        if part is not None:
            yield component, part


def _part(
    component: str, module: str, name: str, is_part: Callable[[object], TypeGuard[PartT]]
) -> PartT | None:
    """Return an object of a module of a component, or None if it has no such module."""
    path = f"{__package__}.{component}.{module}"
    folder = path.rpartition(".")[0]
    if importlib.util.find_spec(folder) is None or importlib.util.find_spec(path) is None:
        return None
    part: object = getattr(importlib.import_module(path), name)
    if not is_part(part):
        raise TypeError(f"{name} of {path} is not what the registry says that it is")
    return part
