"""The model checker for concurrent Python: runs a program under every interleaving.

Needs greenlet: ``pip install '.[explore]'`` in a clone. The names below are what a program and its
tests use.

Every lock, cell, condition and thread of a program is replaced by a model whose steps a scheduler
orders. An engine chooses the order of each run, until the runs cover what it promises to cover.

`program` is the public interface for writing programs, `explorer` the one for exploring them, and
`pytest_plugin` has the fixture. Each package below imports only those before it: failures and
substrates, runtime, fields, program, runs, strategies, counterexamples. `patched`, which runs code
that is written against `threading`, imports `program`.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from wheelproof_explore.library import (
        InterleavingError,
        check,
        check_drawn,
        every_interleaving,
        explore,
    )
    from wheelproof_explore.program import Program, Scenario, Settings, TimeMode

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


def __getattr__(name: str) -> object:
    """Import the public names once one is used: pytest loads the plugin at each of its starts."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from wheelproof_explore import library

    return vars(library)[name]
