"""The register: the smallest specification there is, and the example for others."""

from collections.abc import Hashable, Iterable
from dataclasses import dataclass

from wheelproof_spec.engines.history.linearizability import Model
from wheelproof_spec.engines.history.linearizability_calls import UNKNOWN, Unknown


@dataclass(frozen=True, slots=True)
class Read:
    """Answers what register `name` holds."""

    name: str = "x"

    def __str__(self) -> str:
        return f"read({self.name})"


@dataclass(frozen=True, slots=True)
class Write:
    """Replaces what register `name` holds; answers None."""

    value: Hashable
    name: str = "x"

    def __str__(self) -> str:
        return f"write({self.name}, {self.value!r})"


@dataclass(frozen=True, slots=True)
class GetAndSet:
    """Replaces what register `name` holds and answers what it held."""

    value: Hashable
    name: str = "x"

    def __str__(self) -> str:
        return f"get_and_set({self.name}, {self.value!r})"


RegisterOperation = Read | Write | GetAndSet


class Registers(Model[Hashable, RegisterOperation, Hashable]):
    """Any number of independent registers, all of which hold `initial` at first."""

    def __init__(self, initial: Hashable = None) -> None:
        self._initial = initial

    def initial_state(self) -> Hashable:
        """Return what the register holds at first."""
        return self._initial

    def step(
        self, state: Hashable, operation: RegisterOperation, result: Hashable | Unknown
    ) -> Iterable[Hashable]:
        """Return what it holds afterwards, if the answer is right."""
        answer = None if isinstance(operation, Write) else state
        if result is not UNKNOWN and result != answer:
            return ()
        return (state if isinstance(operation, Read) else operation.value,)

    def object_of(self, operation: RegisterOperation) -> Hashable:
        """Return the register's name."""
        return operation.name
