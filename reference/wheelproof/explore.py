"""The model checker, for anybody's Python: needs `pip install 'wheelproof[explore]'`."""

from wheelproof_spec.engines.explore.library import (
    InterleavingError,
    check,
    check_drawn,
    every_interleaving,
    explore,
)
from wheelproof_spec.engines.explore.program import Program, Scenario, Settings, TimeMode

__all__ = [
    "InterleavingError",
    "Program",
    "Scenario",
    "Settings",
    "TimeMode",
    "check",
    "check_drawn",
    "every_interleaving",
    "explore",
]
