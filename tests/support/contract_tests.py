"""What a test of `wheelproof_spec.testing` raises, and the steps that it shows."""

import pytest

from wheelproof_spec.base.results.fuzz_report import ContractViolationError
from wheelproof_spec.testing.machine import ContractMachine


def failure(tests: ContractMachine) -> ContractViolationError:
    """Run the test, which fails, and return its error."""
    with pytest.raises(ContractViolationError) as caught:
        tests.test_it_keeps_its_contract()
    return caught.value


def steps(error: ContractViolationError) -> list[str]:
    """Return the steps that are shown with the error, as code."""
    lines = "\n".join(error.__notes__).splitlines()
    return [line.strip() for line in lines if line.strip().startswith("state.")]
