"""The vocabulary of white-box traces: the steps of SystemTimer.tla, and their observations."""

from dataclasses import dataclass
from typing import Annotated

from wheelproof_spec.base.codec.vocabulary import ABSENT, About, Absent, Count, Name, Time
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


ACTIONS = (
    ActionDefinition(action="LockRead", about="an adder takes the read side of the lock"),
    ActionDefinition(action="Refuse", about="an adder finds the timer closed and gives up"),
    ActionDefinition(action="ReadClock", about="an adder reads the clock", obs=ClockRead),
    ActionDefinition(action="Bind", about="the task gets its entry", args=Binding, obs=Bound),
    ActionDefinition(action="Insert", about="the entry's bucket is chosen", obs=InsertSeen),
    ActionDefinition(action="Link", about="the entry is linked", obs=BucketSeen),
    ActionDefinition(
        action="SetExpiration", about="the bucket's expiration is set", obs=ExpirationSet
    ),
    ActionDefinition(action="Offer", about="the bucket goes into the queue", obs=BucketSeen),
    ActionDefinition(action="Submit", about="the task is claimed and submitted", obs=Claimed),
    ActionDefinition(action="UnlockRead", about="an adder is done"),
    ActionDefinition(
        action="CancelRemove", about="cancel takes the entry out", args=TaskNamed, obs=Found
    ),
    ActionDefinition(action="CancelUnbind", about="cancel unbinds the task", obs=Unbound),
    ActionDefinition(action="StartAdvance", about="advance_clock is called"),
    ActionDefinition(action="AwaitDue", about="the wait for something due has ended"),
    ActionDefinition(
        action="PollOutside", about="a bucket is taken before the lock", obs=BucketSeen
    ),
    ActionDefinition(action="TimeOut", about="nothing was due in time; no lock was taken"),
    ActionDefinition(action="LockWrite", about="the write side of the lock is taken"),
    ActionDefinition(action="Poll", about="a bucket is taken from the queue", obs=BucketSeen),
    ActionDefinition(action="PollNothing", about="nothing in the queue is due"),
    ActionDefinition(action="AdvanceClock", about="the wheels' clocks move", obs=WheelClock),
    ActionDefinition(action="FlushLock", about="the bucket's monitor is taken"),
    ActionDefinition(action="FlushEntry", about="its first entry is taken out", obs=EntryTaken),
    ActionDefinition(action="FlushEnd", about="it is empty and becomes idle"),
    ActionDefinition(action="UnlockWrite", about="advance_clock is done with the lock"),
    ActionDefinition(action="CloseLock", about="close takes the write side and marks the timer"),
    ActionDefinition(action="CloseUnlock", about="close gives the write side back"),
    ActionDefinition(action="Shutdown", about="close shuts the executor"),
)
"""The actions that a trace of the timer may have: those of SystemTimer.tla."""
