"""The program that a user writes: a function that sets up the threads of one run.

def lost_update() -> Scenario:
    counter = sync.volatile(0, "counter")

    def increment() -> None:
        counter.set(counter.get() + 1)

    def check() -> None:
        assert counter.get() == 2

    return Scenario(threads={"a": increment, "b": increment}, check=check)

PROGRAM = Program(name="lost-update", summary="two increments", build=lost_update)

This package is the public interface for programs: import the names from here.
"""

from wheelproof_explore.fields.plain_fields import PlainField
from wheelproof_explore.program.faults import Faults
from wheelproof_explore.program.inside import (
    assume,
    choose,
    forget,
    observer,
    recorded,
)
from wheelproof_explore.program.program import Program
from wheelproof_explore.program.properties import LeadsTo, Predicate, Wakes
from wheelproof_explore.program.public_operations import (
    NotLinearizableError,
    PublicOperations,
)
from wheelproof_explore.program.scenario import (
    Action,
    Body,
    CheckedHistory,
    Invariant,
    Scenario,
    raises_if_wrong,
)
from wheelproof_explore.program.signals import Signal
from wheelproof_explore.runtime.settings import DEFAULT_SETTINGS, Settings, TimeMode

__all__ = [
    "DEFAULT_SETTINGS",
    "Action",
    "Body",
    "CheckedHistory",
    "Faults",
    "Invariant",
    "LeadsTo",
    "NotLinearizableError",
    "PlainField",
    "Predicate",
    "Program",
    "PublicOperations",
    "Scenario",
    "Settings",
    "Signal",
    "TimeMode",
    "Wakes",
    "assume",
    "choose",
    "forget",
    "observer",
    "raises_if_wrong",
    "recorded",
]
