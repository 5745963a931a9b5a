"""Programs that have to fail: the known bugs of the replica manager."""

from functools import partial

from wheelproof_spec.base.known_bug import (
    find_bug,
)
from wheelproof_spec.components.replication.bug_table import (
    BUGS as REPLICATION_BUGS,
)
from wheelproof_spec.components.replication.programs import append_and_consume, produce_and_lose
from wheelproof_spec.engines.explore.program import Program
from wheelproof_spec.engines.explore.programs.making import program

_BUILDERS = {
    "silent-append": append_and_consume,
    "epoch-blind-acknowledgement": produce_and_lose,
}


def replication_bug_programs() -> dict[str, Program]:
    """Return a program for each known bug that the checker finds, by the bug's id."""
    return {
        bug: program(f"bug/{bug}", partial(build, find_bug(REPLICATION_BUGS, bug).manager_class))
        for bug, build in _BUILDERS.items()
    }
