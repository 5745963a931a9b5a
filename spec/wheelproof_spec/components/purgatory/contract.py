"""What a purgatory is judged by: clauses, contract profiles, and what is seen of it."""

from dataclasses import dataclass
from enum import StrEnum

OperationId = str
Key = str
Condition = str


class PurgatoryClause(StrEnum):
    """A clause of the contract; a violation names it as its rule."""

    COMPLETES_AT_MOST_ONCE = "Purgatory.CompletesAtMostOnce"
    COMPLETES_FOR_A_REASON = "Purgatory.CompletesForAReason"
    TRIGGER_COMPLETES = "Purgatory.TriggerCompletes"
    TRIES_IN_WATCH_ORDER = "Purgatory.TriesInWatchOrder"
    ANSWERS_TRULY = "Purgatory.AnswersWhetherItCompleted"
    COUNTS_COMPLETED = "Purgatory.CountsWhatItCompleted"
    CANCELS_WHO_WAITS = "Purgatory.CancelsWhoWaits"
    EXPIRES_IN_TIME = "Purgatory.ExpiresInTime"
    DELAYED_COUNTS = "Purgatory.DelayedCountsTimeouts"
    WATCHED_COUNTS = "Purgatory.WatchedCountsWatches"
    NO_EMPTY_KEY = "Purgatory.NoEmptyKeyIsKept"
    ACCEPTS_ITS_DOMAIN = "Purgatory.AcceptsItsDomain"


class CancelScope(StrEnum):
    """What becomes of the operations that cancel_for_key returns (semantics.md 2.9)."""

    OPERATION = "operation"
    """They are given up: not completed any more, whoever triggers them."""
    TIMEOUT = "timeout"
    """Their time-outs are cancelled; under their other keys they can still be completed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PurgatoryContract:
    """What a purgatory promises where the rules leave a choice.

    With `cancels_leftovers` the answer of cancel_for_key may contain operations that were done
    before and had not been dropped from the list yet. With `garbage_is_bounded` no more than
    purge_interval operations that are done stay in the lists when an advance has ended, apart from
    those that expired in it.
    """

    name: str
    cancel: CancelScope
    cancels_leftovers: bool
    garbage_is_bounded: bool


STRICT_PURGATORY = PurgatoryContract(
    name="wheelproof",
    cancel=CancelScope.OPERATION,
    cancels_leftovers=False,
    garbage_is_bounded=True,
)
"""The reference."""

KAFKA_PURGATORY = PurgatoryContract(
    name="kafka",
    cancel=CancelScope.TIMEOUT,
    cancels_leftovers=True,
    garbage_is_bounded=False,
)
"""Kafka's DelayedOperationPurgatory (docs/findings.md)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationSpec:
    """An operation: its time-out in milliseconds, its keys, and the conditions that end it."""

    name: OperationId
    delay_ms: int
    keys: tuple[Key, ...]
    conditions: tuple[Condition, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Callbacks:
    """The operations whose on_complete, and whose on_expiration, ran during a call, in order."""

    completed: tuple[OperationId, ...] = ()
    expired: tuple[OperationId, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Gauges:
    """What the purgatory tells about itself; None where it does not."""

    watched: int | None = None
    delayed: int | None = None
    keys: int | None = None


NO_CALLBACKS = Callbacks()
NO_GAUGES = Gauges()
