"""Machines of `wheelproof_spec.testing` for an implementation: what they raise, and their steps."""

from typing import TypeVar, cast

import hypothesis
import pytest
from hypothesis import Phase

from wheelproof_spec.base.results.fuzz_report import ContractViolationError
from wheelproof_spec.testing.machine import ContractMachine

MachineT = TypeVar("MachineT", bound=ContractMachine)
SHORT = hypothesis.settings(ContractMachine.settings, max_examples=25)
NOT_SMALLER = hypothesis.settings(ContractMachine.settings, phases=(Phase.generate,))
SMALL_AT_ONCE = hypothesis.settings(
    ContractMachine.settings, max_examples=150, stateful_step_count=8
)
"""What fails is short at once, so that it is made smaller in little time."""


def machine_of(machine: type[MachineT], make: object, **attributes: object) -> MachineT:
    """Return the test of an implementation, as a subclass with these attributes would be."""
    made = type("TestIt", (machine,), {"make": make, "settings": SHORT, **attributes})
    return cast(type[MachineT], made)()


def failure(tests: ContractMachine) -> ContractViolationError:
    """Run the test, which fails, and return its error."""
    with pytest.raises(ContractViolationError) as caught:
        tests.test_it_keeps_its_contract()
    return caught.value


def steps(error: ContractViolationError) -> list[str]:
    """Return the steps that are shown with the error, as code."""
    lines = "\n".join(error.__notes__).splitlines()
    return [line.strip() for line in lines if line.strip().startswith("state.")]
