"""What the model checker explores of the timer."""

from wheelproof_spec.base.known_bug import find_bug
from wheelproof_spec.components.timer.bug_table import (
    BUGS,
)
from wheelproof_spec.components.timer.programs.entry_migration import (
    ENTRY_BUILDERS,
    ENTRY_MIGRATION,
    entry_program,
)
from wheelproof_spec.components.timer.programs.for_ever import (
    TIMER_FOR_EVER,
    TIMER_FOR_EVER_BUGS,
)
from wheelproof_spec.components.timer.programs.linearizable import LINEARIZABLE, NOT_LINEARIZABLE
from wheelproof_spec.components.timer.programs.system_timer import (
    SYSTEM_TIMER,
    TIMER_BUILDERS,
    timer_program,
)
from wheelproof_spec.components.timer.programs.world import TIMER_WORLD
from wheelproof_spec.engines.explore.program import Program

_ENTRY_BUGS = {
    "KAFKA-2226/stale-list": "entry-cancel-flush-add",
    "entry-monitor-dropped": "entry-two-lists",
}
_TIMER_BUGS = {
    "KAFKA-2226/no-cancelled-test": "timer-cancel-cascade",
    "KAFKA-2112": "timer-overflow-adds",
    "advance-after-flush": "timer-cancel-cascade",
    "poll-outside-lock": "timer-two-adds-advance",
    "test-then-submit": "timer-cancel-advance",
}


def bug_programs() -> dict[str, Program]:
    """Return a program for each known bug that the checker finds, by its id."""
    programs = {
        bug: entry_program(f"bug/{bug}", ENTRY_BUILDERS[name], find_bug(BUGS, bug).bucket_class)
        for bug, name in _ENTRY_BUGS.items()
    }
    for bug, name in _TIMER_BUGS.items():
        timer_class = find_bug(BUGS, bug).timer_class
        programs[bug] = timer_program(f"bug/{bug}", TIMER_BUILDERS[name], timer_class)
    return programs


PROGRAMS: tuple[Program, ...] = (*ENTRY_MIGRATION, *SYSTEM_TIMER, *TIMER_WORLD, *LINEARIZABLE)
FAILING: tuple[Program, ...] = (*NOT_LINEARIZABLE, *bug_programs().values())
GRAPH_PROGRAMS: tuple[Program, ...] = TIMER_FOR_EVER
FAILING_GRAPH_PROGRAMS: tuple[Program, ...] = TIMER_FOR_EVER_BUGS
