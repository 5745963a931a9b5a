"""The timer: what callers ask of it, and the steps of SystemTimer.tla."""

from dataclasses import dataclass
from typing import Annotated, Literal

from wheelproof_spec.base.codec.definitions import (
    ActionDefinition,
    CallDefinition,
    ComponentDefinition,
)
from wheelproof_spec.base.codec.vocabulary import ABSENT, About, Absent, Count, Name, Positive, Time


@dataclass(frozen=True, slots=True, kw_only=True)
class TimerSettings:
    """How the timer was made and how it was used."""

    tick_ms: Annotated[Positive, About("the tick of the lowest wheel, in ms")]
    wheel_size: Annotated[Positive | Absent, About("buckets a wheel")] = ABSENT
    start_ms: Annotated[Time | Absent, About("where the clock begins, in ms; 0 if absent")] = ABSENT
    runs: Annotated[
        Literal["inline", "later"] | Absent,
        About(
            "`inline`: what an advance or an add submits has begun to run when it returns. "
            "`later` (the default): an executor runs it when it can"
        ),
    ] = ABSENT
    lateness_ms: Annotated[
        Count | Absent,
        About("how late a task may begin to run by a real clock; absent: lateness is not judged"),
    ] = ABSENT
    design: Annotated[
        Literal["reference", "kafka"] | Absent,
        About(
            "for traces: whether buckets are polled under the write lock (`reference`, the "
            "default) or the first one before it (semantics.md 1.5)"
        ),
    ] = ABSENT


@dataclass(frozen=True, slots=True, kw_only=True)
class AddAsked:
    """add is called."""

    task: Annotated[Name, About("the task")]
    delay_ms: Annotated[Time, About("its delay in ms; negative means at once")]


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskAsked:
    """Something is asked of one task, or happens to it."""

    task: Annotated[Name, About("the task")]


@dataclass(frozen=True, slots=True, kw_only=True)
class CancelAnswer:
    """cancel returned."""

    cancelled: Annotated[bool | Absent, About("whether this call prevented the run")] = ABSENT


@dataclass(frozen=True, slots=True, kw_only=True)
class AdvanceAsked:
    """advance_clock is called."""

    timeout_ms: Annotated[Count | Absent, About("the longest wait in ms")] = ABSENT


@dataclass(frozen=True, slots=True, kw_only=True)
class AdvanceAnswer:
    """advance_clock returned."""

    expired: Annotated[bool | Absent, About("whether a bucket was taken")] = ABSENT


@dataclass(frozen=True, slots=True, kw_only=True)
class TickAsked:
    """A virtual clock is moved."""

    to_ms: Annotated[Time, About("what it shows then, in ms; never less than before")]


@dataclass(frozen=True, slots=True, kw_only=True)
class SizeAnswer:
    """size returned."""

    size: Annotated[Count, About("the number of tasks that wait")]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClockRead:
    """What a thread read from the clock."""

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
    """Where an entry goes."""

    taken: Annotated[
        bool | Absent, About("whether a wheel takes it; else it is due or cancelled")
    ] = ABSENT
    level: Annotated[Count | Absent, About("the wheel that takes it")] = ABSENT
    bucket: Annotated[Count | Absent, About("the bucket that takes it")] = ABSENT


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpirationSet:
    """get_and_set of a bucket's expiration."""

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
class Cancelled:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Fired:
    """What has to have run."""

    fired: Annotated[
        tuple[Name, ...],
        About("the tasks that ran since the last step that says which ran, in order"),
    ]
    any_order: Annotated[
        bool | Absent, About("whether their order is open (semantics.md 1.9); false if absent")
    ] = ABSENT


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """Whether a cancel succeeded."""

    ok: Annotated[bool, About("what cancel returns")]


@dataclass(frozen=True, slots=True, kw_only=True)
class AddStep:
    """Add a task; what is due at once may run."""

    do: Literal["add"]
    task: Annotated[Name, About("the task")]
    delay_ms: Annotated[Time, About("its delay in ms")]
    expect: Fired | Absent = ABSENT


@dataclass(frozen=True, slots=True, kw_only=True)
class CancelStep:
    """Cancel a task."""

    do: Literal["cancel"]
    task: Annotated[Name, About("the task")]
    expect: Done | Absent = ABSENT


@dataclass(frozen=True, slots=True, kw_only=True)
class AdvanceStep:
    """Move the clock, then advance until nothing is due."""

    do: Literal["advance"]
    to_ms: Annotated[Time, About("what the clock shows then, in ms")]
    expect: Fired | Absent = ABSENT


@dataclass(frozen=True, slots=True, kw_only=True)
class SizeStep:
    """Ask for the size."""

    do: Literal["size"]
    expect: SizeAnswer | Absent = ABSENT


ADVANCE = CallDefinition(
    f="advance", about="the timer advances", asked=AdvanceAsked, answered=AdvanceAnswer
)
TICK = CallDefinition(f="tick", about="a virtual clock moves", asked=TickAsked)

_CALLS = (
    CallDefinition(f="add", about="a task is added", asked=AddAsked),
    CallDefinition(f="cancel", about="a task is cancelled", asked=TaskAsked, answered=CancelAnswer),
    ADVANCE,
    TICK,
    CallDefinition(
        f="run",
        about="a task runs: `invoke` when it begins, `ok` when it ends",
        asked=TaskAsked,
        happens=True,
    ),
    CallDefinition(f="size", about="the number of waiting tasks", answered=SizeAnswer),
    CallDefinition(f="close", about="the component is closed"),
)

_ACTIONS = (
    ActionDefinition(action="LockRead", about="an adder takes the read side of the lock"),
    ActionDefinition(action="Refuse", about="an adder finds the timer closed and gives up"),
    ActionDefinition(action="ReadClock", about="an adder reads the clock", obs=ClockRead),
    ActionDefinition(action="Bind", about="the task gets its entry", args=AddAsked, obs=Bound),
    ActionDefinition(action="Insert", about="the entry's bucket is chosen", obs=InsertSeen),
    ActionDefinition(action="Link", about="the entry is linked", obs=BucketSeen),
    ActionDefinition(
        action="SetExpiration", about="the bucket's expiration is set", obs=ExpirationSet
    ),
    ActionDefinition(action="Offer", about="the bucket goes into the queue", obs=BucketSeen),
    ActionDefinition(action="Submit", about="the task is claimed and submitted", obs=Claimed),
    ActionDefinition(action="UnlockRead", about="an adder is done"),
    ActionDefinition(
        action="CancelRemove", about="cancel takes the entry out", args=TaskAsked, obs=Found
    ),
    ActionDefinition(action="CancelUnbind", about="cancel unbinds the task", obs=Cancelled),
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

TIMER = ComponentDefinition(
    name="timer",
    config=TimerSettings,
    calls=_CALLS,
    actions=_ACTIONS,
    steps=(AddStep, CancelStep, AdvanceStep, SizeStep),
    module="SystemTimer",
)
