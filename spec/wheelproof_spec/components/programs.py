"""The programs that come with the checker, by name, and those of users."""

import importlib
from dataclasses import replace

from wheelproof_spec.base.errors import InputRejectedError, UsageError
from wheelproof_spec.components.accumulator.programs import RECORD_ACCUMULATOR
from wheelproof_spec.components.buffer_pool.programs import BUFFER_POOL
from wheelproof_spec.components.failing_programs import failing_graph_programs, failing_programs
from wheelproof_spec.components.purgatory.programs.completion import COMPLETION
from wheelproof_spec.components.purgatory.programs.purgatory import PURGATORY
from wheelproof_spec.components.purgatory.programs.users import PURGATORY_USERS
from wheelproof_spec.components.replication.programs import REPLICATION
from wheelproof_spec.components.timer.programs.entry_migration import ENTRY_MIGRATION
from wheelproof_spec.components.timer.programs.for_ever import TIMER_FOR_EVER
from wheelproof_spec.components.timer.programs.linearizable import LINEARIZABLE
from wheelproof_spec.components.timer.programs.system_timer import SYSTEM_TIMER
from wheelproof_spec.components.timer.programs.world import TIMER_WORLD
from wheelproof_spec.engines.explore.program import Program
from wheelproof_spec.engines.explore.programs.classics import CLASSICS
from wheelproof_spec.engines.explore.programs.for_ever import FOR_EVER
from wheelproof_spec.engines.explore.programs.state_queue import MENDED_STATE_QUEUE
from wheelproof_spec.engines.explore.programs.waiting import WAITING


def passing_programs() -> tuple[Program, ...]:
    """Return every program that has to pass, component by component."""
    return (
        *CLASSICS,
        *WAITING,
        MENDED_STATE_QUEUE,
        *ENTRY_MIGRATION,
        *SYSTEM_TIMER,
        *TIMER_WORLD,
        *LINEARIZABLE,
        *COMPLETION,
        *PURGATORY,
        *PURGATORY_USERS,
        *REPLICATION,
        *BUFFER_POOL,
        *RECORD_ACCUMULATOR,
    )


def graph_programs() -> tuple[Program, ...]:
    """Return every program that has to pass in graph mode, which alone can judge it."""
    return (*FOR_EVER, *TIMER_FOR_EVER)


def find_program(name: str) -> Program:
    """Return the program of this name, or the object that `module:attribute` names.

    Raises UsageError, which names the programs there are, and InputRejectedError for a module that
    cannot be imported or has no such program.
    """
    if ":" in name:
        return _imported(name)
    known = (*passing_programs(), *failing_programs(), *graph_programs(), *failing_graph_programs())
    programs = {program.name: program for program in known}
    if name not in programs:
        raise UsageError(
            f"no program {name!r}; there are: {', '.join(programs)}; "
            "your own is named module:attribute"
        )
    return programs[name]


def _imported(name: str) -> Program:
    module, _, attribute = name.partition(":")
    remedy = "name an importable module and a Program in it, as module:attribute"
    try:
        program: object = getattr(importlib.import_module(module), attribute, None)
    except Exception as error:
        raise InputRejectedError(name, None, f"{type(error).__name__}: {error}", remedy) from error
    if not isinstance(program, Program):
        raise InputRejectedError(name, None, f"{attribute!r} is no Program", remedy)
    # Under this name it is found again, by whoever repeats a run.
    return replace(program, name=name)
