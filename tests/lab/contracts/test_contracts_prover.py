"""What the prover answers where there is no proof, and what it refuses to leave unproved."""

import sys

import pytest

from support.contracts.unreadable_contract import promises_gibberish
from support.contracts.without_contract import promises_nothing
from wheelproof_lab.prove.contracts.prove import find_contracts, prove, prove_all
from wheelproof_spec.base.errors import MissingToolError
from wheelproof_spec.base.results.verdicts import CheckResult, Verdict

ODD = {
    contract.function: contract for contract in find_contracts(["support.contracts.odd_contracts"])
}


def test_not_confirmed_is_inconclusive_and_no_proof() -> None:
    result = prove(ODD["nobody_proves_it_in_time"], seconds=0.05)
    assert result.verdict is Verdict.INCONCLUSIVE
    assert result.summary == "not confirmed within 0.05 s"


def test_contract_that_no_input_meets_is_no_proof() -> None:
    result = prove(ODD["vacuous"])
    assert result.verdict is Verdict.INCONCLUSIVE
    assert result.summary == "no input was found that meets the preconditions"


def test_refutation_names_the_only_counterexample_and_the_command_that_repeats_it() -> None:
    result = prove(ODD["false_for_one_number"])
    assert result.verdict is Verdict.FAIL
    assert "false_for_one_number(41152263)" in result.summary
    assert "post: _ != 123_456_789" in result.details
    assert "crosshair check --analysis_kind=PEP316" in result.details
    assert result.details.endswith("odd_contracts.false_for_one_number")


def test_body_that_raises_is_refuted() -> None:
    result = prove(ODD["raises_for_zero"])
    assert result.verdict is Verdict.FAIL
    assert "ZeroDivisionError" in result.summary
    assert "raises_for_zero(0)" in result.summary


def test_function_without_a_contract_is_refused() -> None:
    with pytest.raises(ValueError, match=f"{promises_nothing.__name__} has no contract"):
        find_contracts([promises_nothing.__module__])


def test_contract_that_is_no_expression_is_refused() -> None:
    with pytest.raises(ValueError, match=f"{promises_gibberish.__name__}: its contract cannot"):
        find_contracts([promises_gibberish.__module__])


@pytest.mark.slow
def test_prove_all_proves_each_contract_once_and_reports_it_as_it_ends() -> None:
    reported: list[CheckResult] = []
    results = prove_all(on_result=reported.append)
    assert results == reported
    assert [result.name for result in results] == [contract.name for contract in find_contracts()]
    assert {result.verdict for result in results} == {Verdict.PASS}
    assert {result.group for result in results} == {"contracts"}


def test_without_crosshair_the_remedy_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "crosshair.core_and_libs", None)
    with pytest.raises(MissingToolError, match="core_and_libs was not found; install it"):
        find_contracts()
