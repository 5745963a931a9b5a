"""The purgatory: what callers ask of it, and what its operations see."""

from dataclasses import dataclass
from typing import Annotated

from wheelproof_spec.traces.definitions import (
    CallDefinition,
    ComponentDefinition,
    CountAnswer,
)
from wheelproof_spec.traces.vocabulary import ABSENT, About, Absent, Name, Positive, Time


@dataclass(frozen=True, slots=True, kw_only=True)
class PurgatorySettings:
    """How the purgatory was made."""

    purge_interval: Annotated[
        Positive | Absent, About("completed operations that may stay watched (semantics.md 2.10)")
    ] = ABSENT
    shards: Annotated[Positive | Absent, About("lists of watchers")] = ABSENT


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
        answered=CountAnswer,
    ),
    CallDefinition(
        f="force_complete",
        about="an operation is completed (semantics.md 2.1)",
        asked=OperationAsked,
        answered=CompletedAnswer,
    ),
    CallDefinition(
        f="on_complete",
        about="the operation's on_complete runs",
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
        answered=CountAnswer,
    ),
    CallDefinition(
        f="watched", about="operations times keys (semantics.md 2.10)", answered=CountAnswer
    ),
    CallDefinition(f="num_delayed", about="operations that wait to expire", answered=CountAnswer),
    CallDefinition(f="shutdown", about="the purgatory is shut down (semantics.md 2.11)"),
)

PURGATORY = ComponentDefinition(
    name="purgatory",
    config=PurgatorySettings,
    calls=_CALLS,
    actions=(),
    steps=(),
)
