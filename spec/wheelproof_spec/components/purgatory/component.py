"""The purgatory: its calls, its answers, and its clauses.

A condition is a name. In a driven case the predicate of an operation is that one of its conditions
has been set, by `set_condition`. In a history the predicates are the caller's own; a caller may
record with `satisfy` that it makes one true. So each wire has a call of its own for this. Making a
predicate true triggers nothing.

A clause is what a judge tests, and a verdict names it. `rule` names the rules of docs/standard that
it comes from; docs/clauses/README.md shows who judges it, and how often that was tested.
"""

from dataclasses import dataclass, replace
from typing import Annotated, ClassVar, Literal

from wheelproof_spec.base.calls import (
    Advance,
    AdvanceClock,
    Advanced,
    Gauge,
    NumDelayed,
    NumKeys,
    PurgeCompleted,
    Reset,
    Tick,
    Watched,
)
from wheelproof_spec.base.clause import Clause, Said
from wheelproof_spec.base.codec.vocabulary import (
    ABSENT,
    DRIVEN,
    RECORDED,
    About,
    Absent,
    Count,
    Name,
    Positive,
    Time,
    Wire,
)
from wheelproof_spec.base.component import Call, Capability, ComponentDefinition, Config, Operation

OperationId = str
Key = str
Condition = str

# A driven case is judged by the profile. A recording is judged by the claims in its configuration,
# and by the profile only where no claim says anything: what is refused (2.11, 6.1).
KAFKA = "kafka"
"""Kafka's contract: cancel_for_key cancels only time-outs and may return operations that are done;
more than purge_interval done operations may stay in the lists (docs/findings.md)."""
WHEELPROOF = "wheelproof"
"""The reference's: a cancelled operation never completes, done ones leave the lists (2.9, 2.10)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PurgatoryConfig(Config):
    """The settings of a purgatory; from `lateness_ms` on, what is claimed about it.

    Claims are judged in recordings alone. Each says what holds if it is not made.
    """

    component: ClassVar[str] = "purgatory"

    tick_ms: Annotated[Positive, About("the tick of its timer, in ms; 1 if absent")] = 1
    wheel_size: Annotated[Positive, DRIVEN, About("buckets a wheel of its timer")] = 20
    start_ms: Annotated[Time, About("what a virtual clock shows first, in ms; 0 if absent")] = 0
    purge_interval: Annotated[
        Count, About("how many done operations may stay watched (standard 2.10)")
    ] = 1_000
    lateness_ms: Annotated[
        Count | Absent,
        RECORDED,
        About("how late an operation may expire by a real clock; absent: lateness is not judged"),
    ] = ABSENT
    predicates: Annotated[
        Literal["recorded"] | Absent,
        RECORDED,
        About(
            "`recorded`: only `satisfy` makes a predicate true, and its `invoke` is written before "
            "the predicate can be true. Absent: completions without a reason are not judged"
        ),
    ] = ABSENT
    attempts: Annotated[
        Literal["exclusive", "overlapping"] | Absent,
        RECORDED,
        About(
            "`exclusive`: no two of `try_complete` and `on_complete` of one operation run at once "
            "in different threads, and no trigger tries after the completion (KAFKA-19312). "
            "`overlapping` (the default): not judged"
        ),
    ] = ABSENT
    triggers: Annotated[
        Literal["complete", "may_be_missed"] | Absent,
        RECORDED,
        About(
            "`may_be_missed`: a trigger that meets another attempt may be lost, and then only the "
            "time-out completes (Kafka 1.0, KAFKA-6653). `complete` is the default"
        ),
    ] = ABSENT
    timeouts: Annotated[
        Literal["end_with_operation", "may_stay"] | Absent,
        RECORDED,
        About(
            "`end_with_operation`: the time-out of a finished operation leaves the timer, unless "
            "an `advance_clock` is under way; each of these is recorded. `may_stay`: the default"
        ),
    ] = ABSENT
    cancels: Annotated[
        Literal["operation", "timeout"] | Absent,
        RECORDED,
        About(
            "what happens to an operation that `cancel_for_key` returns. `operation`: it is never "
            "completed. `timeout`: only its time-out is cancelled, and it waits on. Absent: either "
            "(standard 2.9)"
        ),
    ] = ABSENT


REFERENCE_CLAIMS = PurgatoryConfig(
    attempts="exclusive", timeouts="end_with_operation", cancels="operation"
)
"""What the reference's purgatory promises beyond Kafka's."""
PREDICATES_TOO = replace(REFERENCE_CLAIMS, predicates="recorded")
"""The same claims, if every predicate is made true inside a recorded `satisfy`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TryCompleteElseWatch(Call):
    """A new operation is handed in (standard 2.4)."""

    operation: Annotated[Name, About("the operation, whose name does not repeat")]
    delay_ms: Annotated[Time, About("when it expires, in ms from now")]
    keys: Annotated[tuple[Name, ...], About("the keys that it is watched under")]
    conditions: Annotated[
        tuple[Name, ...],
        DRIVEN,
        About("the conditions that it waits for: it can end as soon as one of them is set"),
    ] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SetCondition(Call):
    """A condition becomes true, for good; nothing is triggered."""

    condition: Annotated[Name, About("the condition")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Satisfy(Call):
    """The caller makes the predicate of an operation true (standard 2.6)."""

    operation: Annotated[Name, About("the operation")]


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckAndComplete(Call):
    """The operations of a key are tried (standard 2.6)."""

    key: Annotated[Name, About("the key")]


@dataclass(frozen=True, slots=True, kw_only=True)
class ForceComplete(Call):
    """An operation that was handed in is completed (standard 2.1)."""

    operation: Annotated[Name, About("the operation")]


@dataclass(frozen=True, slots=True, kw_only=True)
class CancelForKey(Call):
    """The operations that wait for a key are cancelled (standard 2.9)."""

    key: Annotated[Name, About("the key")]


@dataclass(frozen=True, slots=True, kw_only=True)
class TryComplete(Call):
    """An operation's predicate is tested; `ok` when that has ended."""

    operation: Annotated[Name, About("the operation")]


@dataclass(frozen=True, slots=True, kw_only=True)
class OnComplete(Call):
    """on_complete runs, in the process of its call, if there is one; no `ok` if it raises."""

    operation: Annotated[Name, About("the operation")]


@dataclass(frozen=True, slots=True, kw_only=True)
class OnExpiration(Call):
    """on_expiration runs (standard 2.2)."""

    operation: Annotated[Name, About("the operation")]


@dataclass(frozen=True, slots=True, kw_only=True)
class AskGauges(Call):
    """All gauges of the implementation are read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AwaitSubmitted(Call):
    """The call returns once every expiry has run that the timer submitted before the call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shutdown(Call):
    """The purgatory is shut down (standard 2.11)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Completed:
    """The answer whether this call completed the operation."""

    completed: Annotated[bool, About("whether this call completed it")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """The number of operations that a check completed."""

    count: Annotated[
        Count | None,
        About(
            "how many; null if the call tried all of them and then raised the error of one, so "
            "that it returned no count"
        ),
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cancelled:
    """The operations that `cancel_for_key` returned."""

    count: Annotated[Count, About("how many")]
    cancelled: Annotated[tuple[Name, ...] | Absent, About("which ones")] = ABSENT


PurgatoryCall = (
    Reset[PurgatoryConfig]
    | TryCompleteElseWatch
    | SetCondition
    | CheckAndComplete
    | ForceComplete
    | CancelForKey
    | Advance
    | AskGauges
)
"""A call that a driven case makes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PurgatoryObservation:
    """The callbacks that ran in a call, and its answer; None for what it does not answer."""

    on_complete: Annotated[
        tuple[Name, ...], About("whose on_complete has run since the last answer, in order")
    ] = ()
    on_expiration: Annotated[
        tuple[Name, ...], About("whose on_expiration has run since the last answer, in order")
    ] = ()
    completed: Annotated[
        bool | None, About("whether this call completed the operation that it is about")
    ] = None
    count: Annotated[int | None, About("how many operations this call completed")] = None
    cancelled: Annotated[tuple[Name, ...] | None, About("whom this call cancelled")] = None
    watched: Annotated[int | None, About("watches: operations times keys")] = None
    num_delayed: Annotated[int | None, About("operations that wait to expire")] = None
    num_keys: Annotated[int | None, About("keys that have operations")] = None


class PurgatoryClause(Clause):
    """The promises of a purgatory."""

    COMPLETES_AT_MOST_ONCE = (
        "Purgatory.CompletesAtMostOnce",
        Said(
            rule="2.1",
            promise=(
                "An operation is completed once, and its on_complete has run when a caller is told "
                "that it is done."
            ),
        ),
    )
    COMPLETES_FOR_A_REASON = (
        "Purgatory.CompletesForAReason",
        Said(
            rule="2.1",
            promise=(
                "A completed operation was handed in; and its predicate held, it was forced, or "
                "its time was out."
            ),
        ),
    )
    TRIGGER_COMPLETES = (
        "Purgatory.TriggerCompletes",
        Said(
            rule="2.4 - 2.6",
            promise=(
                "An operation whose predicate holds when it is triggered is completed without "
                "waiting for its time-out."
            ),
        ),
    )
    TRIES_IN_WATCH_ORDER = (
        "Purgatory.TriesInWatchOrder",
        Said(
            rule="2.6",
            promise=(
                "A trigger tries the operations of a key once each, in the order of their watches."
            ),
        ),
    )
    ATTEMPTS_EXCLUDE = (
        "Purgatory.AttemptsExclude",
        Said(
            rule="2.7",
            promise=(
                "If the configuration claims so, try_complete and on_complete of one operation "
                "exclude each other."
            ),
            recorded_alone="a driven case has one thread",
        ),
    )
    ANSWERS_TRULY = (
        "Purgatory.AnswersWhetherItCompleted",
        Said(
            rule="2.1, 2.4",
            promise="One caller, the one that completes an operation, is told that it did.",
        ),
    )
    COUNTS_COMPLETED = (
        "Purgatory.CountsWhatItCompleted",
        Said(rule="2.6", promise="A trigger returns how many operations it completed."),
    )
    EXPIRES_IN_TIME = (
        "Purgatory.ExpiresInTime",
        Said(
            rule="1.8, 2.2",
            promise="An operation expires when its time is out, not before and not much later.",
        ),
    )
    EXPIRES_ONCE_AFTER_COMPLETION = (
        "Purgatory.ExpiresAtMostOnceAfterCompletion",
        Said(
            rule="2.2",
            promise=(
                "An operation that expires is completed by its time-out alone, and then "
                "on_expiration runs once."
            ),
            recorded_alone=(
                "a driver tells of completions and expiries in two lists, so their order is not "
                "known"
            ),
        ),
    )
    CANCELS_WHO_WAITS = (
        "Purgatory.CancelsWhoWaits",
        Said(
            rule="2.9",
            promise=(
                "cancel_for_key returns the operations that wait for its key, and they are never "
                "completed."
            ),
        ),
    )
    DELAYED_COUNTS = (
        "Purgatory.DelayedCountsTimeouts",
        Said(rule="2.10", promise="num_delayed counts the operations that wait to expire."),
    )
    WATCHED_COUNTS = (
        "Purgatory.WatchedCountsWatches",
        Said(
            rule="2.10",
            promise=(
                "watched counts the waiting operations, once under each key; it may also count "
                "done ones that are not dropped yet."
            ),
        ),
    )
    NO_EMPTY_KEY = (
        "Purgatory.NoEmptyKeyIsKept",
        Said(rule="2.6", promise="A key is kept as long as there are operations in its list."),
    )
    KEEPS_TO_ITS_DOMAIN = (
        "Purgatory.KeepsToItsDomain",
        Said(
            rule="2.11, 6.1, 6.7",
            promise=(
                "An operation without a key, with a negative time-out, or handed in after a "
                "shutdown is refused; after a shutdown none expires; no other call is refused as "
                "closed."
            ),
            recorded_alone="a driven case stays in the domain, and shuts nothing down",
            profiles=(WHEELPROOF,),
        ),
    )
    ACCEPTS_ITS_DOMAIN = (
        "Purgatory.AcceptsItsDomain",
        Said(
            rule="1.17",
            promise="A call within the domain is carried out.",
            driven_alone=(
                "a refusal may come from what callers bring: an executor, a predicate, a callback"
            ),
        ),
    )


class PurgatoryCapability(Capability):
    """The capabilities that a driver of a purgatory may declare."""

    CANCEL_FOR_KEY = "cancel_for_key", "a key can be given up"


_CALLBACKS = ("on_complete", "on_expiration")
_GAUGES = ("watched", "num_delayed", "num_keys")

DEFINITION: ComponentDefinition[PurgatoryCall, PurgatoryObservation] = ComponentDefinition(
    name="purgatory",
    config=PurgatoryConfig,
    operations=(
        Operation(call=TryCompleteElseWatch, returns=Completed, tells=("completed",)),
        Operation(call=SetCondition, wire=Wire.DRIVEN),
        Operation(call=Satisfy, wire=Wire.RECORDED),
        Operation(call=CheckAndComplete, returns=Checked, tells=("count",)),
        Operation(call=ForceComplete, returns=Completed, tells=("completed",)),
        Operation(call=TryComplete, wire=Wire.RECORDED, happens=True),
        Operation(call=OnComplete, wire=Wire.RECORDED, happens=True),
        Operation(call=OnExpiration, wire=Wire.RECORDED, happens=True),
        Operation(call=CancelForKey, returns=Cancelled, tells=("cancelled",)),
        Operation(call=AskGauges, may_tell=_GAUGES, wire=Wire.DRIVEN),
        Operation(call=Watched, returns=Gauge, wire=Wire.RECORDED),
        Operation(call=NumDelayed, returns=Gauge, wire=Wire.RECORDED),
        Operation(call=NumKeys, returns=Gauge, wire=Wire.RECORDED),
        Operation(call=Advance, wire=Wire.DRIVEN),
        Operation(call=Tick, wire=Wire.RECORDED),
        Operation(call=AdvanceClock, returns=Advanced, wire=Wire.RECORDED),
        Operation(call=AwaitSubmitted, wire=Wire.RECORDED),
        Operation(call=PurgeCompleted, wire=Wire.RECORDED),
        Operation(call=Shutdown, wire=Wire.RECORDED),
    ),
    observation=PurgatoryObservation,
    always=_CALLBACKS,
    clauses=PurgatoryClause,
    profiles=(KAFKA, WHEELPROOF),
    strongest_first=lambda: (WHEELPROOF, KAFKA),
    optional=PurgatoryCapability,
    skippable=(
        PurgatoryClause.WATCHED_COUNTS,
        PurgatoryClause.DELAYED_COUNTS,
        PurgatoryClause.NO_EMPTY_KEY,
    ),
)
