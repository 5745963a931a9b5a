"""The parts of the components for the engines that need more than the standard library."""

from collections.abc import Callable

from wheelproof_spec.base.drawing import CaseView
from wheelproof_spec.components.registry import Part
from wheelproof_spec.drive.driver.serve import ServedComponent
from wheelproof_spec.fuzz.machine import AnyMachine, Machine
from wheelproof_spec.history.recording.callers import Callers
from wheelproof_spec.history.recording.load import Load

MakeLoad = Callable[[Callers], Load]
MakeView = Callable[[str], CaseView]

machines = Part[AnyMachine]("fuzz.machine", "MACHINE", Machine).by_component
"""Return the machines of `wheelproof fuzz`, by name."""
loads = Part[MakeLoad]("recording.load", "load").by_component
"""Return the work under which the reference is recorded, by component."""
view_of = Part[MakeView]("view", "VIEW").of
"""Return the view that draws the cases of a component, or None."""


def served_components() -> list[ServedComponent]:
    """Return the reference's components, ready to be served as a driver."""
    serves = Part[Callable[[], ServedComponent]]("reference", "serve").by_component()
    return [serve() for serve in serves.values()]
