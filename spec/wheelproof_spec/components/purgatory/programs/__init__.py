"""The programs of the purgatory for the model checker."""

from wheelproof_spec.components.purgatory.programs.completion import COMPLETION, FAILING_COMPLETION
from wheelproof_spec.components.purgatory.programs.on_timer import LEFT_IN_TIMER, ON_TIMER
from wheelproof_spec.components.purgatory.programs.purgatory import (
    FAILING_PURGATORY,
    PAIRS,
    PURGATORY,
)
from wheelproof_spec.components.purgatory.programs.users import (
    EXCLUSIVE_EXPIRY,
    FAILING_USERS,
    PURGATORY_USERS,
)
from wheelproof_spec.engines.explore.program import Program

PROGRAMS: tuple[Program, ...] = (*COMPLETION, *PURGATORY, *ON_TIMER, *PURGATORY_USERS)
FAILING: tuple[Program, ...] = (
    *FAILING_COMPLETION,
    *FAILING_PURGATORY,
    *FAILING_USERS,
    EXCLUSIVE_EXPIRY,
    LEFT_IN_TIMER,
)

__all__ = ["FAILING", "PAIRS", "PROGRAMS"]
