"""Each module of the reference has an example in its docstrings, and all examples run."""

import doctest
import importlib
import pkgutil

import pytest

import wheelproof

_MODULES = [
    module.name
    for module in pkgutil.walk_packages(wheelproof.__path__, f"{wheelproof.__name__}.")
    if not module.ispkg
]


@pytest.mark.parametrize("name", _MODULES)
def test_the_examples_of_a_module_run(name: str) -> None:
    result = doctest.testmod(importlib.import_module(name))
    assert result.attempted, "it has no example"
    assert result.failed == 0
