"""The timer programs that the model checker explores."""

from wheelproof_spec.components.timer.programs.entry_migration import (
    ENTRY_MIGRATION,
    FAILING_ENTRY_MIGRATION,
)
from wheelproof_spec.components.timer.programs.for_ever import TIMER_FOR_EVER, TIMER_FOR_EVER_BUGS
from wheelproof_spec.components.timer.programs.linearizable import LINEARIZABLE, NOT_LINEARIZABLE
from wheelproof_spec.components.timer.programs.system_timer import (
    FAILING_SYSTEM_TIMER,
    PAIRS,
    SYSTEM_TIMER,
)
from wheelproof_spec.components.timer.programs.world import TIMER_WORLD
from wheelproof_spec.engines.explore.program import Program

PROGRAMS: tuple[Program, ...] = (*ENTRY_MIGRATION, *SYSTEM_TIMER, *TIMER_WORLD, *LINEARIZABLE)
BUG_PROGRAMS: tuple[Program, ...] = (*FAILING_ENTRY_MIGRATION, *FAILING_SYSTEM_TIMER)
"""A program for each known bug that the checker finds."""
FAILING: tuple[Program, ...] = (*NOT_LINEARIZABLE, *BUG_PROGRAMS)
GRAPH_PROGRAMS: tuple[Program, ...] = TIMER_FOR_EVER
FAILING_GRAPH_PROGRAMS: tuple[Program, ...] = TIMER_FOR_EVER_BUGS

__all__ = [
    "BUG_PROGRAMS",
    "FAILING",
    "FAILING_GRAPH_PROGRAMS",
    "GRAPH_PROGRAMS",
    "PAIRS",
    "PROGRAMS",
]
