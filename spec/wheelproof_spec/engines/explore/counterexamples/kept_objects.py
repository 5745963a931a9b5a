"""The controlled runtime with a list of what it has made."""

from wheelproof_spec.engines.explore.runs.execution import World
from wheelproof_spec.engines.explore.runtime.model import Enrolled
from wheelproof_spec.engines.explore.runtime.numbers import ObjectNumber
from wheelproof_spec.engines.explore.runtime.runtime import ControlledRuntime


class KeepingRuntime(ControlledRuntime):
    """The runtime of a run whose objects are looked at: `objects` has them as they were made."""

    def __init__(self, world: World) -> None:
        self.objects: list[Enrolled] = []
        program = world.program
        super().__init__(
            program.name, program.settings, world.substrate, world.numbers, logging=True
        )
        # The clock is none of the program's objects.
        self.objects.clear()

    def enroll(self, made: Enrolled, name: str) -> tuple[ObjectNumber, str]:
        """Take note of a new object, and keep it."""
        self.objects.append(made)
        return super().enroll(made, name)
