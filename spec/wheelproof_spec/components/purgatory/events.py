"""The purgatory: what callers ask of it, and what its operations see."""

from dataclasses import dataclass
from typing import Annotated, Literal

from wheelproof_spec.base.codec.definitions import CallDefinition, ComponentDefinition, CountAnswer
from wheelproof_spec.base.codec.vocabulary import ABSENT, About, Absent, Count, Name, Positive, Time
from wheelproof_spec.components.timer.events import ADVANCE, TICK


@dataclass(frozen=True, slots=True, kw_only=True)
class PurgatorySettings:
    """How the purgatory was made, and what is claimed of it."""

    purge_interval: Annotated[
        Positive | Absent, About("completed operations that may stay watched (semantics.md 2.10)")
    ] = ABSENT
    shards: Annotated[Positive | Absent, About("lists of watchers")] = ABSENT
    tick_ms: Annotated[Positive | Absent, About("the tick of its timer, in ms; 1 if absent")] = (
        ABSENT
    )
    start_ms: Annotated[
        Time | Absent, About("where a virtual clock begins, in ms; 0 if absent")
    ] = ABSENT
    lateness_ms: Annotated[
        Count | Absent,
        About("how late an operation may expire by a real clock; absent: that is not judged"),
    ] = ABSENT
    predicates: Annotated[
        Literal["recorded"] | Absent,
        About(
            "`recorded`: a predicate becomes true by `satisfy` alone, whose `invoke` is written "
            "before it can be true. Only then completions without a reason are judged"
        ),
    ] = ABSENT
    attempts: Annotated[
        Literal["exclusive", "overlapping"] | Absent,
        About(
            "`exclusive`: no two of `try_complete` and `on_complete` of one operation run at once "
            "in different threads (KAFKA-19312). `overlapping` (the default): not judged"
        ),
    ] = ABSENT
    timeouts: Annotated[
        Literal["end_with_operation", "may_stay"] | Absent,
        About(
            "`end_with_operation`: the time-out of what is completed leaves the timer, unless an "
            "`advance` is under way, and each is recorded. `may_stay` is the default"
        ),
    ] = ABSENT
    cancels: Annotated[
        Literal["operation", "timeout"] | Absent,
        About(
            "what becomes of what `cancel_for_key` returns: it is never completed (`operation`), "
            "or only its time-out is cancelled (`timeout`, the default; semantics.md 2.9)"
        ),
    ] = ABSENT


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchAsked:
    """try_complete_else_watch is called."""

    op: Annotated[Name, About("the operation")]
    keys: Annotated[tuple[Name, ...], About("the keys that it is watched under")]
    delay_ms: Annotated[Time, About("when it expires, in ms from now")]


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationAsked:
    """Something is asked of one operation, or happens to it."""

    op: Annotated[Name, About("the operation")]


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyAsked:
    """Something is asked about one key."""

    key: Annotated[Name, About("the key")]


@dataclass(frozen=True, slots=True, kw_only=True)
class CompletedAnswer:
    """Whether this call completed the operation."""

    completed: Annotated[bool, About("whether this call completed it")]


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedAnswer:
    """How many operations a check completed."""

    count: Annotated[
        Count | None,
        About(
            "how many; null if it had tried all of them and then raised the error of one, so that "
            "nobody was told"
        ),
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class CancelledAnswer:
    """Which operations a key was taken from."""

    count: Annotated[Count, About("how many")]
    ops: Annotated[tuple[Name, ...] | Absent, About("which ones")] = ABSENT


_CALLS = (
    CallDefinition(
        f="try_complete_else_watch",
        about="an operation is handed in (semantics.md 2.4)",
        asked=WatchAsked,
        answered=CompletedAnswer,
    ),
    CallDefinition(
        f="satisfy",
        about="the caller makes the predicate of an operation true (semantics.md 2.6)",
        asked=OperationAsked,
    ),
    CallDefinition(
        f="check_and_complete",
        about="the operations of a key are tried (semantics.md 2.6)",
        asked=KeyAsked,
        answered=CheckedAnswer,
    ),
    CallDefinition(
        f="force_complete",
        about="an operation is completed (semantics.md 2.1)",
        asked=OperationAsked,
        answered=CompletedAnswer,
    ),
    CallDefinition(
        f="try_complete",
        about="the operation's predicate is tested; `ok` when that has ended",
        asked=OperationAsked,
        happens=True,
    ),
    CallDefinition(
        f="on_complete",
        about="the operation's on_complete runs; its process is that of the call that it runs in, "
        "if it runs in one",
        asked=OperationAsked,
        happens=True,
    ),
    CallDefinition(
        f="on_expiration",
        about="the operation's on_expiration runs",
        asked=OperationAsked,
        happens=True,
    ),
    CallDefinition(
        f="cancel_for_key",
        about="a key is given up (semantics.md 2.9)",
        asked=KeyAsked,
        answered=CancelledAnswer,
    ),
    CallDefinition(
        f="watched", about="operations times keys (semantics.md 2.10)", answered=CountAnswer
    ),
    CallDefinition(f="num_delayed", about="operations that wait to expire", answered=CountAnswer),
    ADVANCE,
    TICK,
    CallDefinition(f="shutdown", about="the purgatory is shut down (semantics.md 2.11)"),
)

PURGATORY = ComponentDefinition(
    name="purgatory",
    config=PurgatorySettings,
    calls=_CALLS,
    actions=(),
    steps=(),
)
