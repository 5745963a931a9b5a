"""The components, and the parts of each. A new component is a folder and its name in `COMPONENTS`.

A component is a folder of this package. Each part is an object in a module of the folder; here are
both names, and the type. If a module is missing, the component does not have that part. Parts for
fuzzing, recording and pages need more than the standard library, and are imported when asked for.
"""

import importlib
import importlib.util
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, cast

from wheelproof_spec.base.component import AnyDefinition, ComponentDefinition
from wheelproof_spec.base.errors import UsageError
from wheelproof_spec.base.history.judging import RecordedComponent
from wheelproof_spec.base.suite import AnySuite, Suite

if TYPE_CHECKING:
    from wheelproof_spec.base.drawing import CaseView
    from wheelproof_spec.drive.driver.serve import ServedComponent
    from wheelproof_spec.fuzz.machine import AnyMachine
    from wheelproof_spec.history.recording.work import DrawWork, MakeLoad

COMPONENTS: tuple[str, ...] = ("timer", "purgatory", "replication", "buffer_pool", "accumulator")


@cache
def definitions() -> tuple[AnyDefinition, ...]:
    """Return the definition of each component."""
    found = _parts("component", "DEFINITION", ComponentDefinition)
    return tuple(cast(AnyDefinition, definition) for definition in found.values())


def definition_of(component: str) -> AnyDefinition:
    """Return the definition of a component."""
    return next(definition for definition in definitions() if definition.name == component)


@cache
def suites() -> dict[str, AnySuite]:
    """Return the suite that drives each component, by the name of the component."""
    return cast(dict[str, AnySuite], _parts("cases", "SUITE", Suite))


def profiles() -> tuple[str, ...]:
    """Return the names of the contracts of all components."""
    found = (profile for definition in definitions() for profile in definition.profiles)
    return tuple(dict.fromkeys(found))


def is_profile(name: str) -> bool:
    """Tell whether an implementation of some component may declare this profile."""
    return any(definition.has_profile(name) for definition in definitions())


@cache
def recorded(component: str) -> RecordedComponent:
    """Return how the histories of a component are judged."""
    part = _part(component, "history", "RECORDED", RecordedComponent)
    if part is None:
        raise UsageError(f"histories of the component {component!r} cannot be judged")
    return cast(RecordedComponent, part)


def view_of(component: str) -> "Callable[[str], CaseView] | None":
    """Return the view that draws the cases of a component, or None."""
    return cast("Callable[[str], CaseView] | None", _part(component, "view", "VIEW"))


def machines() -> "dict[str, AnyMachine]":
    """Return the machines of `wheelproof fuzz`, by component."""
    from wheelproof_spec.fuzz.machine import Machine

    return cast("dict[str, AnyMachine]", _parts("machine", "MACHINE", Machine))


def loads() -> "dict[str, MakeLoad]":
    """Return the work under which the reference is recorded, by component."""
    return cast("dict[str, MakeLoad]", _parts("load", "load"))


def works() -> "dict[str, DrawWork]":
    """Return what draws the work of a load that any program can do, by component."""
    return cast("dict[str, DrawWork]", _parts("load", "work"))


def served_components() -> "list[ServedComponent]":
    """Return the reference's components, ready to be served as a driver."""
    serves = cast("dict[str, Callable[[], ServedComponent]]", _parts("reference", "serve"))
    return [serve() for serve in serves.values()]


def _parts(module: str, name: str, kind: type[object] | None = None) -> dict[str, object]:
    """Return the parts of all components that have it."""
    found = ((component, _part(component, module, name, kind)) for component in COMPONENTS)
    return {component: part for component, part in found if part is not None}


def _part(
    component: str, module: str, name: str, kind: type[object] | None = None
) -> object | None:
    """Return object `name` of a module, of type `kind` or callable, or None if it is not there."""
    path = f"{__package__}.{component}.{module}"
    folder = path.rpartition(".")[0]
    if importlib.util.find_spec(folder) is None or importlib.util.find_spec(path) is None:
        return None
    part: object = getattr(importlib.import_module(path), name, None)
    if part is None:
        return None
    if not (callable(part) if kind is None else isinstance(part, kind)):
        raise TypeError(f"{name} of {path} is not what the registry says that it is")
    return part
