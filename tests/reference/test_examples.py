"""Each module of the reference says why it is there, shows an example that runs, and what holds."""

import doctest
import importlib
import inspect
import pkgutil
import re

import pytest

import wheelproof

_MODULES = [
    module.name
    for module in pkgutil.walk_packages(wheelproof.__path__, f"{wheelproof.__name__}.")
    if not module.ispkg
]
_SHARES = re.compile(
    r"^ +self\.\w+(: .*)? = sync\.(monitor|lock|volatile|atomic)"
    r"|^ +(self\.)?\w+: Annotated\[.*GuardedBy\(",
    re.MULTILINE,
)
"""What a module has whose objects threads share."""


@pytest.mark.parametrize("name", _MODULES)
def test_the_examples_of_a_module_run(name: str) -> None:
    result = doctest.testmod(importlib.import_module(name))
    assert result.attempted, "it has no example"
    assert result.failed == 0


@pytest.mark.parametrize("name", _MODULES)
def test_a_module_says_why_before_its_example_and_then_what_holds(name: str) -> None:
    module = importlib.import_module(name)
    _, _, below = (module.__doc__ or "").partition("\n\n")
    why, _, _ = below.partition(">>>")
    assert len(why.split()) >= 10, "it does not say why"
    if _SHARES.search(inspect.getsource(module)):
        _, _, invariants = below.partition("\nInvariants")
        assert re.search(r"^- ", invariants, re.MULTILINE), "it does not say what holds"


def test_where_the_reference_leaves_kafka_it_says_what_kafka_does_and_why() -> None:
    places = 0
    for name in _MODULES:
        lines = inspect.getsource(importlib.import_module(name)).splitlines()
        for number, line in enumerate(lines):
            if line.strip().startswith("# Kafka: "):
                here, why = (below.strip() for below in lines[number + 1 : number + 3])
                assert (here[:8], why[:8]) == ("# Here: ", "# Why:  "), (name, number)
                places += 1
    assert places > 10
