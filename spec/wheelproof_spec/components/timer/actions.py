"""The vocabulary of white-box traces: the steps of SystemTimer.tla, and their observations."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, cast

from wheelproof_spec.base.codec.tables import read_table
from wheelproof_spec.base.codec.vocabulary import ABSENT, About, Absent, Count, Name, Nothing, Time
from wheelproof_spec.base.component import ActionDefinition


@dataclass(frozen=True, slots=True, kw_only=True)
class Binding:
    """The task that is bound to a new entry."""

    task: Annotated[Name, About("the task")]
    delay_ms: Annotated[Time, About("its delay in ms; negative means at once")]


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskNamed:
    """The task that a step is about."""

    task: Annotated[Name, About("the task")]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClockRead:
    """The clock reading of a thread."""

    now_ms: Annotated[Time | Absent, About("the reading in ms; `t_ms` says it as well")] = ABSENT


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """The entry that a task was bound to."""

    expiration_ms: Annotated[Time | Absent, About("its deadline in ms")] = ABSENT


@dataclass(frozen=True, slots=True, kw_only=True)
class BucketSeen:
    """The bucket that a step is about."""

    level: Annotated[Count | Absent, About("its wheel, 0 for the lowest")] = ABSENT
    bucket: Annotated[Count | Absent, About("its index in that wheel")] = ABSENT
    expiration_ms: Annotated[Time | Absent, About("when it expires, in ms")] = ABSENT


@dataclass(frozen=True, slots=True, kw_only=True)
class InsertSeen:
    """The place at which an entry is inserted."""

    taken: Annotated[
        bool | Absent, About("whether a wheel takes it; else it is due or cancelled")
    ] = ABSENT
    level: Annotated[Count | Absent, About("the wheel that takes it")] = ABSENT
    bucket: Annotated[Count | Absent, About("the bucket that takes it")] = ABSENT


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpirationSet:
    """A get_and_set of a bucket's expiration."""

    expiration_ms: Annotated[Time | Absent, About("the new value in ms")] = ABSENT
    changed: Annotated[bool | Absent, About("whether it was different before")] = ABSENT


@dataclass(frozen=True, slots=True, kw_only=True)
class Claimed:
    """An attempt to submit."""

    submitted: Annotated[
        bool | Absent, About("whether the task was still bound, and so was submitted")
    ] = ABSENT


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """An attempt to cancel."""

    found: Annotated[bool | Absent, About("whether the task was bound to an entry")] = ABSENT


@dataclass(frozen=True, slots=True, kw_only=True)
class Unbound:
    """The end of a cancel."""

    cancelled: Annotated[bool | Absent, About("what cancel returns")] = ABSENT


@dataclass(frozen=True, slots=True, kw_only=True)
class WheelClock:
    """The clock of the lowest wheel."""

    wheel_ms: Annotated[Time | Absent, About("what it shows afterwards, in ms")] = ABSENT


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryTaken:
    """The entry at the head of a bucket."""

    task: Annotated[Name | Absent, About("its task")] = ABSENT


_CLASSES: Mapping[str, type[object]] = {**globals(), "": Nothing}
STEPS = cast(Mapping[str, Mapping[str, str]], read_table(__file__, "steps.toml"))

ACTIONS = tuple(
    ActionDefinition(
        action=action,
        about=step["about"],
        args=_CLASSES[step.get("args", "")],
        obs=_CLASSES[step.get("obs", "")],
    )
    for action, step in STEPS.items()
)
"""The actions that a trace of the timer may have: those of SystemTimer.tla."""
