"""Every contract of the arithmetic is proved, and each planted mistake is refuted."""

import pytest

from support.contracts.planted import PLANTED, Planted
from support.contracts.planted_producer import PLANTED_PRODUCER
from wheelproof_lab.prove.contracts.prove import Contract, find_contracts, prove
from wheelproof_spec.base.results.verdicts import Verdict

pytestmark = pytest.mark.slow

CONTRACTS = {contract.name: contract for contract in find_contracts()}
ALL_PLANTED = [*PLANTED, *PLANTED_PRODUCER]
REFUTATIONS = [
    pytest.param(planted, name, id=f"{planted.name}-{name}")
    for planted in ALL_PLANTED
    for name in planted.breaks
]


@pytest.mark.repeats("po-capacity")
@pytest.mark.parametrize("contract", CONTRACTS.values(), ids=CONTRACTS.keys())
def test_contract_is_confirmed_over_all_paths(contract: Contract) -> None:
    result = prove(contract)
    assert result.verdict is Verdict.PASS, f"{result.summary}\n{result.details}"


@pytest.mark.parametrize(("planted", "name"), REFUTATIONS)
def test_planted_mistake_is_refuted_with_a_counterexample(planted: Planted, name: str) -> None:
    result = prove(CONTRACTS[name], mutants={planted.replaces: planted.function})
    assert result.verdict is Verdict.FAIL, f"{result.summary}\n{result.details}"
    assert f"false when calling {CONTRACTS[name].function}(" in result.summary


def test_each_contract_is_broken_by_a_planted_mistake() -> None:
    assert {name for planted in ALL_PLANTED for name in planted.breaks} == set(CONTRACTS)
