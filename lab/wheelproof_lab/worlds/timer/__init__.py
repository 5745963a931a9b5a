"""The timer programs that the model checker explores."""

from wheelproof_explore.program import Program
from wheelproof_lab.worlds.timer.entry_migration import (
    ENTRY_MIGRATION,
    FAILING_ENTRY_MIGRATION,
)
from wheelproof_lab.worlds.timer.for_ever import TIMER_FOR_EVER, TIMER_FOR_EVER_BUGS
from wheelproof_lab.worlds.timer.linearizable import LINEARIZABLE, NOT_LINEARIZABLE
from wheelproof_lab.worlds.timer.system_timer import (
    FAILING_SYSTEM_TIMER,
    PAIRS,
    SYSTEM_TIMER,
)
from wheelproof_lab.worlds.timer.world import FAILING_WORLD, TIMER_WORLD, WORLD_FAULTS

PROGRAMS: tuple[Program, ...] = (*ENTRY_MIGRATION, *SYSTEM_TIMER, *TIMER_WORLD, *LINEARIZABLE)
BUG_PROGRAMS: tuple[Program, ...] = (
    *FAILING_ENTRY_MIGRATION,
    *FAILING_SYSTEM_TIMER,
    *FAILING_WORLD,
)
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
    "WORLD_FAULTS",
]
