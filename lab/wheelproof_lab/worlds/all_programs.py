"""All programs of the laboratory, by what they must do."""

from collections.abc import Mapping, Sequence
from difflib import get_close_matches

from wheelproof.producer import BufferPool, RecordAccumulator
from wheelproof.purgatory import DelayedOperationPurgatory
from wheelproof.replication import ReplicaManager
from wheelproof.timer import SystemTimer
from wheelproof_explore.program import Program
from wheelproof_lab.worlds import catalog, purgatory, timer
from wheelproof_lab.worlds.accumulator import ended_batches
from wheelproof_lab.worlds.accumulator import programs as accumulator
from wheelproof_lab.worlds.accumulator import signals as accumulator_signals
from wheelproof_lab.worlds.accumulator.bench import SurvivedAccumulator
from wheelproof_lab.worlds.buffer_pool import programs as buffer_pool
from wheelproof_lab.worlds.buffer_pool import signals as pool_signals
from wheelproof_lab.worlds.drawing import PREFIX
from wheelproof_lab.worlds.drawn import DRAWN
from wheelproof_lab.worlds.purgatory import programs as purgatory_programs
from wheelproof_lab.worlds.purgatory import signals as purgatory_signals
from wheelproof_lab.worlds.replication import programs as replication
from wheelproof_lab.worlds.replication import signals as replication_signals
from wheelproof_lab.worlds.timer import signals as timer_signals
from wheelproof_lab.worlds.timer import system_timer
from wheelproof_spec.base.errors import UsageError

PASSING: Mapping[str, Sequence[Program]] = {
    "timer": timer.PROGRAMS,
    "purgatory": purgatory.PROGRAMS,
    "replication": replication.PROGRAMS,
    "buffer_pool": buffer_pool.PROGRAMS,
    "accumulator": accumulator.PROGRAMS,
}
"""The programs of each component that have to pass."""
PAIRS: Mapping[str, Sequence[Program]] = {
    "timer": timer.PAIRS,
    "purgatory": purgatory.PAIRS,
    "replication": replication.PAIRS,
    "buffer_pool": buffer_pool.PAIRS,
    "accumulator": (*accumulator.PAIRS, *ended_batches.ENDS),
}
"""The programs of each component that let two operations meet; they have to pass."""
FAULTS: Mapping[str, Sequence[Program]] = {
    "timer": (*system_timer.faults_with(SystemTimer), *timer.WORLD_FAULTS),
    "purgatory": (
        *purgatory_programs.faults_with(DelayedOperationPurgatory),
        *purgatory.REAPER_FAULTS,
    ),
    "replication": replication.faults_with(ReplicaManager),
    "buffer_pool": buffer_pool.faults_with(BufferPool),
    "accumulator": accumulator.faults_with(SurvivedAccumulator),
}
"""The programs and the pairs in an environment of which one call may fail; they have to pass."""
SIGNALS: Mapping[str, Sequence[Program]] = {
    "timer": timer_signals.signals_with(SystemTimer),
    "purgatory": purgatory_signals.signals_with(DelayedOperationPurgatory),
    "replication": replication_signals.signals_with(ReplicaManager),
    "buffer_pool": pool_signals.signals_with(BufferPool),
    "accumulator": accumulator_signals.signals_with(RecordAccumulator),
}
"""The programs of each component in which a signal may end a call anywhere; they have to pass."""
FAILING: Mapping[str, Sequence[Program]] = {
    "timer": timer.FAILING,
    "purgatory": purgatory.FAILING,
    "replication": replication.FAILING,
    "buffer_pool": buffer_pool.FAILING,
    "accumulator": accumulator.FAILING,
}
"""The programs of each component that have to fail: known bugs put back."""

_PASS, _FAIL = "pass", "fail"
BY_DUTY: Mapping[str, Sequence[Program]] = {
    _PASS: (*catalog.PASSING, *(program for each in PASSING.values() for program in each)),
    _FAIL: (*catalog.FAILING, *(program for each in FAILING.values() for program in each)),
    "pass with --engine graph": (*catalog.FOR_EVER, *timer.GRAPH_PROGRAMS),
    "fail with --engine graph": (*catalog.FOR_EVER_BUGS, *timer.FAILING_GRAPH_PROGRAMS),
}
"""All programs but pairs, faults, signals and those that are drawn.

Those of the last two only graph mode can judge.
"""


def passing_programs() -> Sequence[Program]:
    """Return every program that has to pass, first the programs of no component."""
    return BY_DUTY[_PASS]


def failing_programs() -> Sequence[Program]:
    """Return every program that has to fail: classic mistakes, and known bugs put back."""
    return BY_DUTY[_FAIL]


def find_program(name: str) -> Program:
    """Return the program of this name; raises UsageError for an unknown name."""
    component, _, seed = name.removeprefix(PREFIX).rpartition("-")
    if name.startswith(PREFIX) and component in DRAWN and seed.isdecimal():
        return DRAWN[component].program(int(seed))
    groups = (*BY_DUTY.values(), *PAIRS.values(), *FAULTS.values(), *SIGNALS.values())
    known = [program for group in groups for program in group]
    programs = {program.name: program for program in known}
    if name not in programs:
        near = get_close_matches(name, programs, n=1)
        meant = f"did you mean {near[0]}? " if near else ""
        raise UsageError(
            f"no program {name!r}; {meant}wheelproof explore --list names all; your own is named "
            "module:attribute"
        )
    return programs[name]
