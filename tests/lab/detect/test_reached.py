"""Whoever calls a function that is watched is known."""

import pytest

from wheelproof_lab.detect.mutation import budget
from wheelproof_lab.detect.mutation.reached import Reached


def test_a_call_is_told_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budget.Budget, "over", budget.Budget.over)
    reached = Reached()
    reached.watch(budget.__name__, "Budget.over")
    assert not reached.take()
    assert not budget.Budget(60, lambda: 0).over()
    assert reached.take()
    assert not reached.take()


def test_a_function_of_a_module_is_left_as_it_is() -> None:
    before = budget.used_s
    Reached().watch(budget.__name__, "used_s")
    assert budget.used_s is before
