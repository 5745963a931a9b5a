"""The tables of clauses say who judges what: each judge tests what they say, and nothing else."""

import inspect
import pkgutil
from importlib import import_module
from importlib.util import find_spec

import pytest

from wheelproof_spec.base.clause import Clause
from wheelproof_spec.base.codec.vocabulary import Wire
from wheelproof_spec.components import registry

_CLAUSES = [
    (definition.name, clause)
    for definition in registry.definitions()
    for clause in definition.clauses
]


def _source(component: str, part: str) -> str:
    """Return the source of a module, or of all modules of a package."""
    module = import_module(f"{registry.__package__}.{component}.{part}")
    inner = pkgutil.iter_modules(getattr(module, "__path__", []))
    modules = [import_module(f"{module.__name__}.{one.name}") for one in inner]
    return "".join(map(inspect.getsource, [module, *modules]))


@pytest.mark.parametrize(("component", "clause"), _CLAUSES)
def test_a_clause_is_judged_where_its_table_says_so(component: str, clause: Clause) -> None:
    named = f"{type(clause).__name__}.{clause.name}"
    of_component = f"{registry.__package__}.{component}"
    driven = [
        part for part in ("model", "oracle", "answers") if find_spec(f"{of_component}.{part}")
    ]
    for wire, parts in ((Wire.RECORDED, ["history"]), (Wire.DRIVEN, driven)):
        judged = clause.judges & wire
        assert bool(judged) == any(named in _source(component, part) for part in parts), parts
    assert bool(clause.why_alone) == (clause.judges is not Wire.BOTH)
