"""The programs of the purgatory for the model checker."""

from wheelproof_explore.program import Program
from wheelproof_lab.worlds.purgatory.completion import COMPLETION, FAILING_COMPLETION
from wheelproof_lab.worlds.purgatory.on_timer import (
    FAILING_REAPER,
    LEFT_IN_TIMER,
    ON_TIMER,
    REAPER_FAULTS,
)
from wheelproof_lab.worlds.purgatory.programs import (
    FAILING_PURGATORY,
    PAIRS,
    PURGATORY,
)
from wheelproof_lab.worlds.purgatory.users import (
    EXCLUSIVE_EXPIRY,
    FAILING_USERS,
    PURGATORY_USERS,
    USER_DEADLOCKS,
)

PROGRAMS: tuple[Program, ...] = (*COMPLETION, *PURGATORY, *ON_TIMER, *PURGATORY_USERS)
FAILING: tuple[Program, ...] = (
    *FAILING_COMPLETION,
    *FAILING_PURGATORY,
    *FAILING_USERS,
    FAILING_REAPER,
    EXCLUSIVE_EXPIRY,
    *USER_DEADLOCKS,
    LEFT_IN_TIMER,
)

__all__ = ["FAILING", "PAIRS", "PROGRAMS", "REAPER_FAULTS"]
