"""Programs that have to fail: known bugs brought back, and classic mistakes."""

from functools import partial

from wheelproof_spec.components.bugs import TIMER_BUGS, find_bug
from wheelproof_spec.components.producer_bug_programs import producer_bug_programs
from wheelproof_spec.components.purgatory.programs.bugs import (
    EXCLUSIVE_EXPIRY,
    purgatory_bug_programs,
)
from wheelproof_spec.components.replication.bug_programs import replication_bug_programs
from wheelproof_spec.components.timer.programs.entry_migration import ENTRY_BUILDERS, entry_program
from wheelproof_spec.components.timer.programs.for_ever import TIMER_FOR_EVER_BUGS
from wheelproof_spec.components.timer.programs.linearizable import NOT_LINEARIZABLE
from wheelproof_spec.components.timer.programs.system_timer import TIMER_BUILDERS, timer_program
from wheelproof_spec.engines.explore.program import Program
from wheelproof_spec.engines.explore.programs.classics import lost_update, philosophers
from wheelproof_spec.engines.explore.programs.for_ever import FOR_EVER_BUGS
from wheelproof_spec.engines.explore.programs.making import program
from wheelproof_spec.engines.explore.programs.state_queue import STATE_QUEUE_OF_TLC
from wheelproof_spec.engines.explore.programs.waiting import event

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
    """Return a program for each known bug of the timer that the checker finds, by its id."""
    programs = {
        bug: entry_program(
            f"bug/{bug}", ENTRY_BUILDERS[name], find_bug(TIMER_BUGS, bug).bucket_class
        )
        for bug, name in _ENTRY_BUGS.items()
    }
    for bug, name in _TIMER_BUGS.items():
        timer_class = find_bug(TIMER_BUGS, bug).timer_class
        programs[bug] = timer_program(f"bug/{bug}", TIMER_BUILDERS[name], timer_class)
    return programs


def failing_programs() -> tuple[Program, ...]:
    """Return every program that has to fail."""
    return (
        program("lost-update", lost_update),
        program("philosophers-left-first", partial(philosophers, 4, ordered=False)),
        program("event-tested-early", partial(event, mended=False)),
        STATE_QUEUE_OF_TLC,
        *NOT_LINEARIZABLE,
        *bug_programs().values(),
        *producer_bug_programs().values(),
        *purgatory_bug_programs().values(),
        *replication_bug_programs().values(),
        EXCLUSIVE_EXPIRY,
    )


def failing_graph_programs() -> tuple[Program, ...]:
    """Return every program that has to fail in graph mode, which alone can judge it."""
    return (*FOR_EVER_BUGS, *TIMER_FOR_EVER_BUGS)
