"""The example of a port runs as it is printed: calls go in, answers and callbacks come out."""

import doctest
import importlib

import pytest


@pytest.mark.parametrize("component", ["timer", "replication", "accumulator"])
def test_the_example_of_a_port_runs(component: str) -> None:
    port = importlib.import_module(f"wheelproof_spec.components.{component}.port")
    result = doctest.testmod(port)
    assert result.attempted
    assert result.failed == 0
