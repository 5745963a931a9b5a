"""What the model checker explores of the purgatory."""

from wheelproof_spec.components.purgatory.programs.bugs import (
    EXCLUSIVE_EXPIRY,
    purgatory_bug_programs,
)
from wheelproof_spec.components.purgatory.programs.completion import COMPLETION
from wheelproof_spec.components.purgatory.programs.on_timer import LEFT_IN_TIMER, ON_TIMER
from wheelproof_spec.components.purgatory.programs.purgatory import PURGATORY
from wheelproof_spec.components.purgatory.programs.users import PURGATORY_USERS
from wheelproof_spec.engines.explore.program import Program

PROGRAMS: tuple[Program, ...] = (*COMPLETION, *PURGATORY, *ON_TIMER, *PURGATORY_USERS)
FAILING: tuple[Program, ...] = (*purgatory_bug_programs().values(), EXCLUSIVE_EXPIRY, LEFT_IN_TIMER)
