"""The timer as a component: its calls, its observations, and its clauses."""

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Annotated, ClassVar, Literal, Self

from wheelproof_spec.base.calls import Advance, AdvanceClock, Advanced, Close, Reset, Tick
from wheelproof_spec.base.clause import Clause, Said
from wheelproof_spec.base.codec.vocabulary import (
    ABSENT,
    RECORDED,
    REQUIRED,
    About,
    Absent,
    Count,
    Name,
    Positive,
    Time,
    Wire,
)
from wheelproof_spec.base.component import Call, ComponentDefinition, Config, Operation, VectorSteps
from wheelproof_spec.base.contract import CONTRACTS, is_contract, strongest_first
from wheelproof_spec.components.timer.actions import ACTIONS

TaskId = str
"""The name of a task."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TimerConfig(Config):
    """The configuration of a timer, and how a recorded run used it."""

    component: ClassVar[str] = "timer"

    tick_ms: Annotated[Positive, REQUIRED, About("the tick of the lowest wheel, in ms")] = 1
    wheel_size: Annotated[Positive, About("buckets a wheel; 20 if absent")] = 20
    start_ms: Annotated[Time, About("what its clock shows first, in ms; 0 if absent")] = 0
    runs: Annotated[
        Literal["inline", "later"] | Absent,
        RECORDED,
        About(
            "`inline`: a task that an advance or an add submits has begun to run when that call "
            "returns. `later` (the default): an executor runs the task when it can"
        ),
    ] = ABSENT
    run_order: Annotated[
        Literal["promised", "open"] | Absent,
        RECORDED,
        About(
            "`promised`: tasks begin to run in the order of their due times, on however many "
            "threads. `open`: the order is not judged. Absent: the order is judged if the history "
            "has its end and one thread runs all of its tasks"
        ),
    ] = ABSENT
    lateness_ms: Annotated[
        Count | Absent,
        RECORDED,
        About(
            "how late a task may begin to run by a real clock. The time in which its thread runs "
            "earlier tasks does not count, if their ends are recorded. Absent: lateness is not "
            "judged"
        ),
    ] = ABSENT
    design: Annotated[
        Literal["reference", "kafka"] | Absent,
        RECORDED,
        About(
            "for traces. `reference` (the default): all buckets are polled under the write lock. "
            "`kafka`: the first bucket is polled before the lock is taken (standard 1.5)"
        ),
    ] = ABSENT

    def with_lateness(self, lateness_ms: int) -> Self:
        """Return this with a claim of lateness; see `Config.with_lateness`."""
        return replace(self, lateness_ms=lateness_ms)


@dataclass(frozen=True, slots=True, kw_only=True)
class Add(Call):
    """A task is added, again if it was added before (standard 1.2, 1.12)."""

    task: Annotated[Name, About("the task")]
    delay_ms: Annotated[Time, About("its delay in ms; negative means at once")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cancel(Call):
    """A task is cancelled; no effect if it does not wait (standard 1.10)."""

    task: Annotated[Name, About("the task")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cancelled:
    """The answer of cancel."""

    cancelled: Annotated[bool | Absent, About("whether this call prevented the run")] = ABSENT


@dataclass(frozen=True, slots=True, kw_only=True)
class Run(Call):
    """A task runs: `invoke` when it begins, `ok` when it ends."""

    task: Annotated[Name, About("the task")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Size(Call):
    """The number of waiting tasks is asked for (standard 1.14)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingTasks:
    """The answer of size."""

    size: Annotated[Count, About("the number of tasks that wait")]


TimerCall = Reset[TimerConfig] | Add | Cancel | Advance | Size
"""A call that a driven case makes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TimerObservation:
    """The observation of one call; `cancelled` and `size` are None if the timer lacks them."""

    fired: Annotated[
        tuple[Name, ...], About("the tasks that ran since the last answer, in order")
    ] = ()
    cancelled: Annotated[bool | None, About("whether this call prevented the run")] = None
    size: Annotated[int | None, About("the number of tasks that wait")] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TimerExpectation:
    """The expected observation of a vector's step; an absent field allows any value."""

    fired: Annotated[
        tuple[Name, ...] | None,
        About("the tasks that ran since the last step that says which ran, in order"),
    ] = None
    any_order: Annotated[
        bool | None, About("whether their order is open (standard 1.9); false if absent")
    ] = None
    cancelled: Annotated[bool | None, About("what cancel answers")] = None
    size: Annotated[int | None, About("what size answers")] = None


class TimerClause(Clause):
    """The promises of a timer."""

    RUNS_AT_MOST_ONCE = (
        "Timer.RunsAtMostOncePerAdd",
        Said(
            rule="1.10, 1.12",
            promise="A task runs at most once for each add, and not after it was cancelled.",
        ),
    )
    NEVER_BEFORE_DUE = (
        "Timer.NeverBeforeItIsDue",
        Said(
            rule="1.7, 1.8",
            promise="A task does not run before its deadline, rounded as the profile says.",
        ),
    )
    RUNS_IN_ORDER = (
        "Timer.RunsInOrderOfDueTime",
        Said(
            rule="1.9",
            promise=("A task that is due earlier runs first; within a tick the order is open."),
        ),
    )
    NOTHING_LEFT_BEHIND = (
        "Timer.NothingDueIsLeftBehind",
        Said(
            rule="1.18",
            promise=(
                "When an advance returns, each task has been submitted that was added, and due, "
                "before it began."
            ),
        ),
    )
    CANCEL_TELLS_THE_TRUTH = (
        "Timer.CancelTellsTheTruth",
        Said(rule="1.10", promise="A cancel says whether it prevented the run."),
    )
    SIZE_COUNTS_WAITING = (
        "Timer.SizeCountsWaitingTasks",
        Said(
            rule="1.11, 1.14",
            promise=(
                "The size counts the waiting tasks, and those that a cancel in flight has left in "
                "a bucket."
            ),
        ),
    )
    ACCEPTS_ITS_DOMAIN = (
        "Timer.AcceptsItsDomain",
        Said(
            rule="1.17",
            promise="No call within the domain is refused.",
            driven_alone=(
                "a refusal may come from what callers bring: an executor, a predicate, a callback"
            ),
        ),
    )
    RUNS_WITHIN_ITS_LATENESS = (
        "Timer.RunsWithinItsLateness",
        Said(
            rule="1.8",
            promise="By a real clock a task runs no later than the configuration allows.",
            recorded_alone="a driven case has a virtual clock",
        ),
    )
    REFUSES_ONLY_AFTER_CLOSE = (
        "Timer.RefusesOnlyAfterClose",
        Said(
            rule="1.16",
            promise="No call is refused as closed before close is called.",
            recorded_alone="a driven case does not close its timer",
        ),
    )
    REFUSES_AFTER_CLOSE = (
        "Timer.RefusesAfterClose",
        Said(
            rule="1.16",
            promise=(
                "After close has returned, adds and advances are refused, and waiting tasks do not "
                "run."
            ),
            recorded_alone="a driven case does not close its timer",
        ),
    )


class TimerLimit(StrEnum):
    """A part of the domain that some implementations are known not to support."""

    ONE_BUCKET = "Domain.WheelOfOneBucket"
    NEGATIVE_DELAY = "Domain.NegativeDelay"
    LONGEST_DELAY = "Domain.LongestDelay"
    LONG_JUMP = "Domain.LongJump"
    """An advance over millions of ticks, too slow for a wheel that turns tick by tick."""


DEFINITION: ComponentDefinition[TimerCall, TimerObservation] = ComponentDefinition(
    name=TimerConfig.component,
    config=TimerConfig,
    operations=(
        Operation(call=Add),
        Operation(call=Cancel, returns=Cancelled, may_tell=("cancelled",)),
        Operation(call=Advance, wire=Wire.DRIVEN),
        Operation(call=AdvanceClock, returns=Advanced, wire=Wire.RECORDED),
        Operation(call=Tick, wire=Wire.RECORDED),
        Operation(call=Run, wire=Wire.RECORDED, happens=True),
        Operation(call=Size, returns=WaitingTasks, may_tell=("size",)),
        Operation(call=Close, wire=Wire.RECORDED),
    ),
    observation=TimerObservation,
    always=("fired",),
    clauses=TimerClause,
    profiles=tuple(CONTRACTS),
    is_weakened=is_contract,
    strongest_first=lambda: tuple(strongest_first()),
    limits=TimerLimit,
    skippable=(
        TimerClause.RUNS_IN_ORDER,
        TimerClause.CANCEL_TELLS_THE_TRUTH,
        TimerClause.SIZE_COUNTS_WAITING,
    ),
    bounded=("tick_ms", "wheel_size", "start_ms", "delay_ms"),
    module="SystemTimer",
    actions=ACTIONS,
    vectors=VectorSteps(
        expectation=TimerExpectation,
        clauses={
            "cancelled": TimerClause.CANCEL_TELLS_THE_TRUTH,
            "size": TimerClause.SIZE_COUNTS_WAITING,
            "any_order": TimerClause.RUNS_IN_ORDER,
        },
    ),
)
